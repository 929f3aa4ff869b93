//! A heap under test: runs programs on it and checks what came of them (in `judge`).

mod judge;

use crate::oracle::Lifetime;
use crate::{Site, Subject};
use warpheap_api::AllocError;
use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, LaunchConfig, LaunchReport, Pool};
use warpheap_test_kernels::program::{
    ARRAY, BEGIN, CALLOC, CHECK, END, FREE, MALLOC, MOVE, Op, Outcome, REALLOC, Slot,
};

/// Which failures of requests that the allocator supports are fine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failures {
    /// None: the heap has room for everything.
    None,
    /// `Exhausted` alone: the heap may be full, and nobody else is there to contend with.
    Exhausted,
    /// `Exhausted` and `Contended`.
    Any,
}

/// An action in slot `slot`.
pub fn op(kind: u32, slot: usize, size: u64, align: u32) -> Op {
    Op {
        kind,
        slot: slot as u32,
        size: u32::try_from(size).expect("sizes of programs have 32 bits"),
        align,
    }
}

/// Malloc of `size` bytes, aligned to a granule, into a slot.
pub fn malloc(slot: usize, size: u64) -> Op {
    op(MALLOC, slot, size, 16)
}

/// Check and free a slot.
pub fn free(slot: usize) -> Op {
    op(FREE, slot, 0, 1)
}

/// Check a slot.
pub fn check(slot: usize) -> Op {
    op(CHECK, slot, 0, 1)
}

/// Resize a slot.
pub fn realloc(slot: usize, size: u64) -> Op {
    op(REALLOC, slot, size, 1)
}

/// Relocate a slot.
pub fn relocate(slot: usize) -> Op {
    op(MOVE, slot, 0, 1)
}

/// Begin a compaction of what is less than `percent` in use, the share with this index of `count`.
pub fn begin_compaction(percent: u32, index: usize, count: usize) -> Op {
    op(BEGIN, index, u64::from(percent), count as u32)
}

/// End a compaction, such a share.
pub fn end_compaction(index: usize, count: usize) -> Op {
    op(END, index, 0, count as u32)
}

/// What an outcome's code stands for, if it is an allocator's error.
pub fn error_of(code: u32) -> Option<AllocError> {
    match code {
        1 => Some(AllocError::Exhausted),
        2 => Some(AllocError::Contended),
        3 => Some(AllocError::Unsupported),
        _ => None,
    }
}

/// What the small kernels carry out: mallocs and frees.
pub const MALLOCS: &[u32] = &[MALLOC, ARRAY, FREE, CHECK];
const CALLOCS: &[u32] = &[CALLOC];
const RESIZES: &[u32] = &[REALLOC];
const MOVES: &[u32] = &[MOVE, BEGIN, END];

/// A heap, the slots for its blocks, and what the host knows of them.
pub struct TestHeap<'s, A> {
    /// Where it is.
    pub site: &'s Site,
    /// The heap.
    pub pool: Pool<A>,
    /// Lanes of a block of each launch.
    pub block_dim: u32,
    slots: DeviceVec<Slot>,
    clock: DeviceVec<u32>,
    /// What each slot holds.
    held: Vec<Option<Held>>,
    /// Failed requests so far, by cause.
    failures: [u32; 3],
    /// Bytes that those asked for which found nothing, in whole granules.
    refused: u64,
}

#[derive(Clone, Copy)]
struct Held {
    size: u64,
    align: u32,
    life: Lifetime,
}

/// The buffers of one launch of a program.
pub struct Launchable<'h, A> {
    /// The heap.
    pub pool: &'h Pool<A>,
    /// The shape.
    pub config: LaunchConfig,
    /// All actions.
    pub ops: DeviceVec<Op>,
    /// Where the actions of each lane begin.
    pub starts: DeviceVec<u32>,
    /// The slots.
    pub slots: &'h DeviceVec<Slot>,
    /// What comes of the actions.
    pub outcomes: DeviceVec<Outcome>,
    /// The clock.
    pub clock: &'h DeviceVec<u32>,
}

