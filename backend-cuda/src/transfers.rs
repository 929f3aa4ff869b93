//! Copies of streams from and to the host. They go through pinned memory, which is the only one that the driver copies from and to
//! without waiting for the stream; data that are written are the caller's again at once.

use crate::backend::{CudaBackend, Entered};
use crate::handles;
use crate::staging::{MOST, Piece, Staging};
use crate::state::State;
use crate::stream::Read;
use crate::streams::gone;
use warpheap_api::host::{BufferId, DeviceError, Mark};

impl CudaBackend {
    /// Pinned memory for so many bytes. Where more has to be pinned, which takes long, other calls go on meanwhile.
    pub(crate) fn piece(&self, bytes: usize, during: &'static str) -> Result<Piece, DeviceError> {
        if let Some(piece) = self.enter(during)?.shared.staging.take(bytes) {
            return Ok(piece);
        }
        let pinned = handles::pin(Staging::room(bytes));
        let mut state = self.enter(during)?;
        match pinned {
            Ok(start) => Ok(state.shared.staging.cut(start, bytes)),
            Err(refused) => Err(state.refuse(refused, during)),
        }
    }

    /// Gives pieces back that nothing uses. After a loss something may: they stay.
    pub(crate) fn give_back(&self, pieces: impl IntoIterator<Item = Piece>) {
        if let Ok(mut state) = self.enter("a copy") {
            let staging = &mut state.shared.staging;
            pieces.into_iter().for_each(|piece| staging.give(piece));
        }
    }

    /// Queues a write, in parts if it is large: these wait for each other where too much memory would be pinned.
    ///
    /// # Safety
    /// The buffer is not given back before the write has ended.
    pub(crate) unsafe fn queue_write(
        &self,
        id: u64,
        after: &[Mark],
        (buffer, offset): (BufferId, u64),
        data: &[u8],
    ) -> Result<u64, DeviceError> {
        let bytes = data.len() as u64;
        let start = self.enter(WRITING)?.range("write", buffer, offset, bytes)?;
        if data.is_empty() {
            let mut state = self.enter_turn(id, 0, WRITING)?;
            state.begin(id, after, WRITING)?;
            let queued = state.with_stream(id, WRITING, |stream, _| Ok(stream.nothing()))?;
            return queued.ok_or_else(gone);
        }
        let turn = match data.len() > MOST {
            true => Some(self.turn(id, WRITING)?),
            false => None,
        };
        let enter = |bytes| match &turn {
            None => self.enter_turn(id, bytes, WRITING),
            Some(_) => self.enter_room(id, bytes, WRITING),
        };
        let parts = data.len().div_ceil(MOST);
        let mut number = 0;
        for (at, part) in data.chunks(MOST).enumerate() {
            let after = if at == 0 { after } else { &[] };
            let to = start + (at * MOST) as u64;
            // SAFETY: the range was checked to lie in the buffer, which the caller promises to keep.
            match unsafe { self.queue_part(id, enter, after, to, part, at + 1 == parts) } {
                Ok(queued) => number = queued,
                Err(error) if at == 0 => return Err(error),
                Err(error) => return Err(self.broken_off(id, error)),
            }
        }
        Ok(number)
    }

