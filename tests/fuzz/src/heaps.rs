//! Programs of heap operations, run by the emulator under a schedule that the bytes choose, too.

use super::dice::Dice;
use std::collections::{BTreeMap, HashMap};
use warpheap::rt::alloc::{Gallatin, ScatterAlloc, WarpHeap};
use warpheap_api::host::{Device, DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_api::{DevicePtr, header};
use warpheap_bench_kernels::churn::DAMAGED;
use warpheap_bench_kernels::replay::{COUNTS, FREE, MALLOC, Place, RESIZE, ReplayEntry, Step};
use warpheap_bench_kernels::{Kernels, load};
use warpheap_host::{HostConfig, Mode, open};

/// Blocks that there can be at the same time.
const BLOCKS: u32 = 64;
/// The most launches, which is what a run's time goes to.
const LAUNCHES: usize = 12;
/// The most lanes of a launch: several warps, the last of which need not be full.
const LANES: u32 = 40;
/// Lanes of a warp.
const WIDTH: u32 = 16;
/// No block.
const NOWHERE: Place = Place {
    block: DevicePtr::NULL,
    bytes: 0,
};

/// The first bytes choose an allocator, the bytes of its pool and a schedule, the others are launches.
pub fn run(bytes: &[u8]) {
    let _ = begin(&mut Dice(bytes));
}

fn begin(dice: &mut Dice<'_>) -> Option<()> {
    let (which, shift, more) = (dice.below(3)?, dice.below(8)?, dice.byte()?);
    let pool = (1 << (13 + shift)) + 16 * u64::from(more);
    let device = open(HostConfig {
        warp_width: WIDTH,
        mode: Mode::Explore {
            seed: dice.byte()?.into(),
        },
        ..HostConfig::default()
    });
    let device = device.expect("the emulator opens");
    match which {
        0 => program::<WarpHeap>(&device, pool, dice),
        1 => program::<ScatterAlloc>(&device, pool, dice),
        _ => program::<Gallatin>(&device, pool, dice),
    }
    Some(())
}

/// A heap, and the blocks that it has to have.
struct Heap<A: HostAlloc> {
    kernels: Kernels,
    pool: Pool<A>,
    places: DeviceVec<Place>,
    counts: DeviceVec<u32>,
    live: BTreeMap<u32, Place>,
}

/// The steps of a launch.
#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
    begins: Vec<u32>,
    /// The lane that has steps of a block.
    lanes: HashMap<u32, u32>,
}

fn program<A: HostAlloc + ReplayEntry>(device: &Device, bytes: u64, dice: &mut Dice<'_>) {
    // Not every size is a pool of each allocator.
    let Ok(pool) = device.reserve::<A>(bytes) else {
        return;
    };
    let vec = "vectors for a launch";
    let mut heap = Heap {
        kernels: load(device).expect("kernels for the host"),
        pool,
        places: DeviceVec::from_slice(device, &[NOWHERE; BLOCKS as usize]).expect(vec),
        counts: DeviceVec::zeroed(device, COUNTS).expect(vec),
        live: BTreeMap::new(),
    };
    for _ in 0..LAUNCHES {
        if dice.0.is_empty() {
            break;
        }
        heap.turn(device, dice);
    }
    heap.empty(device);
}

impl<A: HostAlloc + ReplayEntry> Heap<A> {
    /// A launch, or a fresh heap.
    fn turn(&mut self, device: &Device, dice: &mut Dice<'_>) {
        if dice.below(16) == Some(15) {
            self.pool.reset().expect("a fresh heap");
            let none = [NOWHERE; BLOCKS as usize];
            self.places.copy_from(&none).expect("the table");
            self.live.clear();
            return self.look();
        }
        let lanes = 1 + dice.below(LANES).unwrap_or(0);
        let mut plan = Plan::default();
        for lane in 0..lanes {
            plan.begins.push(plan.steps.len() as u32);
            for _ in 0..dice.below(4).unwrap_or(0) {
                if let Some(step) = self.step(&plan, lane, dice) {
                    plan.add(lane, step);
                }
            }
        }
        self.launch(device, plan);
    }

