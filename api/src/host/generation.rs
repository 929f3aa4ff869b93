//! Heaps that are made fresh, and what was in them before.

use super::order::{Access, Demand};
use super::{DeviceError, RawPool};
use crate::DevicePtr;
use core::alloc::Layout;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often a heap was made fresh, and after how many of these times something of it was made.
#[derive(Clone, Debug, Default)]
pub(super) struct Generation {
    now: Arc<AtomicU64>,
    mine: u64,
}

impl Generation {
    /// Whether the heap was made fresh since.
    pub(super) fn is_over(&self) -> bool {
        // Who makes a heap fresh holds all of its memory meanwhile, and who asks holds a part: the locks of that order the two.
        self.now.load(Ordering::Relaxed) != self.mine
    }

    /// Whether both are of one heap and of one time between two at which it was made fresh.
    pub(super) fn is_same(&self, other: &Generation) -> bool {
        Arc::ptr_eq(&self.now, &other.now) && self.mine == other.mine
    }

    /// Ends it: what is made from here on belongs to the next one.
    pub(super) fn end(&mut self) {
        self.mine = self.now.fetch_add(1, Ordering::Relaxed) + 1;
    }
}

/// A block of a heap that the host owns, freed when the last vector or launch that has it is dropped.
#[derive(Debug)]
pub(super) struct HeapBlock {
    pub(super) pool: RawPool,
    pub(super) ptr: DevicePtr<u8>,
    pub(super) layout: Layout,
}

impl HeapBlock {
    /// Refuses to use it when the heap was made fresh since. Asked while the memory is held, so that it is not made fresh meanwhile.
    pub(super) fn check(&self) -> Result<(), DeviceError> {
        if self.pool.generation.is_over() {
            return Err(DeviceError::Stale {
                allocator: self.pool.allocator,
                bytes: self.layout.size() as u64,
            });
        }
        Ok(())
    }
}

impl Drop for HeapBlock {
    fn drop(&mut self) {
        let RawPool { buffer, words, .. } = &self.pool;
        let heap = [Demand::new(buffer.id(), 0, words * 4, Access::Heap)];
        let _held = self.pool.device.order().begin(&heap);
        if self.pool.generation.is_over() {
            return;
        }
        // SAFETY: the block came from this heap with this layout, and nobody else has it.
        if let Err(error) = unsafe { self.pool.free(self.ptr, self.layout) } {
            self.pool.not_freed(&error);
        }
    }
}
