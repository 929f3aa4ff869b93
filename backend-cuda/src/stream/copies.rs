//! Copies and fills, and the pinned memory that they need until they have ended.

use super::{Fence, LARGE, Read, Shared, StreamState};
use crate::staging::Piece;
use crate::status::Refused;

impl StreamState {
    /// Queues a copy of the first `bytes` bytes of a piece, which it keeps until then.
    ///
    /// # Safety
    /// The range on the device is valid until the copy has ended.
    pub(crate) unsafe fn write(
        &mut self,
        to: u64,
        piece: Piece,
        bytes: usize,
    ) -> Result<(), (Refused, Piece)> {
        // SAFETY: the caller's promise; the piece is kept until the copy has ended, and has so many bytes.
        match unsafe {
            self.lane
                .to_device(to, piece.start.as_ptr(), bytes.min(piece.bytes))
        } {
            Ok(()) => {}
            Err(refused) => return Err((refused, piece)),
        }
        self.transferred(bytes as u64, Fence::Post);
        self.used_bytes += piece.bytes as u64;
        self.used.push_back((self.posts.queued.ops, piece));
        Ok(())
    }

    /// Queues copies to the pieces of a read, one after the other. `Err` tells also how many were queued.
    ///
    /// # Safety
    /// The range on the device is valid until the copies have ended.
    pub(crate) unsafe fn read(
        &mut self,
        mut from: u64,
        parts: &[(Piece, usize)],
    ) -> Result<(), (Refused, usize)> {
        for (queued, (piece, bytes)) in parts.iter().enumerate() {
            // SAFETY: the caller's promise; pieces of reads are kept until they have ended, and have so many bytes.
            let copy = unsafe {
                self.lane
                    .to_host(piece.start.as_ptr(), from, (*bytes).min(piece.bytes))
            };
            copy.map_err(|refused| (refused, queued))?;
            from += *bytes as u64;
            self.transferred(*bytes as u64, Fence::None);
        }
        // Somebody will wait for it, and a copy of reports costs little beside it.
        self.fence = Fence::Reports;
        Ok(())
    }

    /// Keeps a read until it is taken.
    pub(crate) fn keep_read(&mut self, number: u64, parts: Vec<(Piece, usize)>) {
        let op = self.posts.queued.ops;
        self.reads.insert(number, Read { op, parts });
    }

    /// Keeps pieces until all that is queued has ended.
    pub(crate) fn keep_used(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        let op = self.posts.queued.ops;
        for piece in pieces {
            self.used_bytes += piece.bytes as u64;
            self.used.push_back((op, piece));
        }
    }

    /// Forgets a read.
    pub(crate) fn forget_read(&mut self, number: u64, shared: &mut Shared) {
        let Some(read) = self.reads.remove(&number) else {
            return;
        };
        for (piece, _) in read.parts {
            if read.op <= self.posts.ended().ops {
                shared.staging.give(piece);
                continue;
            }
            let at = self.used.partition_point(|(op, _)| *op <= read.op);
            self.used_bytes += piece.bytes as u64;
            self.used.insert(at, (read.op, piece));
        }
    }

    /// Queues setting words.
    ///
    /// # Safety
    /// The range is valid until that has ended.
    pub(crate) unsafe fn fill(&mut self, at: u64, words: usize, value: u32) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { self.lane.fill(at, words, value) }?;
        self.transferred(words as u64 * 4, Fence::Post);
        Ok(())
    }

    /// Queues a copy on the device.
    ///
    /// # Safety
    /// Both ranges are valid until it has ended.
    pub(crate) unsafe fn copy(&mut self, to: u64, from: u64, bytes: usize) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { self.lane.copy(to, from, bytes) }?;
        self.transferred(bytes as u64, Fence::Post);
        Ok(())
    }

    /// Counts a copy or a fill, with a fence behind it if it is large.
    fn transferred(&mut self, bytes: u64, fence: Fence) {
        let time = bytes / LARGE;
        self.count(1, time);
        if time > 0 && self.fence == Fence::None {
            self.fence = fence;
        }
    }
}
