//! The parts of all ranks, on each of them.

use crate::bytes::{bytes_of, bytes_of_mut, zeroed};
use crate::exchange::whole;
use crate::{DistError, Op, World};
use std::ops::Range;
use warpheap::api::Element;
use warpheap::api::host::assert_plain;
use warpheap::{Device, DeviceVec};

impl World {
    /// Puts the parts of all ranks one behind the other, in the order of ranks, over all elements of `all`, on every rank. Parts have
    /// any lengths, and may be empty; together they are as long as `all`. A call of all ranks.
    ///
    /// NCCL brings them from GPU to GPU where the ranks have it ([`carrier`](Self::carrier)). Otherwise it goes through host memory: all
    /// parts, and if they have more than [`set_round_bytes`](Self::set_round_bytes), as much again for what is under way.
    ///
    /// # Errors
    /// [`DistError::Gathered`] on all ranks unless the lengths add up to that of `all`; [`DistError::Elements`] if ranks have elements
    /// of different sizes; [`DistError::NoMemory`]; those of [`carrier`](Self::carrier); [`DistError::Device`].
    pub fn all_gather<T: Element + Copy>(
        &self,
        device: &Device,
        mine: &DeviceVec<T>,
        all: &mut DeviceVec<T>,
    ) -> Result<(), DistError> {
        const { plain::<T>() }
        let lengths = self.fitting::<T>(mine.len(), all.len())?;
        self.gather_vecs(device, mine, all, &lengths)
    }

    /// As [`all_gather`](Self::all_gather), of elements in host memory.
    ///
    /// # Errors
    /// As [`all_gather`](Self::all_gather), but for those of a device.
    pub fn all_gather_slices<T: Element + Copy>(
        &self,
        mine: &[T],
        all: &mut [T],
    ) -> Result<(), DistError> {
        const { plain::<T>() }
        let lengths = self.fitting::<T>(mine.len(), all.len())?;
        self.gather_bytes(bytes_of(mine), bytes_of_mut(all), &lengths);
        Ok(())
    }

    /// The lengths of all ranks' parts in bytes, once they are known to fill `all` elements on every rank.
    fn fitting<T>(&self, mine: usize, all: usize) -> Result<Vec<usize>, DistError> {
        let element = size_of::<T>();
        let bytes = (mine * element) as u64;
        let lengths = self.link().exchange_numbers(&vec![bytes; self.size()]);
        // The greatest of the complements is the complement of the least.
        let room = (all * element) as u64;
        let mut rooms = [room, !room];
        self.link().reduce(Op::Max, &mut rooms);
        let [most, least] = [rooms[0], !rooms[1]];
        let parts: u64 = lengths.iter().sum();
        if least != most || parts != most {
            return Err(DistError::Gathered { parts, least, most });
        }
        for (from, &bytes) in lengths.iter().enumerate() {
            whole::<T>(from, bytes)?;
        }
        self.add_sent(bytes * (self.size() as u64 - 1));
        // They are parts of what is in memory here.
        Ok(lengths.into_iter().map(|bytes| bytes as usize).collect())
    }

    /// Brings parts of these lengths in bytes, which fill `all`, from device to device.
    fn gather_vecs<T: Element + Copy>(
        &self,
        device: &Device,
        mine: &DeviceVec<T>,
        all: &mut DeviceVec<T>,
        lengths: &[usize],
    ) -> Result<(), DistError> {
        #[cfg(feature = "mpi")]
        if let Some(nccl) = self.nccl(device)? {
            return nccl.all_gather(self.size(), mine, all, lengths);
        }
        let _ = device;
        // What a rank has for itself need not leave the device.
        let own = place(self.rank(), lengths);
        let own = own.start / size_of::<T>()..own.end / size_of::<T>();
        all.copy_range_from_vec(own.start, mine, 0..mine.len())?;
        if self.size() == 1 {
            return Ok(());
        }
        let part = mine.to_vec()?;
        let mut host = zeroed::<T>(all.len()).ok_or_else(|| DistError::NoMemory {
            from: self.rank(),
            bytes: lengths.iter().map(|&length| length as u64).sum(),
        })?;
        self.gather_bytes(bytes_of(&part), bytes_of_mut(&mut host), lengths);
        all.copy_range_from(0, &host[..own.start])?;
        all.copy_range_from(own.end, &host[own.end..])?;
        Ok(())
    }

    /// Brings parts of these lengths, which fill `all`, from host to host.
    fn gather_bytes(&self, mine: &[u8], all: &mut [u8], lengths: &[usize]) {
        if self.size() == 1 {
            all.copy_from_slice(mine);
        } else if all.len() <= self.round() {
            self.link().all_gather_bytes(mine, all, lengths);
        } else {
            self.gather_in_rounds(mine, all, lengths);
        }
    }

    /// The same in pieces, of which those of one round take no more than [`set_round_bytes`](World::set_round_bytes) together.
    fn gather_in_rounds(&self, mine: &[u8], all: &mut [u8], lengths: &[usize]) {
        let piece = (self.round() / self.size()).max(1);
        let longest = lengths.iter().max().copied().unwrap_or(0);
        let mut into = Vec::new();
        for begin in (0..longest).step_by(piece) {
            let of = |length: usize| length.min(begin)..length.min(begin + piece);
            let coming: Vec<usize> = lengths.iter().map(|&length| of(length).len()).collect();
            into.resize(coming.iter().sum(), 0);
            self.link()
                .all_gather_bytes(&mine[of(mine.len())], &mut into, &coming);
            let mut rest = &into[..];
            for (from, &length) in lengths.iter().enumerate() {
                let (piece, behind) = rest.split_at(coming[from]);
                let to = &mut all[place(from, lengths)];
                to[of(length)].copy_from_slice(piece);
                rest = behind;
            }
        }
    }
}

/// Where the part of a rank lies among parts of these lengths.
fn place(rank: usize, lengths: &[usize]) -> Range<usize> {
    let begin = lengths[..rank].iter().sum();
    begin..begin + lengths[rank]
}

/// Does not compile for what the host may not write into memory of a device, and for elements without a byte.
const fn plain<T: Element>() {
    assert_plain::<T>();
    assert!(size_of::<T>() > 0, "there is nothing to send");
}
