//! Steps of random walks: as a heap counts them, and as the paper expects them.
//!
//! *Steps* are words or pages that a request looks at. Per thread: their average (TAS). Per warp: the
//! average of the most that a lane of a warp took (WAS). Both follow from the number of pages `T`, the free
//! ones `A` and the lanes `N` that ask at the same time.

use crate::Site;
use rand::rngs::SmallRng;
use rand::seq::{SliceRandom, index};
use rand::{Rng, SeedableRng};
use warpheap::Device;
use warpheap_api::host::{DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_host::HostConfig;
use warpheap_rt::alloc::PageWalk;
use warpheap_rt::host::{RandomWalkConfig, WalkSteps};
use warpheap_test_kernels::program::{MALLOC, OK, Op, Outcome, Slot, StepMallocsEntry};

/// Pages of a measured heap, about.
pub const PAGES: u32 = 1 << 21;
/// Lanes of a warp.
pub const WIDTH: u32 = 32;
/// Requests of which the average is taken, at least.
const SAMPLES: u32 = 16384;

/// The shares of free pages that the paper measures.
pub const SHARES: [f64; 4] = [0.5, 0.1, 0.01, 0.005];

/// The numbers of lanes.
pub fn lanes() -> impl Iterator<Item = u32> {
    (5..=13).map(|power| 1 << power)
}

/// What a measurement begins with.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Pages in all.
    pub pages: u32,
    /// Free pages.
    pub free: u32,
    /// Lanes that ask for a page.
    pub lanes: u32,
    /// Stretches of free pages, each behind the last page of a lane; 0 for free pages anywhere.
    pub clusters: u32,
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Steps of a request, on average.
    pub per_thread: f64,
    /// The most of a warp's lanes, on average.
    pub per_warp: f64,
    /// Warps over which that average was taken.
    pub warps: u64,
}

impl Case {
    /// `share` of the pages is free, anywhere.
    pub fn scattered(pages: u32, share: f64, lanes: u32) -> Self {
        Case {
            pages,
            free: (pages as f64 * share) as u32,
            lanes,
            clusters: 0,
        }
    }

    /// `share` of the pages is free, in half as many clusters, or in as many if lanes need them.
    pub fn clustered(pages: u32, share: f64, lanes: u32) -> Self {
        let free = (pages as f64 * share) as u32;
        let half = free / 2;
        Case {
            pages,
            free: free.min(pages / 2),
            lanes,
            clusters: if half > 1 << 13 { half } else { free },
        }
    }

    fn share_after(self, taken: u32) -> f64 {
        (self.free - taken) as f64 / self.pages as f64
    }

    /// Eq. 3: steps of a request of RW.
    pub fn walk_steps(self) -> f64 {
        let (all, free, lanes) = (self.pages as f64, self.free as f64, self.lanes as f64);
        all / lanes * (free / (free - lanes)).ln()
    }

    /// Eq. 4: a bound for the most steps of a warp of RW.
    pub fn walk_bound(self) -> f64 {
        most_of_warp(self.share_after(self.lanes))
    }

    /// Eq. 5: steps of a request of RW-BM.
    pub fn bitmap_steps(self) -> f64 {
        let sum: f64 = (0..self.lanes)
            .map(|taken| 1.0 / some_of_word(self.share_after(taken)))
            .sum();
        sum / self.lanes as f64
    }

    /// Eq. 6: a bound for the most steps of a warp of RW-BM.
    pub fn bitmap_bound(self) -> f64 {
        most_of_warp(some_of_word(self.share_after(self.lanes)))
    }

    /// Eq. 9: steps of a request of CRW.
    pub fn clustered_steps(self) -> f64 {
        let (free, clusters) = (self.free as f64, self.clusters as f64);
        let depleted = (clusters - 1.0) / (free + clusters - 1.0);
        1.0 + depleted * self.walk_steps()
    }

    /// Measures the steps of a kind of walk, with warps of [`WIDTH`] lanes in the emulator.
    pub fn measure<const KIND: u32>(self) -> Measured
    where
        PageWalk<KIND>: StepMallocsEntry,
    {
        let config = HostConfig {
            warp_width: WIDTH,
            threads: 1,
            check_blocks: Some(false),
            ..HostConfig::default()
        };
        let device = warpheap_host::open(config).and_then(Device::adopt);
        let site = Site::new(device.expect("the emulator opens"));
        let pool = counting_pool::<KIND>(&site, self.pages, 1 << 25);
        let mut dice = SmallRng::seed_from_u64(self.lanes as u64 ^ (self.free as u64) << 32);
        let layout = Layout::draw(self, &mut dice);
        for _ in 0..SAMPLES.div_ceil(self.lanes) {
            layout.lay(&pool, self.lanes, &mut dice);
            let codes = ask(&site, &pool, self.lanes);
            assert!(codes.iter().all(|&code| code == OK));
        }
        let steps = WalkSteps::read(&pool).expect("counters");
        assert!(steps.requests >= SAMPLES as u64);
        Measured {
            per_thread: steps.per_thread(),
            per_warp: steps.per_warp(),
            warps: steps.warps,
        }
    }
}

