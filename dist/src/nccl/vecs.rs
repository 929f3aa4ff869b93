//! Whole vectors: parts from all ranks to all, and parts of all ranks together on each.

use super::{Nccl, Piece};
use crate::exchange::whole;
use crate::{DistError, World};
use warpheap::api::Element;
use warpheap::{Device, DeviceVec};

impl Nccl {
    /// As [`World::exchange_vecs`].
    pub fn exchange_vecs<T: Element + Copy>(
        &self,
        world: &World,
        device: &Device,
        parts: &[DeviceVec<T>],
    ) -> Result<Vec<DeviceVec<T>>, DistError> {
        world.check_parts(parts.len())?;
        let lengths: Vec<u64> = parts.iter().map(bytes_of).collect();
        let coming = world.link().exchange_numbers(&lengths);
        let counts = (0..)
            .zip(&coming)
            .map(|(from, &bytes)| whole::<T>(from, bytes));
        // A rank that sends something else, or has no room, is known before any waits for it.
        let counts = world.agree(counts.collect::<Result<Vec<_>, _>>())?;
        let room = counts
            .iter()
            .map(|&count| DeviceVec::<T>::uninit(device, count));
        let received = world.agree(room.collect::<Result<Vec<_>, _>>())?;
        let args: Vec<_> = parts
            .iter()
            .map(DeviceVec::arg)
            .chain(received.iter().map(DeviceVec::arg_mut))
            .collect();
        let pieces = |lengths: &[u64], first: usize| -> Vec<Piece> {
            let piece = |(rank, &bytes): (usize, &u64)| Piece {
                rank,
                of: first + rank,
                offset: 0,
                bytes,
            };
            lengths.iter().enumerate().map(piece).collect()
        };
        let (out, into) = (pieces(&lengths, 0), pieces(&coming, parts.len()));
        // SAFETY: each piece is a vector, those that come new ones, and all bytes are values of an `Element`.
        unsafe { self.exchange(&args, &out, &into) }?;
        let travelled = out.iter().filter(|piece| piece.rank != world.rank());
        world.add_sent(travelled.map(|piece| piece.bytes).sum());
        Ok(received)
    }

    /// Puts the parts that the `size` ranks have in `mine` one behind the other into `all`; `lengths` has their bytes, which fill it.
    pub fn all_gather<T: Element + Copy>(
        &self,
        size: usize,
        mine: &DeviceVec<T>,
        all: &mut DeviceVec<T>,
        lengths: &[usize],
    ) -> Result<(), DistError> {
        let mut end = 0;
        let behind = |(rank, &length): (usize, &usize)| {
            let (offset, bytes) = (end, length as u64);
            end += bytes;
            Piece {
                rank,
                of: 1,
                offset,
                bytes,
            }
        };
        let into: Vec<Piece> = lengths.iter().enumerate().map(behind).collect();
        let to = |rank| Piece {
            rank,
            of: 0,
            offset: 0,
            bytes: bytes_of(mine),
        };
        let out: Vec<Piece> = (0..size).map(to).collect();
        // SAFETY: the pieces that come lie one behind the other in a vector that has room for them, and all bytes are values of an
        // `Element`.
        unsafe { self.exchange(&[mine.arg(), all.arg_mut()], &out, &into) }
    }
}

/// The bytes of a vector.
fn bytes_of<T: Element>(part: &DeviceVec<T>) -> u64 {
    (part.len() * size_of::<T>()) as u64
}
