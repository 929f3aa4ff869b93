//! What iterations of PageRank keep on the device, and their launches.

use super::long::Long;
use super::reference::PageRank;
use std::mem::swap;
use std::ops::Range;
use warpheap::device::HeapVec;
use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Pool, Prepared};
use warpheap_applications::Kernels as Loaded;
use warpheap_applications::rank::{RankGatherEntry, RankShortEntry};

/// Lanes that add up what all vertices give, at most: as many as the largest GPU runs at once.
const LANES: u32 = 1 << 18;
/// How many sums one lane adds up to the next.
const FOLD: u32 = 128;
/// Iterations that are queued together.
const QUEUED: u32 = 16;

/// An allocator with all kernels of an iteration.
pub trait Kernels: RankShortEntry + RankGatherEntry {}

impl<A: RankShortEntry + RankGatherEntry> Kernels for A {}

/// What vertices give, and what becomes of it in an iteration.
pub struct Ranks {
    /// What each vertex of the graph gives to each of its successors; minus its rank if it has none.
    pub given: DeviceVec<f32>,
    /// The same after an iteration, of the vertices whose rows these are; after the last one their ranks.
    pub next: DeviceVec<f32>,
    /// Iterations that are left.
    pub left: u32,
    out_degree: DeviceVec<u32>,
    /// No degrees: what the last iteration takes.
    none: DeviceVec<u32>,
    /// The rank of vertices that no edge leaves, in ever fewer parts.
    sums: Vec<DeviceVec<f32>>,
    /// What each vertex has without any predecessor.
    base: DeviceVec<f32>,
    long: Long,
    start: f32,
    spread: f32,
    damping: f32,
}

impl Ranks {
    /// Before so many iterations, in a graph whose vertices have `out_degrees` successors. `mine` are the vertices whose rows are here,
    /// with `lengths` predecessors.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(
        device: &Device,
        page_rank: PageRank,
        iterations: u32,
        out_degrees: &[u32],
        mine: Range<u32>,
        lengths: &[u32],
    ) -> Result<Self, DeviceError> {
        let first = page_rank.start() as f32;
        let gives = |degree: &u32| match degree {
            0 => -first,
            degree => first / *degree as f32,
        };
        let given: Vec<f32> = out_degrees.iter().map(gives).collect();
        let mut sums = Vec::new();
        let mut parts = page_rank.vertices.min(LANES);
        sums.push(DeviceVec::uninit(device, parts as usize)?);
        while parts > FOLD {
            parts = parts.div_ceil(FOLD);
            sums.push(DeviceVec::uninit(device, parts as usize)?);
        }
        let mine = mine.start as usize..mine.end as usize;
        Ok(Self {
            given: DeviceVec::from_slice(device, &given)?,
            next: DeviceVec::from_slice(device, &vec![first; mine.len()])?,
            left: iterations,
            out_degree: DeviceVec::from_slice(device, &out_degrees[mine])?,
            none: DeviceVec::new(device)?,
            sums,
            base: DeviceVec::uninit(device, 1)?,
            long: Long::new(device, lengths)?,
            start: page_rank.base(0.0) as f32,
            spread: (page_rank.base(1.0) - page_rank.base(0.0)) as f32,
            damping: page_rank.damping as f32,
        })
    }

    /// The launches of the next iterations, as many as are queued together, where all rows are here; how many there are. After those of
    /// the last one `next` has the ranks.
    pub fn several<A: Kernels>(
        &mut self,
        kernels: &Loaded,
        pool: &Pool<A>,
        vertices: &DeviceVec<HeapVec<u32>>,
    ) -> (u32, Vec<Prepared>) {
        let now = self.left.min(QUEUED);
        let mut launches = Vec::new();
        for _ in 0..now {
            launches.extend(self.iteration(kernels, pool, vertices));
            if self.left > 0 {
                swap(&mut self.given, &mut self.next);
            }
        }
        (now, launches)
    }

    /// The launches of the next iteration, from `given` to `next`: none if there are no rows here.
    pub fn iteration<A: Kernels>(
        &mut self,
        kernels: &Loaded,
        pool: &Pool<A>,
        vertices: &DeviceVec<HeapVec<u32>>,
    ) -> Vec<Prepared> {
        self.left -= 1;
        if self.next.is_empty() {
            return Vec::new();
        }
        let mut launches = self.bases(kernels);
        launches.push(kernels.rank_short_launch(
            pool,
            lanes(self.next.len()),
            vertices,
            &self.given,
            &self.base,
            self.degrees(),
            &self.next,
            self.damping,
        ));
        if let Some((first, others)) = self.long.levels.split_first() {
            let long = &self.long;
            launches.push(kernels.rank_gather_launch(
                pool,
                lanes(first.len()),
                vertices,
                &long.list,
                &long.owners,
                &self.given,
                &long.parts,
                first.end,
            ));
            launches.extend(others.iter().map(|level| {
                kernels.rank_add_launch(
                    lanes(level.len()),
                    &long.list,
                    &long.owners,
                    &long.parts,
                    level.start,
                    level.end,
                )
            }));
            launches.push(kernels.rank_long_launch(
                lanes(long.rows.len()),
                &long.rows,
                &long.parts,
                &self.base,
                self.degrees(),
                &self.next,
                self.damping,
            ));
        }
        launches
    }

    /// The launches that find what each vertex has without any predecessor: in the same order wherever the rows are.
    fn bases(&self, kernels: &Loaded) -> Vec<Prepared> {
        let parts = &self.sums[0];
        let mut launches =
            vec![kernels.rank_dangling_launch(lanes(parts.len()), &self.given, parts)];
        for pair in self.sums.windows(2) {
            launches.push(kernels.rank_fold_launch(lanes(pair[1].len()), &pair[0], &pair[1]));
        }
        let last = &self.sums[self.sums.len() - 1];
        launches.push(kernels.rank_base_launch(
            lanes(1),
            last,
            &self.base,
            self.start,
            self.spread,
        ));
        launches
    }

    /// What the iteration divides ranks by.
    fn degrees(&self) -> &DeviceVec<u32> {
        match self.left {
            0 => &self.none,
            _ => &self.out_degree,
        }
    }
}

/// A lane for each of so many.
fn lanes(count: usize) -> LaunchConfig {
    LaunchConfig::for_num_elems(count as u32)
}
