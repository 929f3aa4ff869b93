//! Memory that the host sees, in which data of streams wait: those written until the device has copied them, those read until
//! somebody takes them.

use crate::memory::{Buffer, Mapped, Memory};
use std::ptr::NonNull;
use warpheap_api::host::DeviceError;

/// Bytes of the smallest buffer.
const LEAST: u64 = 4 << 10;
/// Bytes of the largest one. What needs more has several.
const MOST: u64 = 16 << 20;
/// Bytes that are kept while nothing needs them.
const KEPT: u64 = 256 << 20;

/// Room for the data of one piece of work.
pub(crate) struct Staged {
    bytes: usize,
    /// All full but the last.
    buffers: Vec<Mapped>,
}

impl Staged {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The buffers, each with where its part of the data begins and how long that is.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Buffer, u64, u64)> {
        let begins = (0..).step_by(MOST as usize);
        self.buffers.iter().zip(begins).map(|(mapped, begin)| {
            let len = MOST.min(self.bytes as u64 - begin);
            (mapped.buffer, begin, len)
        })
    }

    /// Puts data in, as many as there is room for. The device does not use the buffers.
    pub(crate) fn put(&mut self, data: &[u8]) {
        for (mapped, part) in self.buffers.iter().zip(data.chunks(MOST as usize)) {
            // SAFETY: the buffer has as many mapped bytes as the part, as `gather` sees to, and nobody else uses them.
            unsafe {
                let from = NonNull::from(part).cast();
                mapped.address.copy_from_nonoverlapping(from, part.len());
            }
        }
    }

    /// Copies the data out, as many as there are. The device has finished with the buffers, and made what it wrote visible to the
    /// host.
    pub(crate) fn copy_out(&self, into: &mut [u8]) {
        for (mapped, part) in self.buffers.iter().zip(into.chunks_mut(MOST as usize)) {
            // SAFETY: as in `put`.
            unsafe {
                let to = NonNull::from(&mut *part).cast();
                mapped.address.copy_to_nonoverlapping(to, part.len());
            }
        }
    }
}

/// Buffers that nothing needs at the moment.
#[derive(Default)]
pub(crate) struct Staging {
    spare: Vec<Mapped>,
    /// Bytes of all of them.
    bytes: u64,
}

impl Staging {
    /// Room for `bytes` bytes.
    pub(crate) fn take(&mut self, memory: &mut Memory, bytes: u64) -> Result<Staged, DeviceError> {
        match self.gather(memory, bytes) {
            Err(DeviceError::OutOfMemory { .. }) if !self.spare.is_empty() => {
                // What is kept is of other sizes.
                for mapped in self.spare.drain(..) {
                    memory.dealloc(mapped.id);
                }
                self.bytes = 0;
                self.gather(memory, bytes)
            }
            taken => taken,
        }
    }

    /// Takes back what the device has finished with.
    pub(crate) fn give(&mut self, memory: &mut Memory, staged: Staged) {
        for mapped in staged.buffers {
            if self.bytes + mapped.buffer.bytes > KEPT {
                memory.dealloc(mapped.id);
            } else {
                self.bytes += mapped.buffer.bytes;
                self.spare.push(mapped);
            }
        }
    }

    fn gather(&mut self, memory: &mut Memory, bytes: u64) -> Result<Staged, DeviceError> {
        let mut staged = Staged {
            bytes: bytes as usize,
            buffers: Vec::new(),
        };
        let mut left = bytes;
        while left != 0 {
            let part = left.min(MOST);
            match self.one(memory, size(part)) {
                Ok(mapped) => staged.buffers.push(mapped),
                Err(error) => {
                    self.give(memory, staged);
                    return Err(error);
                }
            }
            left -= part;
        }
        Ok(staged)
    }

    fn one(&mut self, memory: &mut Memory, size: u64) -> Result<Mapped, DeviceError> {
        // The newest ones: their memory is the likeliest to be in a cache.
        let found = self.spare.iter().rposition(|had| had.buffer.bytes == size);
        match found {
            Some(at) => {
                self.bytes -= size;
                Ok(self.spare.remove(at))
            }
            None => memory.mapped(size, "warpheap staging of streams"),
        }
    }
}

/// Bytes of the buffer for `bytes` bytes.
fn size(bytes: u64) -> u64 {
    bytes.next_power_of_two().max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_room_for_its_part() {
        for bytes in [4, LEAST, LEAST + 4, 3 << 20, MOST - 4, MOST] {
            assert!(size(bytes) >= bytes && size(bytes) <= MOST, "{bytes}");
        }
    }
}
