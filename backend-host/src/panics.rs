//! Panics of lanes: where they came from, and what they said.

use std::any::Any;
use std::cell::RefCell;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use warpheap_api::host::KernelPanic;

/// Where in the sources a panic came from: file, line and column.
type Place = (String, u32, u32);

thread_local! {
    /// Of the last panic of the thread.
    static LAST: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// From now on the places of panics are known, on all threads of the process. What the process does about a
/// panic by itself it still does.
pub(crate) fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    // The hook cannot be changed by a thread that panics; then the next device does it.
    if thread::panicking() || WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info
            .location()
            .map(|place| (place.file().to_owned(), place.line(), place.column()));
        // A thread that ends has no such variable any more, and runs no lane.
        let _ = LAST.try_with(|last| last.replace(place));
        others(info);
    }));
}

/// The panic of a lane, from what was caught when it ended. `lane` is its block, and its index in it.
pub(crate) fn caught(kernel: &str, lane: (u32, u32), payload: Box<dyn Any + Send>) -> KernelPanic {
    let text = match payload.downcast_ref::<&str>() {
        Some(text) => Some(*text),
        None => payload.downcast_ref::<String>().map(String::as_str),
    };
    let (file, line, column) = LAST.take().unwrap_or_default();
    KernelPanic {
        kernel: kernel.to_owned(),
        message: text.unwrap_or("(no text)").to_owned(),
        file,
        line,
        column,
        block: lane.0,
        lane: lane.1,
        lanes: 1,
        replay: String::new(),
    }
}
