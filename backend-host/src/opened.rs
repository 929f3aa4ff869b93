//! The streams that are open, with their threads.

use crate::emulator::{Emulator, enter};
use crate::kept::Kept;
use crate::stream::{Point, Stream};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use warpheap_api::host::{Mark, StreamId};

/// Names of streams differ between devices too, so that a stream of another one is noticed.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// An open stream, and its thread.
struct Open {
    stream: Arc<Stream>,
    /// None once somebody waits for its end.
    thread: Option<JoinHandle<()>>,
}

/// The streams of a device. When it is dropped, their threads do what is queued, and end. They know nothing of it, so none of
/// them is who drops it.
#[derive(Default)]
pub(crate) struct OpenStreams {
    streams: Mutex<HashMap<StreamId, Open>>,
    pub(crate) kept: Kept,
}

impl OpenStreams {
    /// Opens a stream.
    ///
    /// # Errors
    /// The system's answer when it gives no thread.
    pub(crate) fn open(&self, emulator: &Arc<Emulator>) -> io::Result<StreamId> {
        let stream = Arc::<Stream>::default();
        let thread = Builder::new().name("warpheap-stream".into()).spawn({
            let (stream, emulator) = (stream.clone(), emulator.clone());
            move || stream.run(&emulator)
        })?;
        let id = StreamId(NEXT.fetch_add(1, Ordering::Relaxed));
        let thread = Some(thread);
        enter(&self.streams).insert(id, Open { stream, thread });
        Ok(id)
    }

    /// Closes a stream, once all of its work has ended.
    pub(crate) fn close(&self, id: StreamId) {
        let mut streams = enter(&self.streams);
        let Some(open) = streams.get_mut(&id) else {
            return;
        };
        open.stream.close();
        let thread = open.thread.take();
        // Others go on meanwhile, and find the stream until its work has ended.
        drop(streams);
        if let Some(thread) = thread {
            join(thread);
            enter(&self.streams).remove(&id);
        }
    }

    pub(crate) fn get(&self, id: StreamId) -> Option<Arc<Stream>> {
        let streams = enter(&self.streams);
        streams.get(&id).map(|open| open.stream.clone())
    }

    /// What has to be waited for until a mark is reached; nothing if it is, or the stream is gone.
    pub(crate) fn point(&self, mark: Mark) -> Option<Point> {
        Point::new(&self.get(mark.stream)?, mark.at)
    }
}

impl Drop for OpenStreams {
    fn drop(&mut self) {
        let streams = std::mem::take(&mut *enter(&self.streams));
        for open in streams.values() {
            open.stream.close();
        }
        let threads = streams.into_values().filter_map(|open| open.thread);
        threads.for_each(join);
    }
}

fn join(thread: JoinHandle<()>) {
    if thread.join().is_err() {
        tracing::error!("the thread of a stream panicked");
    }
}