impl<'s, A: HostAlloc> TestHeap<'s, A> {
    /// A heap of `bytes` bytes and so many slots.
    pub fn new(site: &'s Site, bytes: u64, slots: usize) -> Self {
        Self::with(site, bytes, slots, &A::Config::default())
    }

    /// The same, with settings.
    pub fn with(site: &'s Site, bytes: u64, slots: usize, config: &A::Config) -> Self {
        let pool = site.device.reserve_with::<A>(bytes, config);
        Self::over(site, pool.expect("the heap is made"), slots)
    }

    /// The heap of a pool that was made, and so many slots.
    pub fn over(site: &'s Site, pool: Pool<A>, slots: usize) -> Self {
        let device = &site.device;
        TestHeap {
            site,
            pool,
            // Neither a power of two nor a multiple of any warp width: the last warp is not full.
            block_dim: 100,
            slots: DeviceVec::from_slice(device, &vec![Slot::EMPTY; slots]).expect("slots"),
            clock: DeviceVec::zeroed(device, 1).expect("a clock"),
            held: vec![None; slots],
            failures: [0; 3],
            refused: 0,
        }
    }

    fn launch(
        &self,
        program: &[Vec<Op>],
        launch: impl FnOnce(&Launchable<'_, A>) -> Result<LaunchReport, DeviceError>,
    ) -> Vec<Vec<Outcome>> {
        let device = &self.site.device;
        let ops: Vec<Op> = program.iter().flatten().copied().collect();
        let mut starts = vec![0u32];
        for lane in program {
            starts.push(starts[starts.len() - 1] + lane.len() as u32);
        }
        let lanes = program.len() as u32;
        let unseen = Outcome {
            code: u32::MAX,
            granule: 0,
            begin: 0,
            end: 0,
        };
        let launchable = Launchable {
            pool: &self.pool,
            config: LaunchConfig {
                grid_dim: lanes.div_ceil(self.block_dim).max(1),
                block_dim: self.block_dim,
            },
            ops: DeviceVec::from_slice(device, &ops).expect("actions"),
            starts: DeviceVec::from_slice(device, &starts).expect("starts"),
            slots: &self.slots,
            outcomes: DeviceVec::from_slice(device, &vec![unseen; ops.len()]).expect("outcomes"),
            clock: &self.clock,
        };
        if let Err(error) = launch(&launchable) {
            panic!("{} on {}: {error}", A::NAME, device.info().name);
        }
        let mut taken = launchable.outcomes.to_vec().expect("outcomes").into_iter();
        let lanes = program.iter();
        lanes
            .map(|ops| taken.by_ref().take(ops.len()).collect())
            .collect()
    }

    /// Runs a program in launches that take one action of every lane whose next one is of one of
    /// `kinds`, in turn.
    pub fn launch_steps(
        &self,
        program: &[Vec<Op>],
        kinds: &[&'static [u32]],
        launch: impl Fn(&Launchable<'_, A>, &'static [u32]) -> Result<LaunchReport, DeviceError>,
    ) -> Vec<Vec<Outcome>> {
        let mut outcomes: Vec<Vec<Outcome>> = vec![Vec::new(); program.len()];
        let left = |outcomes: &[Vec<Outcome>]| {
            let mut lanes = outcomes.iter().zip(program);
            lanes.any(|(done, ops)| done.len() < ops.len())
        };
        let mut known = program.iter().flatten().map(|op| op.kind);
        assert!(known.all(|kind| kinds.iter().any(|part| part.contains(&kind))));
        while left(&outcomes) {
            for part in kinds {
                let next = |(ops, done): (&Vec<Op>, &Vec<Outcome>)| {
                    let op = ops.get(done.len()).copied();
                    op.filter(|op| part.contains(&op.kind))
                        .into_iter()
                        .collect()
                };
                let next: Vec<Vec<Op>> = program.iter().zip(&outcomes).map(next).collect();
                if next.iter().any(|ops| !ops.is_empty()) {
                    let done = self.launch(&next, |launchable| launch(launchable, part));
                    for (all, done) in outcomes.iter_mut().zip(done) {
                        all.extend(done);
                    }
                }
            }
        }
        outcomes
    }

    /// Bytes asked for by the blocks that are live.
    pub fn live_bytes(&self) -> u64 {
        self.held.iter().flatten().map(|held| held.size).sum()
    }

    /// Bytes from the start of the heap to the end of the last live block.
    pub fn end_of_blocks(&self) -> u64 {
        let held = self.held.iter().flatten();
        held.map(|held| held.life.start + held.size)
            .max()
            .unwrap_or(0)
    }

    /// Where the block in a slot begins, if there is one.
    pub fn start_of(&self, slot: usize) -> Option<u64> {
        self.held[slot].map(|held| held.life.start)
    }

    /// The slots that hold no block.
    pub fn empty(&self) -> Vec<usize> {
        (0..self.held.len())
            .filter(|&slot| self.held[slot].is_none())
            .collect()
    }

    /// The slots that hold a block.
    pub fn taken(&self) -> Vec<usize> {
        (0..self.held.len())
            .filter(|&slot| self.held[slot].is_some())
            .collect()
    }

    /// Makes the heap fresh: every block is gone.
    pub fn reset(&mut self) {
        self.pool.reset().expect("the heap is formatted");
        self.forget();
    }

    /// Forgets all blocks and failures, of a heap that was made fresh.
    pub fn forget(&mut self) {
        let empty = vec![Slot::EMPTY; self.held.len()];
        self.slots.copy_from(&empty).expect("the slots are emptied");
        self.held.fill(None);
        self.failures = [0; 3];
        self.refused = 0;
    }
}

impl<A: Subject> TestHeap<'_, A> {
    /// Runs a program; see [`judge`](Self::judge). A device that compiles slowly takes it in many
    /// launches of small kernels.
    pub fn run(&mut self, program: &[Vec<Op>], allowed: Failures) -> Vec<Vec<Outcome>> {
        let kernels = &self.site.kernels;
        let outcomes = if self.site.compiles_slowly() {
            self.launch_steps(program, &[MALLOCS, CALLOCS, RESIZES, MOVES], |l, part| {
                let (pool, config, ops, starts) = (l.pool, l.config, &l.ops, &l.starts);
                let (slots, outcomes, clock) = (l.slots, &l.outcomes, l.clock);
                match part {
                    CALLOCS => {
                        kernels.step_callocs(pool, config, ops, starts, slots, outcomes, clock)
                    }
                    RESIZES => {
                        kernels.step_resizes(pool, config, ops, starts, slots, outcomes, clock)
                    }
                    MOVES => kernels.step_moves(pool, config, ops, starts, slots, outcomes, clock),
                    _ => kernels.step_mallocs(pool, config, ops, starts, slots, outcomes, clock),
                }
            })
        } else {
            self.launch(program, |l| {
                let (ops, starts, slots) = (&l.ops, &l.starts, l.slots);
                kernels.run_programs(l.pool, l.config, ops, starts, slots, &l.outcomes, l.clock)
            })
        };
        self.judge(program, &outcomes, allowed);
        outcomes
    }

    /// Frees the blocks in these slots, spread over `lanes` lanes.
    pub fn free_all(&mut self, slots: &[usize], lanes: usize) {
        let mut program = vec![Vec::new(); lanes];
        for (i, &slot) in slots.iter().enumerate() {
            program[i % lanes].push(free(slot));
        }
        self.run(&program, Failures::None);
    }

    /// Checks all blocks, each by a lane of its own.
    pub fn check_all(&mut self) {
        let program: Vec<_> = self.taken().into_iter().map(|s| vec![check(s)]).collect();
        self.run(&program, Failures::None);
    }
}

/// Malloc and calloc are interchangeable in most programs: `CALLOC` for every third.
pub fn any_malloc(i: usize, slot: usize, size: u64, align: u32) -> Op {
    op(if i % 3 == 2 { CALLOC } else { MALLOC }, slot, size, align)
}