/// The probability that one of the 32 pages of a word is free.
fn some_of_word(share: f64) -> f64 {
    1.0 - (1.0 - share).powi(32)
}

/// The most of 32 numbers of trials until one succeeds, on average.
fn most_of_warp(success: f64) -> f64 {
    let mut sum = 0.0;
    let mut all_fail = 1.0;
    loop {
        let more = 1.0 - (1.0f64 - all_fail).powi(WIDTH as i32);
        sum += more;
        all_fail *= 1.0 - success;
        if more < 1e-9 {
            return sum;
        }
    }
}

/// A heap of exactly so many pages of 16 bytes, with walks of so many, that counts its steps.
pub fn counting_pool<const KIND: u32>(
    site: &Site,
    pages: u32,
    walk_pages: u32,
) -> Pool<PageWalk<KIND>> {
    let config = RandomWalkConfig {
        page_bytes: 16,
        walk_pages,
        count_steps: true,
    };
    let planned = |bytes: u64| {
        let plan = PageWalk::<KIND>::plan(bytes, &config).expect("it is large enough");
        (bytes - plan.metadata_bytes) / 16
    };
    let mut bytes = pages as u64 * 16 + (8 << 10);
    while planned(bytes) < pages as u64 {
        bytes += (pages as u64 - planned(bytes)) * 16;
    }
    let pool = site.device.reserve_with(bytes, &config).expect("a heap");
    assert_eq!(PageWalk::pages(&pool), pages);
    pool
}

/// Which pages are taken, and where lanes go on.
struct Layout {
    /// A bit for each page.
    taken: Vec<u32>,
    /// The page behind the last page of a lane, for each cluster.
    next: Vec<u32>,
}

impl Layout {
    /// Inlined, so that the program that measures compiles it: this crate is not optimised for tests.
    #[inline]
    fn draw(case: Case, dice: &mut SmallRng) -> Self {
        let pages = case.pages as usize;
        let mut is_taken = vec![true; pages];
        let mut next = Vec::new();
        if case.clusters == 0 {
            is_taken[..case.free as usize].fill(false);
            is_taken.shuffle(dice);
        } else {
            // The last page of a lane before each cluster, and the free pages in any order between them:
            // all ways to share them out are equally probable, empty clusters included.
            let mut row = vec![true; (case.free + case.clusters) as usize];
            row[case.clusters as usize..].fill(false);
            row[1..].shuffle(dice);
            for (page, &head) in row.iter().enumerate() {
                is_taken[page] = head;
                if head {
                    next.push((page as u32 + 1) % case.pages);
                }
            }
        }
        let word = |bits: &[bool]| (0..32).fold(0, |word, i| word | (bits[i] as u32) << i);
        Layout {
            taken: is_taken.chunks_exact(32).map(word).collect(),
            next,
        }
    }

    /// Gives a heap this layout, moved on by some words: walks begin at computed places, which must not find
    /// the same each time. And each lane a cluster, if there are any.
    fn lay<const KIND: u32>(&self, pool: &Pool<PageWalk<KIND>>, lanes: u32, dice: &mut SmallRng) {
        let shift = dice.random_range(0..self.taken.len() as u32);
        let mut taken = self.taken.clone();
        taken.rotate_right(shift as usize);
        PageWalk::set_taken(pool, &taken).expect("the map is written");
        let pages = taken.len() as u32 * 32;
        let number = self.next.len();
        let chosen = index::sample(dice, number, number.min(lanes as usize));
        let moved = |cluster| (self.next[cluster] + shift * 32) % pages;
        let next: Vec<u32> = chosen.iter().map(moved).collect();
        PageWalk::set_next_pages(pool, &next).expect("the places are written");
    }
}

/// One launch in which so many lanes ask for a page: what each was told.
pub fn ask<const KIND: u32>(site: &Site, pool: &Pool<PageWalk<KIND>>, lanes: u32) -> Vec<u32>
where
    PageWalk<KIND>: StepMallocsEntry,
{
    let device = &site.device;
    let op = |slot| Op {
        kind: MALLOC,
        slot,
        size: 16,
        align: 16,
    };
    let nothing = Outcome {
        code: u32::MAX,
        granule: 0,
        begin: 0,
        end: 0,
    };
    let count = lanes as usize;
    let ops: Vec<Op> = (0..lanes).map(op).collect();
    let starts: Vec<u32> = (0..=lanes).collect();
    let ops = DeviceVec::from_slice(device, &ops).expect("actions");
    let starts = DeviceVec::from_slice(device, &starts).expect("starts");
    let slots = DeviceVec::from_slice(device, &vec![Slot::EMPTY; count]).expect("slots");
    let outcomes = DeviceVec::from_slice(device, &vec![nothing; count]).expect("outcomes");
    let clock = DeviceVec::<u32>::zeroed(device, 1).expect("a clock");
    let config = LaunchConfig {
        grid_dim: lanes.div_ceil(128),
        block_dim: lanes.min(128),
    };
    site.kernels
        .step_mallocs(pool, config, &ops, &starts, &slots, &outcomes, &clock)
        .expect("it runs");
    let outcomes = outcomes.to_vec().expect("outcomes");
    outcomes.iter().map(|outcome| outcome.code).collect()
}
