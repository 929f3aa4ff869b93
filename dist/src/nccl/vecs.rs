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
        let (coming, counts) = coming::<T>(world, &lengths)?;
        // A rank that has no room is known before any waits for it.
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
        world.add_sent(travelled(world, &lengths));
        Ok(received)
    }

    /// As [`World::exchange_ranges`], whose parts lie in their vector.
    pub fn exchange_ranges<T: Element + Copy>(
        &self,
        world: &World,
        device: &Device,
        parts: &DeviceVec<T>,
        lengths: &[usize],
    ) -> Result<DeviceVec<T>, DistError> {
        let bytes = |&length: &usize| (length * size_of::<T>()) as u64;
        let lengths: Vec<u64> = lengths.iter().map(bytes).collect();
        let (coming, counts) = coming::<T>(world, &lengths)?;
        let received = world.agree(DeviceVec::<T>::uninit(device, counts.iter().sum()))?;
        let args = [parts.arg(), received.arg_mut()];
        let (out, into) = (behind(0, &lengths), behind(1, &coming));
        // SAFETY: the caller has looked at the parts, those that come fill a new vector one behind the other, and all bytes are values of
        // an `Element`.
        unsafe { self.exchange(&args, &out, &into) }?;
        world.add_sent(travelled(world, &lengths));
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
        let lengths: Vec<u64> = lengths.iter().map(|&length| length as u64).collect();
        let into = behind(1, &lengths);
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

/// The bytes that come from each rank if `lengths` go to them, and how many elements they are. A rank that sends something else is known
/// before any waits for it.
fn coming<T>(world: &World, lengths: &[u64]) -> Result<(Vec<u64>, Vec<usize>), DistError> {
    let coming = world.link().exchange_numbers(lengths);
    let counts = (0..)
        .zip(&coming)
        .map(|(from, &bytes)| whole::<T>(from, bytes));
    let counts = world.agree(counts.collect::<Result<Vec<_>, _>>())?;
    Ok((coming, counts))
}

/// Pieces of so many bytes, one for each rank, one behind the other in an argument.
fn behind(of: usize, lengths: &[u64]) -> Vec<Piece> {
    let mut end = 0;
    let piece = |(rank, &bytes): (usize, &u64)| {
        let offset = end;
        end += bytes;
        Piece {
            rank,
            of,
            offset,
            bytes,
        }
    };
    lengths.iter().enumerate().map(piece).collect()
}

/// The bytes of these that go to other ranks.
fn travelled(world: &World, lengths: &[u64]) -> u64 {
    lengths.iter().sum::<u64>() - lengths[world.rank()]
}

/// The bytes of a vector.
fn bytes_of<T: Element>(part: &DeviceVec<T>) -> u64 {
    (part.len() * size_of::<T>()) as u64
}
