//! What a subscriber of `tracing` hears of launches.

use crate::{BackendKind, Device};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use warpheap_rt::api::host::Pool;
use warpheap_rt::api::layout;
use warpheap_rt::device::Bump;

/// Keeps a line for each event about launches.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "warpheap::launch"
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn each_launch_tells_its_kernel_and_its_time() {
    let device = Device::open_backend(BackendKind::Host, None).unwrap();
    let pool: Pool<Bump> = device.reserve(1 << 16).unwrap();
    let listener = Listener::default();
    let block = tracing::subscriber::with_default(listener.clone(), || {
        pool.malloc(layout::bytes(64)).unwrap()
    });
    assert!(!block.is_null());
    let lines = listener.0.lock().unwrap();
    let [line] = &lines[..] else {
        panic!("{lines:?}")
    };
    let told = [
        "message=ended",
        "kernel=\"",
        "__Bump",
        "blocks=1",
        "lanes_per_block=",
        "device_us=",
        "errors=0",
    ];
    for part in told {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains("device_us=0.0 "), "{line}");
}
