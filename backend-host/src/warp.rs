//! The state of a warp: which lanes can run, which wait and at what.

mod meet;

use crate::collective::{Op, lanes};
use crate::describe::describe;
use crate::fiber::{Resume, Suspender};
use crate::job::Job;
use crate::model::Model;
use crate::panics;
use crate::schedule::Scheduler;
use crate::workgroup::{Block, BlockOp};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use warpheap_rt::arch::simt::{LaneInfo, LaneSlot, Simt};

/// What a lane waits for.
#[derive(Clone, Copy)]
pub(crate) enum Wait {
    /// It could run, or has ended.
    Nothing,
    /// The others at this call of `active`.
    Active(&'static Location<'static>),
    /// The others of a collective operation.
    Op(Op),
    /// The others of its block.
    Block(BlockOp),
}

/// One lane of a warp.
struct Lane {
    /// What device code sees of the lane. Written only while the lane has not started.
    slot: UnsafeCell<LaneSlot>,
    wait: Cell<Wait>,
    /// The answer of the last collective operation.
    answer: Cell<u64>,
    /// Of a block that it is moving, which words nobody has written.
    carried: Cell<Vec<bool>>,
    suspender: Cell<*const Suspender>,
}

/// What a warp needs in explore mode.
#[derive(Clone)]
pub(crate) struct Explored {
    pub scheduler: Rc<Scheduler>,
    /// The warp's index there.
    pub seat: usize,
    /// The model of memory, if accesses go through it.
    pub model: Option<Rc<RefCell<Model>>>,
}

/// A warp in a seat: it is used for one warp of the launch after another.
///
/// Every lane that is present is in exactly one of `runnable`, `at_active`, `at_op`, `at_block`,
/// `ended`.
pub(crate) struct Warp {
    pub(crate) job: Arc<Job>,
    /// None in run mode.
    pub(crate) explored: Option<Explored>,
    number: Cell<u64>,
    block: RefCell<Rc<Block>>,
    present: Cell<u64>,
    runnable: Cell<u64>,
    at_active: Cell<u64>,
    at_op: Cell<u64>,
    at_block: Cell<u64>,
    /// How many operations of the block were complete when the lanes at it came there.
    rounds: Cell<u64>,
    started: Cell<u64>,
    ended: Cell<u64>,
    /// Releases in a row that left other lanes waiting.
    releases: Cell<u32>,
    /// Device calls until the watchdog looks at the clock.
    countdown: Cell<u32>,
    /// When the watchdog first looked during this warp.
    watched: Cell<Option<Instant>>,
    lanes: Box<[Lane]>,
}

/// What the emulator unwinds a lane with.
struct Cancelled;

/// Device calls between two looks at the clock.
const WATCH_EVERY: u32 = 1024;

impl Warp {
    /// A warp for the launch, not yet seated. It stays where it is: its lanes know its address.
    pub(crate) fn new(job: &Arc<Job>, explored: Option<Explored>) -> Box<Self> {
        let schedules = true;
        let model = explored.as_ref().and_then(|at| at.model.as_ref());
        let models_memory = model.is_some();
        let slot = |lane| LaneSlot {
            info: LaneInfo {
                grid_dim: job.grid_dim,
                block_dim: job.block_dim,
                block: 0,
                thread: 0,
                lane,
                width: job.width,
                processor: 0,
            },
            schedules,
            tracks_blocks: job.blocks.is_some() || models_memory,
            simt: ptr::null::<Warp>() as *const dyn Simt,
        };
        let mut warp = Box::new(Warp {
            job: job.clone(),
            explored,
            number: Cell::new(0),
            block: RefCell::new(Rc::new(Block::new(0))),
            present: Cell::new(0),
            runnable: Cell::new(0),
            at_active: Cell::new(0),
            at_op: Cell::new(0),
            at_block: Cell::new(0),
            rounds: Cell::new(0),
            started: Cell::new(0),
            ended: Cell::new(0),
            releases: Cell::new(0),
            countdown: Cell::new(WATCH_EVERY),
            watched: Cell::new(None),
            lanes: (0..job.width)
                .map(|lane| Lane {
                    slot: UnsafeCell::new(slot(lane)),
                    wait: Cell::new(Wait::Nothing),
                    answer: Cell::new(0),
                    carried: Cell::default(),
                    suspender: Cell::new(ptr::null()),
                })
                .collect(),
        });
        let simt: *const Warp = &*warp;
        for lane in &mut warp.lanes {
            lane.slot.get_mut().simt = simt as *const dyn Simt;
        }
        warp
    }