    /// What a lane does next: to a block that no other lane has a step of, or to a new one.
    fn step(&self, plan: &Plan, lane: u32, dice: &mut Dice<'_>) -> Option<Step> {
        let what = dice.below(4)?;
        let number = dice.below(BLOCKS)?;
        let mine = |block: &u32| plan.lanes.get(block).is_none_or(|owner| *owner == lane);
        let there = |block: &u32| self.live.contains_key(block) || plan.lanes.contains_key(block);
        // The first one from that number on.
        let mut from = (0..BLOCKS)
            .map(|more| (number + more) % BLOCKS)
            .filter(mine);
        let (what, block) = match what {
            0 | 1 => (MALLOC, from.find(|block| !there(block))?),
            2 => (FREE, from.find(there)?),
            _ => (RESIZE, from.find(there)?),
        };
        let bytes = match what {
            FREE => 0,
            _ => (dice.wide()? % (1 << 18)) as u32,
        };
        Some(Step { what, block, bytes })
    }

    /// Runs a plan, and compares what came of it with what may have.
    fn launch(&mut self, device: &Device, mut plan: Plan) {
        let lanes = plan.begins.len() as u32;
        plan.begins.push(plan.steps.len() as u32);
        if plan.steps.is_empty() {
            return;
        }
        let steps = DeviceVec::from_slice(device, &plan.steps).expect("steps");
        let begins = DeviceVec::from_slice(device, &plan.begins).expect("begins");
        let shape = LaunchConfig {
            grid_dim: lanes.div_ceil(2 * WIDTH),
            block_dim: lanes.min(2 * WIDTH),
        };
        let (places, counts) = (&self.places, &self.counts);
        let launch = self
            .kernels
            .replay_launch(&self.pool, shape, &steps, &begins, places, counts, 0, lanes);
        launch.run().unwrap_or_else(|error| panic!("{error}"));
        let counts = self.counts.to_vec().expect("counts");
        assert_eq!(counts[DAMAGED], 0, "blocks whose contents are others");
        for (block, place) in (0..).zip(self.places.to_vec().expect("places")) {
            let before = self.live.get(&block).copied().unwrap_or(NOWHERE);
            let steps = plan.steps.iter().filter(|step| step.block == block);
            let place = match place.block.is_null() {
                true => NOWHERE,
                false => place,
            };
            match steps.clone().next_back().map(|step| step.what) {
                None => assert_eq!(place, before, "block {block}, which had no step"),
                Some(FREE) => assert_eq!(place, NOWHERE, "block {block} was freed"),
                Some(_) => {
                    let before = [before.bytes]
                        .into_iter()
                        .chain(steps.map(|step| step.bytes));
                    let known = place == NOWHERE || before.into_iter().any(|b| b == place.bytes);
                    assert!(known, "block {block} has {} bytes", place.bytes);
                }
            }
            match place == NOWHERE {
                true => self.live.remove(&block),
                false => self.live.insert(block, place),
            };
        }
        self.look();
    }

    /// Frees all blocks.
    fn empty(&mut self, device: &Device) {
        let mut plan = Plan::default();
        for (lane, block) in (0..).zip(self.live.keys()) {
            plan.begins.push(lane);
            let step = Step {
                what: FREE,
                block: *block,
                bytes: 0,
            };
            plan.add(lane, step);
        }
        self.launch(device, plan);
        assert!(self.live.is_empty());
    }

    /// No two blocks share memory, and the metadata say what there is.
    fn look(&self) {
        let granule = DevicePtr::<u8>::GRANULE_BYTES as u64;
        let mut end = header::HEADER_WORDS as u64 * 4;
        let mut places: Vec<Place> = self.live.values().copied().collect();
        places.sort_by_key(|place| place.block.granule());
        let mut asked = 0;
        for place in places {
            let begin = u64::from(place.block.granule()) * granule;
            assert!(begin >= end, "two blocks at {begin}: {:?}", self.live);
            end = begin + u64::from(place.bytes.max(1));
            asked += u64::from(place.bytes);
        }
        assert!(end <= self.pool.bytes(), "behind the pool: {:?}", self.live);
        let audit = self.pool.audit().expect("an audit");
        assert!(audit.is_clean(), "{audit}");
        let usage = self.pool.stats().expect("stats").usage;
        if let Some(blocks) = usage.live_blocks {
            assert_eq!(blocks, self.live.len() as u64);
        }
        assert!(usage.used_bytes >= asked, "{} of {asked}", usage.used_bytes);
        assert!(usage.committed_bytes >= usage.used_bytes);
    }
}

impl Plan {
    fn add(&mut self, lane: u32, step: Step) {
        self.lanes.insert(step.block, lane);
        self.steps.push(step);
    }
}
