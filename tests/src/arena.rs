//! A heap with arenas under test.

use crate::Site;
use crate::oracle::{self, Lifetime, NEVER};
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_rt::alloc::{CudaMalloc, FdgMalloc, ScatterAlloc, WarpHeap};
use warpheap_rt::arch::Words;
use warpheap_rt::host::{ArenaCounts, FdgConfig};
use warpheap_test_kernels::arena::{
    ArenaBlock, ArenaMisusesEntry, ArenaPlan, ArenaResumesEntry, ArenaRoundsEntry, ArenaRow,
};

/// In place of a code: the lane did not call.
pub const ABSENT: u32 = 77;

/// A backing allocator that the kernels are compiled for.
pub trait Backing: HostAlloc<Memory = Words> {
    /// FDGMalloc over it.
    type Fdg: HostAlloc<Config = FdgConfig<Self::Config>>
        + ArenaRoundsEntry
        + ArenaResumesEntry
        + ArenaMisusesEntry;

    /// What the header says.
    fn arenas(pool: &Pool<Self::Fdg>) -> ArenaCounts;
}

macro_rules! backings {
    ($($name:ident),*) => {$(
        impl Backing for $name {
            type Fdg = FdgMalloc<$name>;

            fn arenas(pool: &Pool<Self::Fdg>) -> ArenaCounts {
                FdgMalloc::arenas(pool).expect("the header can be read")
            }
        }
    )*};
}

backings! { WarpHeap, ScatterAlloc, CudaMalloc }

/// A heap, and what the lanes of a launch left.
pub struct Run<'s, B: Backing> {
    /// The heap.
    pub pool: Pool<B::Fdg>,
    /// Lanes of a block of each launch.
    pub block_dim: u32,
    site: &'s Site,
    rows: DeviceVec<ArenaRow>,
    blocks: DeviceVec<ArenaBlock>,
    lanes: u32,
}

impl<'s, B: Backing> Run<'s, B> {
    /// A heap of `bytes` bytes, for launches of so many lanes with `each` blocks at a time. Open arenas are
    /// counted.
    pub fn new(site: &'s Site, bytes: u64, super_block_bytes: u32, lanes: u32, each: u32) -> Self {
        let config = FdgConfig {
            super_block_bytes,
            count_open: true,
            ..FdgConfig::default()
        };
        let absent = ArenaRow {
            code: ABSENT,
            damaged: 0,
            last: 0,
            handle: DevicePtr::NULL,
            lanes: [0; 2],
        };
        let device = &site.device;
        let places = vec![ArenaBlock::NONE; (2 * lanes * each) as usize];
        Run {
            site,
            pool: device.reserve_with(bytes, &config).expect("a heap"),
            rows: DeviceVec::from_slice(device, &vec![absent; lanes as usize]).expect("rows"),
            blocks: DeviceVec::from_slice(device, &places).expect("blocks"),
            lanes,
            block_dim: 100,
        }
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig {
            grid_dim: self.lanes.div_ceil(self.block_dim),
            block_dim: self.block_dim,
        }
    }

    /// Runs a plan; every lane's row and the blocks of the last round.
    pub fn rounds(&mut self, plan: ArenaPlan) -> (Vec<ArenaRow>, Vec<ArenaBlock>) {
        let nothing = vec![ArenaBlock::NONE; self.blocks.len()];
        self.blocks.copy_from(&nothing).expect("blocks");
        let kernels = &self.site.kernels;
        kernels
            .arena_rounds(&self.pool, self.config(), &self.rows, &self.blocks, plan)
            .expect("it runs");
        self.left()
    }

    /// Takes over what a plan handed over, and ends it; the new blocks lie behind the old ones.
    pub fn resumes(&self, plan: ArenaPlan) -> (Vec<ArenaRow>, Vec<ArenaBlock>) {
        let (kernels, again) = (&self.site.kernels, self.lanes * plan.each);
        kernels
            .arena_resumes(
                &self.pool,
                self.config(),
                &self.rows,
                &self.blocks,
                plan,
                again,
            )
            .expect("it runs");
        self.left()
    }

    fn left(&self) -> (Vec<ArenaRow>, Vec<ArenaBlock>) {
        (
            self.rows.to_vec().expect("rows"),
            self.blocks.to_vec().expect("blocks"),
        )
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.pool.stats().expect("stats").usage.used_bytes
    }

    /// What the header says of arenas.
    pub fn counts(&self) -> ArenaCounts {
        B::arenas(&self.pool)
    }

    /// All that may not happen; how many blocks there were. They were live together where `together`: an
    /// arena that ended leaves its memory to others.
    pub fn judge(&self, rows: &[ArenaRow], blocks: &[ArenaBlock], together: bool) -> usize {
        for (lane, row) in rows.iter().enumerate() {
            assert_eq!(row.damaged, 0, "lane {lane}: damaged blocks");
        }
        let mut lives = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            if block.ptr.is_null() {
                continue;
            }
            let start = block.ptr.byte_offset(0);
            assert_eq!(start % block.align as u64, 0, "{block:?}");
            // CUDA's own heap lies elsewhere.
            let end = start + block.size as u64;
            assert!(
                B::ONLY_ON.is_some() || end <= self.pool.bytes(),
                "{block:?}"
            );
            lives.push(Lifetime {
                start,
                bytes: block.size as u64,
                born: at as u32,
                dies: NEVER,
                slot: at as u32,
            });
        }
        if let Some((a, b)) = oracle::overlap(&lives).filter(|_| together) {
            panic!("two blocks overlap: {a:?} and {b:?}");
        }
        lives.len()
    }

    /// Nothing is left, and nobody did anything wrong.
    pub fn is_clean(&self) {
        assert_eq!(self.used(), 0, "memory was left, {:?}", self.counts());
        let expected = ArenaCounts {
            open: Some(0),
            misuses: 0,
        };
        assert_eq!(self.counts(), expected);
    }
}