    /// Makes this the warp of the launch with this number, which is one of `lanes`; all its own are
    /// ready to start.
    pub(crate) fn begin(&self, number: u64, lanes: &Rc<Block>) {
        let job = &self.job;
        *self.block.borrow_mut() = lanes.clone();
        let block = job.block_of(number);
        let first = (number % job.warps_per_block as u64) as u32 * job.width;
        let count = (job.block_dim - first).min(job.width);
        let present = u64::MAX >> (64 - count);
        self.number.set(number);
        self.present.set(present);
        self.runnable.set(present);
        self.at_active.set(0);
        self.at_op.set(0);
        self.at_block.set(0);
        self.started.set(0);
        self.ended.set(0);
        self.releases.set(0);
        self.watched.set(None);
        for (index, lane) in self.lanes[..count as usize].iter().enumerate() {
            // SAFETY: no lane of the warp runs now, so nothing refers to the slot.
            let info = unsafe { &mut (*lane.slot.get()).info };
            info.block = block;
            info.thread = first + index as u32;
            info.processor = block % job.processors;
        }
        if let Some(model) = self.model() {
            let mut model = model.borrow_mut();
            for lane in 0..count {
                model.begin(self.who(lane), block, first + lane);
            }
        }
    }

    /// The model of memory, if accesses go through it.
    pub(crate) fn model(&self) -> Option<&RefCell<Model>> {
        self.explored.as_ref()?.model.as_deref()
    }

    /// A lane's index in the model.
    pub(crate) fn who(&self, lane: u32) -> u32 {
        let seat = self.explored.as_ref().map_or(0, |at| at.seat);
        seat as u32 * self.job.width + lane
    }

    /// The slot that device code runs with as `lane`.
    pub(crate) fn slot(&self, lane: u32) -> *const LaneSlot {
        self.lanes[lane as usize].slot.get()
    }

    /// Index of a lane in its block.
    fn thread(&self, lane: u32) -> u32 {
        // SAFETY: slots are written only while no lane of the warp runs.
        unsafe { (*self.slot(lane)).info.thread }
    }

    pub(crate) fn present(&self) -> u64 {
        self.present.get()
    }
    pub(crate) fn runnable(&self) -> u64 {
        self.runnable.get()
    }
    pub(crate) fn at_active(&self) -> u64 {
        self.at_active.get()
    }
    pub(crate) fn ended(&self) -> u64 {
        self.ended.get()
    }
    pub(crate) fn wait(&self, lane: u32) -> Wait {
        self.lanes[lane as usize].wait.get()
    }
    pub(crate) fn answer(&self, lane: u32) -> u64 {
        self.lanes[lane as usize].answer.get()
    }
    /// Keeps what the lane has to know once its block has moved.
    pub(crate) fn carry(&self, lane: u32, unwritten: Vec<bool>) {
        self.lanes[lane as usize].carried.set(unwritten);
    }
    /// Gives it back.
    pub(crate) fn carried(&self, lane: u32) -> Vec<bool> {
        self.lanes[lane as usize].carried.take()
    }
    /// The block that the warp is of.
    pub(crate) fn block(&self) -> Rc<Block> {
        self.block.borrow().clone()
    }
    /// Index of that block in the launch.
    pub(crate) fn block_index(&self) -> u32 {
        self.job.block_of(self.number.get())
    }
    /// Whether lanes wait for their block and all others have ended.
    pub(crate) fn waits_for_block(&self) -> bool {
        let at_block = self.at_block.get();
        at_block != 0 && at_block | self.ended.get() == self.present.get()
    }
    /// Whether all lanes have ended.
    pub(crate) fn done(&self) -> bool {
        self.ended.get() == self.present.get()
    }
    /// The lanes that started and neither ended nor were unwound.
    pub(crate) fn suspended(&self) -> u64 {
        self.started.get() & !self.ended.get()
    }

