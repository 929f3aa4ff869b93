//! Heaps that are made fresh, and what was in them before.

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

    /// That of the heap as it is at this moment.
    pub(super) fn current(&self) -> Generation {
        Generation {
            now: self.now.clone(),
            mine: self.now.load(Ordering::Relaxed),
        }
    }

    /// Ends it: what is made from here on belongs to the next one.
    pub(super) fn end(&mut self) {
        self.mine = self.now.fetch_add(1, Ordering::Relaxed) + 1;
    }
}

/// The heap that containers lie in, at one time of its life.
#[derive(Clone, Debug)]
pub(super) struct Home {
    pub(super) generation: Generation,
    /// Name of the allocator.
    pub(super) allocator: &'static str,
}

impl Home {
    /// Whether the heap was made fresh since.
    pub(super) fn is_over(&self) -> bool {
        self.generation.is_over()
    }

    /// Whether both are one heap at one time.
    pub(super) fn is_same(&self, other: &Home) -> bool {
        self.generation.is_same(&other.generation)
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
        self.pool.check(self.layout.size() as u64)
    }
}

impl Drop for HeapBlock {
    fn drop(&mut self) {
        // SAFETY: the block came from this heap with this layout, and nobody else has it.
        if let Err(error) = unsafe { self.pool.free(self.ptr, self.layout) } {
            self.pool.not_freed(&error);
        }
    }
}
