//! What the tests have in common: kernels, a heap, lists in it.

use warpheap_api::host::{DeviceVec, LaunchConfig, Pool};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_parameter_kernels::{Allocator, Kernels, load};
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapVec;
use warpheap_rt::device::HeapData;
use warpheap_rt::host::container::free_vectors;

/// Lanes of a block.
pub const BLOCK: u32 = 40;

/// So many lanes.
pub fn config(lanes: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: lanes.div_ceil(BLOCK),
        block_dim: BLOCK,
    }
}

/// A device with the kernels and a heap.
pub struct World<'a> {
    pub site: &'a Site,
    pub kernels: Kernels,
    pub pool: Pool<RandomWalkMalloc>,
}

/// A list for each lane.
pub type Lists = DeviceVec<HeapVec<u32>>;

impl<'a> World<'a> {
    pub fn new(site: &'a Site) -> Self {
        World {
            site,
            kernels: load(&site.device).expect("the kernels load"),
            pool: site.heap(4 << 20),
        }
    }

    pub fn vec<T: HeapData + Copy>(&self, elements: &[T]) -> DeviceVec<T> {
        DeviceVec::from_slice(&self.site.device, elements).expect("a vector")
    }

    pub fn zeroed<T: HeapData>(&self, len: usize) -> DeviceVec<T> {
        DeviceVec::zeroed(&self.site.device, len).expect("a vector")
    }

    /// Lists of these lengths, filled by a kernel.
    pub fn lists(&self, lengths: &[u32]) -> Lists {
        self.lists_in(&self.pool, lengths)
    }

    /// The same in a heap of any allocator that the kernel's crate lists.
    pub fn lists_in<A: Allocator>(&self, pool: &Pool<A>, lengths: &[u32]) -> Lists {
        let mut lists = self.zeroed(lengths.len());
        let mut sums = self.zeroed(lengths.len());
        let wanted = self.vec(lengths);
        let lanes = lengths.len() as u32;
        let grown = self
            .kernels
            .grow(pool, config(lanes), &mut lists, &wanted, &mut sums, 5);
        grown.expect("lists");
        lists
    }

    pub fn free(&self, mut lists: Lists) {
        // SAFETY: they are of this heap, and nobody else has them.
        unsafe { free_vectors(&self.pool, &mut lists) }.expect("freed");
        assert_empty(&self.pool);
    }
}

/// The sum of so many numbers from `first` on.
pub fn sum(first: u32, count: u32) -> u32 {
    (first..first + count).sum()
}
