//! Device memory at addresses that are multiples of 64 KiB.

use crate::mapped::Mapped;
use crate::status::{Refused, Status, ask};
use crate::sys::CUdevice;
use warpheap_api::host::KnownBuffer;

/// What the address of every buffer is a multiple of.
pub(crate) const ALIGN: u64 = 64 << 10;

/// The driver packs smaller requests together, so that their addresses are seldom aligned.
const PACKED: u64 = 1 << 20;

/// A piece of device memory. It is not freed by itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// What is freed.
    memory: Memory,
    /// The first byte in use, a multiple of [`ALIGN`].
    pub(crate) address: u64,
    /// Bytes in use.
    pub(crate) bytes: u64,
    /// What tools were told that it is.
    pub(crate) known: KnownBuffer,
}

#[derive(Debug, PartialEq, Eq)]
enum Memory {
    /// What the driver returned at this address.
    Whole(u64),
    /// What grows.
    Mapped(Mapped),
}

impl Allocation {
    /// Allocates `bytes` bytes in the current context.
    pub(crate) fn new(bytes: u64) -> Result<Self, Status> {
        place(
            bytes,
            |bytes| {
                let bytes = usize::try_from(bytes).map_err(|_| Status::OUT_OF_MEMORY)?;
                let mut address = 0;
                // SAFETY: room for the answer.
                unsafe { ask!(cuMemAlloc_v2(&mut address, bytes)) }?;
                Ok(address)
            },
            |base| {
                if let Err(status) = release(base) {
                    tracing::warn!(%status, "device memory could not be freed");
                }
            },
        )
    }

    /// `bytes` bytes in the current context, that of `device`, which may become `most`.
    pub(crate) fn reserve(device: CUdevice, bytes: u64, most: u64) -> Result<Self, Refused> {
        let mut mapped = Mapped::reserve(device, most)?;
        if let Err(refused) = mapped.grow(bytes) {
            // SAFETY: nobody has it.
            if let Err(Refused { call, status }) = unsafe { mapped.free() } {
                tracing::warn!(call, %status, "addresses could not be given back");
            }
            return Err(refused);
        }
        Ok(Allocation {
            address: mapped.base,
            memory: Memory::Mapped(mapped),
            bytes,
            known: KnownBuffer::default(),
        })
    }

    /// The address that the driver knows it by.
    pub(crate) fn start(&self) -> u64 {
        match &self.memory {
            Memory::Whole(base) => *base,
            Memory::Mapped(mapped) => mapped.base,
        }
    }

    /// As many bytes as it can come to have.
    pub(crate) fn most(&self) -> u64 {
        match &self.memory {
            Memory::Whole(_) => self.bytes,
            Memory::Mapped(mapped) => mapped.reserved(),
        }
    }

    /// Whether it is mapped at reserved addresses.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.memory, Memory::Mapped(_))
    }

    /// Changes its size to at most [`most`](Self::most). After an error it is as before.
    ///
    /// # Safety
    /// Nothing on the device uses what lies behind `bytes`.
    pub(crate) unsafe fn resize(&mut self, bytes: u64) -> Result<(), Refused> {
        if let Memory::Mapped(mapped) = &mut self.memory {
            mapped.grow(bytes)?;
            // SAFETY: the caller's promise.
            unsafe { mapped.shrink(bytes) }?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Gives the memory back to the current context.
    ///
    /// # Safety
    /// Nothing on the device uses it any more.
    pub(crate) unsafe fn free(self) -> Result<(), Status> {
        match self.memory {
            Memory::Whole(base) => release(base),
            // SAFETY: the caller's promise.
            Memory::Mapped(mapped) => Ok(unsafe { mapped.free() }?),
        }
    }
}

fn release(base: u64) -> Result<(), Status> {
    // SAFETY: the callers pass what `cuMemAlloc` returned, once.
    unsafe { ask!(cuMemFree_v2(base)) }?;
    Ok(())
}

/// Finds an aligned place for `bytes` bytes with the driver's `alloc` and `free`: as large requests
/// are mostly aligned, the room to align them is asked for only when they were not.
fn place(
    bytes: u64,
    mut alloc: impl FnMut(u64) -> Result<u64, Status>,
    mut free: impl FnMut(u64),
) -> Result<Allocation, Status> {
    if bytes >= PACKED {
        let base = alloc(bytes)?;
        if base % ALIGN == 0 {
            return Ok(Allocation {
                memory: Memory::Whole(base),
                address: base,
                bytes,
                known: KnownBuffer::default(),
            });
        }
        free(base);
    }
    let padded = bytes.checked_add(ALIGN).ok_or(Status::OUT_OF_MEMORY)?;
    let base = alloc(padded)?;
    Ok(Allocation {
        memory: Memory::Whole(base),
        address: base.next_multiple_of(ALIGN),
        bytes,
        known: KnownBuffer::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// What was allocated (address, bytes) and freed.
    type Calls = (Vec<(u64, u64)>, Vec<u64>);

    /// Places `bytes` with a driver that returns the next of `bases` at each call.
    fn with(bytes: u64, bases: &[u64]) -> (Result<Allocation, Status>, Calls) {
        let calls = RefCell::new(Calls::default());
        let mut bases = bases.iter();
        let result = place(
            bytes,
            |bytes| {
                let base = *bases.next().ok_or(Status::OUT_OF_MEMORY)?;
                calls.borrow_mut().0.push((base, bytes));
                Ok(base)
            },
            |base| calls.borrow_mut().1.push(base),
        );
        (result, calls.into_inner())
    }

    #[test]
    fn an_aligned_large_buffer_is_taken_as_it_is() {
        let (got, (taken, freed)) = with(PACKED, &[7 * ALIGN]);
        let got = got.unwrap();
        assert_eq!(
            (got.memory, got.address, got.bytes),
            (Memory::Whole(7 * ALIGN), 7 * ALIGN, PACKED)
        );
        assert_eq!(taken, [(7 * ALIGN, PACKED)]);
        assert!(freed.is_empty());
    }

    #[test]
    fn an_unaligned_large_buffer_is_given_back_and_padded() {
        let (got, (taken, freed)) = with(PACKED + 4, &[512, ALIGN + 512]);
        let got = got.unwrap();
        assert_eq!(
            (got.memory, got.address),
            (Memory::Whole(ALIGN + 512), 2 * ALIGN)
        );
        assert_eq!(taken[1].1, PACKED + 4 + ALIGN);
        assert_eq!(freed, [512]);
    }

    #[test]
    fn small_buffers_lie_inside_what_was_allocated() {
        for base in [ALIGN, ALIGN + 256, ALIGN + 512, 2 * ALIGN - 1] {
            let (got, (taken, _)) = with(4, &[base]);
            let got = got.unwrap();
            let (start, room) = taken[0];
            assert_eq!(got.address % ALIGN, 0);
            assert!(got.address >= start && got.address + got.bytes <= start + room);
        }
    }

    #[test]
    fn failures_leave_nothing_behind() {
        let (got, (taken, freed)) = with(PACKED, &[512]);
        assert_eq!(got, Err(Status::OUT_OF_MEMORY));
        assert_eq!((taken.len(), freed), (1, vec![512]));
        assert_eq!(with(u64::MAX - 8, &[512]).0, Err(Status::OUT_OF_MEMORY));
    }
}