    /// Queues a part of a write when it may `enter`; with the last part the write is complete, and has a number.
    ///
    /// # Safety
    /// `part.len()` bytes of device memory at `to` are valid until it has ended.
    unsafe fn queue_part<'a>(
        &self,
        id: u64,
        enter: impl Fn(u64) -> Result<Entered<'a>, DeviceError>,
        after: &[Mark],
        to: u64,
        part: &[u8],
        last: bool,
    ) -> Result<u64, DeviceError> {
        let piece = self.piece(part.len(), WRITING)?;
        let bytes = part.len().min(piece.bytes);
        // SAFETY: both have so many bytes, and the piece is nobody else's.
        unsafe {
            piece
                .start
                .copy_from_nonoverlapping(std::ptr::NonNull::from(part).cast(), bytes)
        };
        let mut state = match enter(piece.bytes as u64) {
            Ok(state) => state,
            Err(error) => {
                self.give_back([piece]);
                return Err(error);
            }
        };
        if let Err(error) = state.begin(id, after, WRITING) {
            state.shared.staging.give(piece);
            return Err(error);
        }
        let queued = state.with_stream(id, WRITING, |stream, shared| {
            // SAFETY: the caller's promise.
            match unsafe { stream.write(to, piece, bytes) } {
                Ok(()) if last => Ok(stream.complete()),
                Ok(()) => Ok(0),
                Err((refused, piece)) => {
                    shared.staging.give(piece);
                    Err(refused)
                }
            }
        })?;
        queued.ok_or_else(gone)
    }

    /// Queues a read. If the driver refuses a part behind others, these have ended when the error is returned.
    ///
    /// # Safety
    /// The buffer is not given back before the read has ended.
    pub(crate) unsafe fn queue_read(
        &self,
        id: u64,
        after: &[Mark],
        (buffer, offset): (BufferId, u64),
        bytes: u64,
    ) -> Result<u64, DeviceError> {
        // Before anything is pinned for it.
        self.enter(READING)?.range("read", buffer, offset, bytes)?;
        let mut parts = Vec::new();
        let mut rest = bytes as usize;
        while rest > 0 {
            let part = rest.min(MOST);
            match self.piece(part, READING) {
                Ok(piece) => parts.push((piece, part)),
                Err(error) => {
                    self.give_back(pieces(parts));
                    return Err(error);
                }
            }
            rest -= part;
        }
        let mut state = match self.enter_turn(id, 0, READING) {
            Ok(state) => state,
            Err(error) => {
                self.give_back(pieces(parts));
                return Err(error);
            }
        };
        let begun = state.range("read", buffer, offset, bytes);
        let begun = begun.and_then(|from| state.begin(id, after, READING).map(|()| from));
        let from = match begun {
            Ok(from) => from,
            Err(error) => {
                let staging = &mut state.shared.staging;
                pieces(parts).for_each(|piece| staging.give(piece));
                return Err(error);
            }
        };
        let queued = state.with_stream(id, READING, |stream, shared| {
            // SAFETY: the range was checked to lie in the buffer, which the caller promises to keep.
            match unsafe { stream.read(from, &parts) } {
                Ok(()) => {
                    let number = match parts.is_empty() {
                        true => stream.nothing(),
                        false => stream.complete(),
                    };
                    stream.keep_read(number, parts);
                    Ok(Ok(number))
                }
                Err((refused, 0)) => {
                    pieces(parts).for_each(|piece| shared.staging.give(piece));
                    Err(refused)
                }
                Err((refused, _)) => {
                    stream.keep_used(pieces(parts));
                    Ok(Err(refused))
                }
            }
        })?;
        match queued {
            Some(Ok(number)) => Ok(number),
            Some(Err(refused)) => {
                let error = state.refuse(refused, READING);
                drop(state);
                Err(self.broken_off(id, error))
            }
            None => Err(gone()),
        }
    }

    /// Copies what a read brought.
    pub(crate) fn take_read(&self, read: Mark, into: &mut [u8]) -> Result<(), DeviceError> {
        let read = self.enter(TAKING)?.end_read(read, into.len())?;
        let mut rest = into;
        for (piece, bytes) in &read.parts {
            let Some((part, behind)) = rest.split_at_mut_checked(*bytes) else {
                break;
            };
            let to = std::ptr::NonNull::from(&mut *part).cast();
            // SAFETY: both have so many bytes; the copy has ended, and the piece is nobody else's.
            unsafe { piece.start.copy_to_nonoverlapping(to, part.len()) };
            rest = behind;
        }
        self.give_back(pieces(read.parts));
        Ok(())
    }
}

const WRITING: &str = "a copy to the device";
const READING: &str = "a copy from the device";
const TAKING: &str = "taking what was read";

impl State {
    /// Takes a read out that has ended, for `room` bytes.
    fn end_read(&mut self, mark: Mark, room: usize) -> Result<Read, DeviceError> {
        self.with_stream(mark.stream.0, TAKING, |stream, shared| stream.look(shared))?;
        let refuse = |what: String| DeviceError::Driver {
            device: self.session.name.clone(),
            call: "Streams::take",
            what,
        };
        let unknown = || {
            refuse(format!(
                "piece of work {} is no read, or was taken",
                mark.at
            ))
        };
        let stream = self.streams.get_mut(mark.stream.0);
        let stream = stream.ok_or_else(unknown)?;
        let read = stream.reads.get(&mark.at).ok_or_else(unknown)?;
        if read.bytes() != room {
            return Err(DeviceError::OutOfRange {
                what: "take",
                got: room as u64,
                room: read.bytes() as u64,
            });
        }
        if read.op > stream.posts.ended().ops {
            return Err(refuse(
                "the read has not ended; wait for its mark".to_string(),
            ));
        }
        stream.reads.remove(&mark.at).ok_or_else(unknown)
    }
}

fn pieces(parts: Vec<(Piece, usize)>) -> impl Iterator<Item = Piece> {
    parts.into_iter().map(|(piece, _)| piece)
}
