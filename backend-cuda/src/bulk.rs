//! Large copies from and to the host that are waited for.
//!
//! The driver copies from and to memory that is not pinned with one thread, at 4 to 9 GB/s. Here several threads bring it to pinned memory,
//! from which the device takes it by itself, and at the same time the next part.

use crate::backend::CudaBackend;
use crate::handles::Event;
use crate::staging::Piece;
use crate::state::State;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::OnceLock;
use warpheap_api::host::{BufferId, DeviceError};

/// The smallest copy that goes this way: pinning the two pieces for the first one takes as long as the driver takes for so much.
pub(crate) const LEAST: usize = 64 << 20;
/// Bytes of a piece. One is copied by the device while threads fill or empty the other.
const PIECE: usize = 16 << 20;
/// Bytes that are worth a thread.
const STRETCH: usize = 1 << 20;
/// Most threads: more do not make the host's memory faster.
const MOST_THREADS: usize = 8;

const WRITING: &str = "a copy to the device";
const READING: &str = "a copy from the device";

impl CudaBackend {
    /// Writes `data`, at least [`LEAST`] bytes.
    pub(crate) fn write_bulk(
        &self,
        (buffer, offset): (BufferId, u64),
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let bytes = data.len() as u64;
        self.enter(WRITING)?.range("write", buffer, offset, bytes)?;
        self.with_pieces(WRITING, |state, pieces, events| {
            let to = state.range("write", buffer, offset, bytes)?;
            for (number, part) in data.chunks(PIECE).enumerate() {
                let (piece, event) = (&mut pieces[number % 2], &events[number % 2]);
                if number >= 2 {
                    state.passed(event, WRITING)?;
                }
                let pinned = pinned(piece, part.len());
                side_by_side(pinned, part);
                let stream = &state.session.stream;
                // SAFETY: the range was checked to lie in the buffer, and the piece is not touched before the device has passed the event.
                let queued = unsafe {
                    stream.to_device(to + (number * PIECE) as u64, pinned.as_ptr(), part.len())
                };
                queued
                    .and_then(|()| stream.record(event))
                    .map_err(|refused| state.refuse(refused, WRITING))?;
            }
            Ok(())
        })
    }

    /// Reads as much as `data` has room for, at least [`LEAST`] bytes.
    pub(crate) fn read_bulk(
        &self,
        (buffer, offset): (BufferId, u64),
        data: &mut [u8],
    ) -> Result<(), DeviceError> {
        let bytes = data.len() as u64;
        self.enter(READING)?.range("read", buffer, offset, bytes)?;
        self.with_pieces(READING, |state, pieces, events| {
            let from = state.range("read", buffer, offset, bytes)?;
            let queue = |state: &mut State, pieces: &mut [Piece; 2], number: usize| {
                let at = number * PIECE;
                let part = PIECE.min((bytes as usize).saturating_sub(at));
                if part == 0 {
                    return Ok(());
                }
                let pinned = pinned(&mut pieces[number % 2], part);
                let stream = &state.session.stream;
                // SAFETY: the range was checked to lie in the buffer, and the piece is not touched before the device has passed the event.
                unsafe { stream.to_host(pinned.as_mut_ptr(), from + at as u64, part) }
                    .and_then(|()| stream.record(&events[number % 2]))
                    .map_err(|refused| state.refuse(refused, READING))
            };
            queue(state, pieces, 0)?;
            for (number, part) in data.chunks_mut(PIECE).enumerate() {
                queue(state, pieces, number + 1)?;
                state.passed(&events[number % 2], READING)?;
                let bytes = part.len();
                side_by_side(part, pinned(&mut pieces[number % 2], bytes));
            }
            Ok(())
        })
    }

    /// Does something with two pieces of pinned memory and an event for each, and waits for what it queued.
    fn with_pieces(
        &self,
        during: &'static str,
        copy: impl FnOnce(&mut State, &mut [Piece; 2], &[Arc<Event>; 2]) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let first = self.piece(PIECE, during)?;
        let mut pieces = match self.piece(PIECE, during) {
            Ok(second) => [first, second],
            Err(error) => {
                self.give_back([first]);
                return Err(error);
            }
        };
        let mut state = self.enter(during)?;
        let made = (state.shared.events.plain())
            .and_then(|first| Ok([first, state.shared.events.plain()?]))
            .map_err(|refused| state.refuse(refused, during));
        let copied = match &made {
            Ok(events) => copy(&mut state, &mut pieces, events),
            Err(_) => Ok(()),
        };
        // Also where something failed: nothing may use the pieces any more. After a loss something may, and they stay.
        state.finish(during)?;
        for piece in pieces {
            state.shared.staging.give(piece);
        }
        for event in made? {
            state.shared.events.give(event);
        }
        copied
    }
}

impl State {
    /// Waits until the device has passed an event in the session's stream, however long it takes.
    fn passed(&mut self, event: &Event, during: &str) -> Result<(), DeviceError> {
        let passed = event.wait();
        passed.map_err(|refused| self.refuse(refused, during))
    }
}

/// The first bytes of a piece.
fn pinned(piece: &mut Piece, bytes: usize) -> &mut [u8] {
    let bytes = bytes.min(piece.bytes);
    // SAFETY: who has the piece is the only one that uses it, and the device does not before it is told to; any bytes are bytes.
    unsafe { std::slice::from_raw_parts_mut(piece.start.as_ptr(), bytes) }
}

/// Copies all bytes, with several threads.
fn side_by_side(to: &mut [u8], from: &[u8]) {
    let threads = threads().min(from.len() / STRETCH).max(1);
    let stretch = from.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let mut parts = to.chunks_mut(stretch).zip(from.chunks(stretch));
        let own = parts.next();
        for (to, from) in parts {
            scope.spawn(|| to.copy_from_slice(from));
        }
        if let Some((to, from)) = own {
            to.copy_from_slice(from);
        }
    });
}

/// How many threads copy.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        processors.min(MOST_THREADS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_copy_every_byte_once() {
        for len in [0, 1, 1000, STRETCH, 2 * STRETCH + 1, (9 << 20) + 5] {
            let from: Vec<u8> = (0..len).map(|i| ((i * 7) >> 3) as u8).collect();
            let mut to = vec![0; len];
            side_by_side(&mut to, &from);
            assert!(to == from, "{len}");
        }
    }
}