    /// Runs the kernel as `lane` to its end, on the calling stack. `suspender` is null where the
    /// lane can never need to wait.
    pub(crate) fn run_lane(&self, lane: u32, suspender: *const Suspender) {
        let bit = 1 << lane;
        self.lanes[lane as usize].suspender.set(suspender);
        self.started.set(self.started.get() | bit);
        let (entry, args) = (self.job.entry, &self.job.args);
        // SAFETY: whoever prepared the launch promised that entry and arguments belong together;
        // the backend put valid addresses into the arguments.
        let result = catch_unwind(AssertUnwindSafe(|| unsafe { entry(args) }));
        self.runnable.set(self.runnable.get() & !bit);
        self.ended.set(self.ended.get() | bit);
        match result {
            Ok(()) => {
                if self.at_op.get() != 0 {
                    self.check_missing(lane);
                }
                if let Err(wrong) = self.block.borrow().end(self.thread(lane)) {
                    self.fail_block(&wrong);
                }
                if let Some(at) = &self.explored {
                    at.scheduler.lane_ended();
                }
            }
            Err(payload) if payload.is::<Cancelled>() => {}
            Err(payload) => self.job.panicked(panics::caught(
                self.job.kernel,
                (self.block_index(), self.thread(lane)),
                payload,
            )),
        }
    }

    /// Suspends `lane` until it is resumed.
    #[inline]
    pub(crate) fn suspend(&self, lane: u32) {
        // SAFETY: set when the lane started, on a fiber that lives until the lane has ended.
        let suspender = unsafe { self.lanes[lane as usize].suspender.get().as_ref() };
        match suspender {
            Some(suspender) => {
                if suspender.suspend(()) != Resume::Go {
                    self.cancel();
                }
            }
            // A warp of one lane never waits; if it has to, the launch was stopped.
            None => self.cancel(),
        }
    }

    /// Ends the calling lane.
    #[cold]
    pub(crate) fn cancel(&self) -> ! {
        resume_unwind(Box::new(Cancelled))
    }

    /// Counts a device call in run mode: now and then looks whether the launch was stopped and
    /// whether the warp has run for too long.
    #[inline]
    pub(crate) fn tick(&self, lane: u32) {
        let left = self.countdown.get() - 1;
        self.countdown.set(left);
        if left == 0 {
            self.watch(lane);
        }
    }

    #[cold]
    fn watch(&self, lane: u32) {
        self.countdown.set(WATCH_EVERY);
        if self.job.stopped() {
            self.cancel();
        }
        let now = Instant::now();
        let since = self.watched.get().unwrap_or(now);
        self.watched.set(Some(since));
        let limit = self.job.watchdog;
        if now.duration_since(since) > limit {
            self.fail(
                None,
                &format!(
                    "deadlock or livelock: the warp has run for more than {limit:?}; lane {lane} is \
                     running; {}; bound the loop that waits, or give a kernel that is only long a larger HostConfig::watchdog",
                    describe(self)
                ),
            );
            self.cancel();
        }
    }

    /// Stops the launch if a lane waits for `ended`, which has just ended.
    fn check_missing(&self, ended: u32) {
        let waits = |lane| matches!(self.wait(lane), Wait::Op(op) if op.mask >> ended & 1 == 1);
        if lanes(self.at_op.get()).any(waits) {
            self.diverged();
        }
    }

    /// Stops the launch since lanes wait at collective operations that can never complete.
    #[cold]
    pub(crate) fn diverged(&self) {
        let what = format!(
            "divergent collective, it can never complete: {}; every lane of the set must reach the \
             same call",
            describe(self)
        );
        self.fail(None, &what);
    }

    /// Stops the launch; `what` went wrong in the block that the warp is of.
    #[cold]
    pub(crate) fn fail_block(&self, what: &str) {
        self.job
            .fail(&format!("block {}: {what}", self.block_index()));
    }

    /// Stops the launch; `what` went wrong in this warp, in `lane` if in one.
    #[cold]
    pub(crate) fn fail(&self, lane: Option<u32>, what: &str) {
        let place = self.place();
        self.job.fail(&match lane {
            Some(lane) => format!("{place}, lane {lane}: {what}"),
            None => format!("{place}: {what}"),
        });
    }

    /// Block and warp, as messages name them.
    pub(crate) fn place(&self) -> String {
        let per_block = self.job.warps_per_block as u64;
        let number = self.number.get();
        format!("block {}, warp {}", number / per_block, number % per_block)
    }
}
