//! Events are taken from a heap.

use super::launches::Place;
use super::order;
use super::trace::{Trace, TraceCall, TraceEvent};
use super::{FIRST_EVENT, TRACED_KIND};
use crate::adaptor::Traced;
use crate::adaptor::traced::event;
use crate::adaptor::traced::region::{EVENT_WORDS, HEADS};
use crate::arch::Words;
use std::string::String;
use std::vec;
use std::vec::Vec;
use warpheap_api::AllocError;
use warpheap_api::host::{BackendKind, DeviceError, HeapReader, HostAlloc, Pool, RawPool};

impl<A: HostAlloc<Memory = Words>> Traced<A> {
    /// Takes the events that were kept since the last time, and leaves room for as many new ones. Work of streams in the heap is waited
    /// for. Events of launches that other threads begin meanwhile may be lost without being counted.
    ///
    /// It takes 32 bytes of the host for each event, and some more while it puts them in order.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn take(pool: &Pool<Self>) -> Result<Trace, DeviceError> {
        take(pool.raw())
    }
}

/// Takes the events of a heap, if it is one of [`Traced`]: as [`Traced::take`], for programs that are generic over allocators.
///
/// # Errors
/// Errors of the device.
pub fn trace_of(pool: &RawPool) -> Result<Option<Trace>, DeviceError> {
    match pool.kind & TRACED_KIND {
        0 => Ok(None),
        _ => take(pool).map(Some),
    }
}

/// An event as a lane wrote it.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// Index of its launch.
    pub(super) launch: u32,
    /// The device's clock, or the number of its place in the ring.
    pub(super) time: u32,
    pub(super) lane: u32,
    pub(super) granule: u32,
    pub(super) packed: u32,
}

fn take(pool: &RawPool) -> Result<Trace, DeviceError> {
    let mut heap = Heap(pool);
    let place = Place::read(pool.words(), &mut heap)?;
    let filled = place.filled(&mut heap)?;
    let ended = place.ended(&mut heap)?;
    let mut kept = Vec::new();
    for (ring, &count) in filled.places.iter().enumerate() {
        let ring_words = u64::from(place.capacity) * u64::from(EVENT_WORDS);
        let first = place.begin + u64::from(FIRST_EVENT) + ring as u64 * ring_words;
        let mut words = vec![0; count as usize * EVENT_WORDS as usize];
        heap.read(first, &mut words)?;
        let mut launch = 0;
        for (number, words) in words.chunks_exact(EVENT_WORDS as usize).enumerate() {
            while ended
                .get(launch)
                .is_some_and(|one| number as u32 >= one.places[ring])
            {
                launch += 1;
            }
            // A lane with two events leaves the last place of a ring free.
            if words[2] != 0 {
                kept.push(Kept {
                    launch: launch as u32,
                    lane: words[0],
                    granule: words[1],
                    packed: words[2],
                    time: words[3],
                });
            }
        }
        heap.clear(first, words.len())?;
    }
    heap.clear(place.begin, HEADS as usize)?;
    heap.clear(place.count, 1)?;
    let mut launches: Vec<String> = ended.into_iter().map(|one| one.kernels).collect();
    if kept.iter().any(|one| one.launch as usize == launches.len()) {
        launches.push("?".into());
    }
    let clock = pool.device.info().backend != BackendKind::Vulkan;
    let times = order::times(&kept, clock);
    let events = kept.iter().zip(times);
    let events = events.filter_map(|(one, time)| read(*one, time)).collect();
    Ok(Trace {
        allocator: pool.allocator.into(),
        clock,
        launches,
        events: order::ordered(events, clock),
        lost: filled.lost,
    })
}

/// What an event tells; nothing of one that is none.
fn read(kept: Kept, time: u64) -> Option<TraceEvent> {
    let (kind, bytes) = event::unpacked(kept.packed);
    let error = AllocError::from_code(kept.granule);
    let (call, granule) = match kind {
        event::MALLOC => (TraceCall::Malloc, kept.granule),
        event::FREE => (TraceCall::Free, kept.granule),
        event::FAILED => (TraceCall::Failed(error), 0),
        event::RESIZED_FROM => (TraceCall::ResizedFrom, kept.granule),
        event::RESIZED_TO => (TraceCall::ResizedTo, kept.granule),
        event::NOT_RESIZED => (TraceCall::NotResized(error), 0),
        event::RESET => (TraceCall::Reset, 0),
        _ => return None,
    };
    Some(TraceEvent {
        time,
        launch: kept.launch,
        lane: kept.lane,
        call,
        granule,
        bytes,
    })
}

/// The words of a heap.
struct Heap<'a>(&'a RawPool);

impl HeapReader for Heap<'_> {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        let mut bytes = vec![0; words.len() * 4];
        self.0.read(first * 4, &mut bytes)?;
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        Ok(())
    }
}

impl Heap<'_> {
    /// Sets words of the adaptor to zero.
    fn clear(&mut self, first: u64, words: usize) -> Result<(), DeviceError> {
        // SAFETY: they are the adaptor's own, in which zeros are no events.
        unsafe { self.0.buffer.write(first * 4, &vec![0; words * 4]) }
    }
}
