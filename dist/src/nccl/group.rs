//! What a rank sends and receives in one go.

use super::Nccl;
use super::library::{BYTES, Stream};
use crate::DistError;
use std::ffi::c_int;
use warpheap::api::host::{Arg, Lent};

/// A range of memory that goes to a rank, or comes from one.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The rank.
    pub rank: usize,
    /// Which of the arguments it is in.
    pub of: usize,
    /// Its first byte there.
    pub offset: u64,
    /// Its bytes; none for nothing.
    pub bytes: u64,
}

impl Nccl {
    /// Sends pieces and receives others, which lie in vectors on this rank's device. A call of all ranks, in which what one sends to
    /// another is what that receives from it. What a rank sends to itself it gets.
    ///
    /// # Errors
    /// [`DistError::Nccl`], [`DistError::Device`].
    ///
    /// # Safety
    /// Pieces lie in their arguments, those that come in ones that are mutable, and none of these overlaps another.
    pub unsafe fn exchange(
        &self,
        args: &[Arg],
        out: &[Piece],
        into: &[Piece],
    ) -> Result<(), DistError> {
        let mut outcome = Ok(());
        let queue = |lent: Lent<'_>| {
            // SAFETY: the caller's promise; the device is current, and `lend` waits for the stream.
            outcome = unsafe { self.queue(lent, out, into) };
        };
        // SAFETY: the caller's promise.
        unsafe { self.device.lend(args, queue) }?;
        outcome
    }

    /// Queues all pieces as one group: none waits for another.
    ///
    /// # Safety
    /// As [`exchange`](Self::exchange).
    unsafe fn queue(&self, lent: Lent<'_>, out: &[Piece], into: &[Piece]) -> Result<(), DistError> {
        let functions = self.functions;
        let stream: Stream = lent.stream;
        let place = |piece: &Piece| (lent.addresses[piece.of] + piece.offset) as usize;
        // SAFETY: no arguments.
        self.check("ncclGroupStart", unsafe { (functions.ncclGroupStart)() })?;
        let mut queued = Ok(());
        for piece in out.iter().filter(|piece| piece.bytes > 0) {
            let (bytes, to) = (piece.bytes as usize, piece.rank as c_int);
            let from = std::ptr::with_exposed_provenance(place(piece));
            // SAFETY: the caller's promise.
            let answer = unsafe { (functions.ncclSend)(from, bytes, BYTES, to, self.comm, stream) };
            queued = queued.and(self.check("ncclSend", answer));
        }
        for piece in into.iter().filter(|piece| piece.bytes > 0) {
            let (bytes, from) = (piece.bytes as usize, piece.rank as c_int);
            let to = std::ptr::with_exposed_provenance_mut(place(piece));
            // SAFETY: the caller's promise.
            let answer = unsafe { (functions.ncclRecv)(to, bytes, BYTES, from, self.comm, stream) };
            queued = queued.and(self.check("ncclRecv", answer));
        }
        // SAFETY: a group was begun.
        let ended = self.check("ncclGroupEnd", unsafe { (functions.ncclGroupEnd)() });
        queued.and(ended)
    }

    fn check(&self, call: &'static str, answer: c_int) -> Result<(), DistError> {
        match self.functions.refusal(answer) {
            None => Ok(()),
            Some(what) => Err(DistError::Nccl { call, what }),
        }
    }
}
