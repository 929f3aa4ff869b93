//! What the lanes of a launch do.

use super::dice::Dice;
use super::sizes::{GRANULE, Law, Sizes};
use super::table::Table;
use std::collections::HashSet;
use std::fmt;
use warpheap_bench_kernels::soak::{
    CALLOC, FREE, FREE_WARP, MALLOC, MALLOC_WARP, NONE, RESIZE, Step,
};

/// The most steps of a lane.
pub(super) const MOST_STEPS: u32 = 4;
/// Blocks whose numbers are multiples of this one live long: they are passed over this often where others go.
const LONG: u32 = 16;
/// Of so many requests, one is for zeros, of no more than so many bytes: each word of them is looked at.
const ZEROS: u32 = 6;
const MOST_ZEROS: u32 = 32 << 10;

/// A step, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation(pub Option<Step>);

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = self.0 else {
            return f.write_str("nothing");
        };
        match step.what {
            FREE => f.write_str("free"),
            FREE_WARP => f.write_str("free_warp"),
            RESIZE => write!(f, "realloc to {} bytes", step.bytes),
            CALLOC => write!(f, "calloc of {} bytes", step.bytes),
            MALLOC_WARP => write!(f, "malloc_warp of {} bytes", step.bytes),
            _ => write!(f, "malloc of {} bytes", step.bytes),
        }?;
        match step.align > GRANULE {
            true => write!(f, " at a multiple of {}", step.align),
            false => Ok(()),
        }
    }
}

/// Whether a step gives a block back.
pub(super) fn gives_back(step: &Step) -> bool {
    [FREE, FREE_WARP].contains(&step.what)
}

/// Bytes of the heap that a request may come to: what lies in front of a block that is aligned is lost.
pub(super) fn footprint(bytes: u32, align: u32) -> u32 {
    match align > GRANULE {
        true => bytes.max(align),
        false => bytes,
    }
}

/// What is to be done with the blocks of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    /// Of so many steps together …
    pub mallocs: u32,
    /// … so many give blocks back …
    pub frees: u32,
    /// … and so many resize.
    pub resizes: u32,
    /// Requests may fail: what was asked for is not resized or freed in the same launch.
    pub tries: bool,
    /// Bytes that may be asked for.
    pub budget: u64,
    /// Their sizes.
    pub law: Law,
    /// Blocks that live long go as others do.
    pub long: bool,
}

/// The steps of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// What lanes do, those of a lane behind each other.
    pub steps: Vec<Step>,
    /// Where those of each lane begin, and the end.
    pub begins: Vec<u32>,
    /// Bytes that are asked for, with what alignments cost.
    pub asked: u64,
    /// The largest request, likewise.
    pub largest: u32,
}

impl Plan {
    /// Lanes that take part.
    pub fn lanes(&self) -> u32 {
        (self.begins.len() as u32).saturating_sub(1)
    }

    /// Steps, but for those of lanes that only go along with their warp.
    pub fn of_blocks(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.block != NONE)
    }

    /// How many steps are requests, also for another size.
    pub fn requests(&self) -> u32 {
        self.steps.iter().filter(|step| !gives_back(step)).count() as u32
    }
}

/// A request for a new block.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Request {
    what: u32,
    bytes: u32,
    align: u32,
}

/// How the lanes of a warp go about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Each as it likes.
    Each,
    /// All begin with the same request, each by itself.
    Same(Request),
    /// All begin with `malloc_warp`, each for this block, or for one of its own of no more than so many bytes.
    Ask(Option<Request>, u32),
    /// All begin with `free_warp`.
    Give,
    /// One alone.
    One(u32),
    /// None.
    None,
}

/// Makes plans.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    /// Where chance comes from.
    pub dice: Dice,
    /// The sizes that the heap serves.
    pub sizes: Sizes,
    /// Lanes of a launch.
    pub lanes: u32,
    /// Lanes of a warp.
    pub width: u32,
}

/// A plan that is being made.
struct Draft<'a> {
    planner: &'a mut Planner,
    table: &'a Table,
    aim: Aim,
    plan: Plan,
    /// Free numbers that were not given yet.
    numbers: usize,
    /// Blocks that have a step.
    touched: HashSet<u32>,
    /// How many are new, and how many of those that were there go.
    got: u64,
    given: u64,
}

impl Planner {
    /// The next launch on the blocks of a table. A block has steps of one lane alone; which lane frees it has nothing to do with
    /// which one asked for it.
    pub fn plan(&mut self, table: &Table, aim: Aim) -> Plan {
        let (lanes, width) = (self.lanes, self.width.max(1));
        let mut draft = Draft {
            planner: self,
            table,
            aim,
            plan: Plan::default(),
            numbers: table.free().len(),
            touched: HashSet::new(),
            got: 0,
            given: 0,
        };
        let mut manner = Manner::Each;
        for lane in 0..lanes {
            if lane % width == 0 {
                manner = draft.manner(width, lanes - lane >= width);
            }
            draft.plan.begins.push(draft.plan.steps.len() as u32);
            let in_warp = lane % width;
            let most = match manner {
                Manner::None => 0,
                Manner::One(only) if only != in_warp => 0,
                _ => 1 + draft.planner.dice.below(MOST_STEPS),
            };
            draft.lane(manner, most as usize);
        }
        draft.plan.begins.push(draft.plan.steps.len() as u32);
        draft.plan
    }
}

impl Draft<'_> {
    /// How the lanes of a warp go about it, which are there as a `whole` or in part.
    fn manner(&mut self, width: u32, whole: bool) -> Manner {
        let (aim, sizes) = (self.aim, self.planner.sizes);
        let kind = self.planner.dice.below(16);
        match kind {
            0..4 if aim.mallocs > 0 => Manner::Same(self.request(sizes.most())),
            4 | 5 => Manner::One(self.planner.dice.below(width)),
            6 if aim.mallocs > 0 => Manner::None,
            7 | 8 if whole && aim.mallocs > 0 => self.ask(width),
            9 if whole && aim.frees > 0 && self.may_give() => Manner::Give,
            _ => Manner::Each,
        }
    }

    /// Whether no more blocks go than should for those that come. Lanes that ask may ask for no more than is left; were those
    /// that give back not held to anything, a launch of many lanes would not fill a heap.
    fn may_give(&self) -> bool {
        self.given * u64::from(self.aim.mallocs) <= self.got * u64::from(self.aim.frees)
    }

    /// `malloc_warp`, if each lane can have a block.
    fn ask(&mut self, width: u32) -> Manner {
        let most = self.left() / u64::from(width);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        // Lanes before the last one may have other new blocks, too.
        if most == 0 || self.numbers < (width * MOST_STEPS) as usize {
            return Manner::Each;
        }
        let same = self.planner.dice.once_in(2);
        Manner::Ask(same.then(|| self.request(most)), most)
    }

    /// Bytes that may still be asked for.
    fn left(&self) -> u64 {
        self.aim.budget.saturating_sub(self.plan.asked)
    }

    /// A request of no more than so many bytes.
    fn request(&mut self, most: u32) -> Request {
        let (law, sizes) = (self.aim.law, self.planner.sizes);
        let dice = &mut self.planner.dice;
        let mut request = Request {
            what: MALLOC,
            bytes: sizes.draw(law, dice).min(most),
            align: GRANULE,
        };
        request.align = sizes.align(request.bytes, law, dice);
        if dice.once_in(ZEROS) {
            request.what = CALLOC;
            request.bytes = request.bytes.min(MOST_ZEROS);
        }
        request
    }

    /// No more than `most` steps of a lane.
    fn lane(&mut self, manner: Manner, most: usize) {
        let end = self.plan.steps.len() + most;
        match manner {
            Manner::Same(request) if most > 0 => self.malloc(Some(request), end),
            Manner::Ask(request, most) => {
                let request = request.unwrap_or_else(|| self.request(most));
                let what = MALLOC_WARP;
                self.malloc(Some(Request { what, ..request }), end);
            }
            Manner::Give => self.free(FREE_WARP),
            _ => {}
        }
        // Where nothing is left to do, a lane has fewer.
        for _ in 0..2 * most {
            if self.plan.steps.len() >= end {
                break;
            }
            let aim = self.aim;
            // What may be asked for is: all that were left to do would empty a heap that is to be filled.
            if aim.mallocs > aim.frees && self.left() == 0 {
                break;
            }
            let kind = self
                .planner
                .dice
                .below(aim.mallocs + aim.frees + aim.resizes);
            if kind < aim.mallocs {
                self.malloc(None, end);
            } else if kind < aim.mallocs + aim.frees {
                self.free(FREE);
            } else {
                self.resize();
            }
        }
    }

    fn push(&mut self, step: Step) {
        self.touched.insert(step.block);
        self.plan.steps.push(step);
        if !gives_back(&step) {
            let bytes = footprint(step.bytes, step.align);
            self.plan.asked += u64::from(bytes);
            self.plan.largest = self.plan.largest.max(bytes);
        }
    }

    /// A new block; some go again at once, also in another size.
    fn malloc(&mut self, request: Option<Request>, end: usize) {
        let (aim, table) = (self.aim, self.table);
        let mut request = request.unwrap_or_else(|| self.request(self.planner.sizes.most()));
        // Lanes of a warp that ask together do so whatever is left: no more than was left for each.
        if request.what != MALLOC_WARP {
            let left = u32::try_from(self.left()).unwrap_or(u32::MAX);
            if self.numbers == 0 || left == 0 {
                return;
            }
            request.bytes = request.bytes.min(left);
        }
        self.numbers -= 1;
        self.got += 1;
        let step = Step {
            what: request.what,
            block: table.free()[self.numbers],
            bytes: request.bytes,
            align: request.align,
        };
        self.push(step);
        let dice = &mut self.planner.dice;
        let short = dice.once_in(8) && !aim.tries;
        let resized = dice.once_in(4);
        if short && resized && self.plan.steps.len() + 1 < end {
            let dice = &mut self.planner.dice;
            let bytes = self.planner.sizes.another(step.bytes, aim.law, dice);
            self.push(Step {
                what: RESIZE,
                bytes,
                ..step
            });
        }
        if short && self.plan.steps.len() < end {
            self.push(Step {
                what: FREE,
                bytes: 0,
                ..step
            });
        }
    }

    /// A block that is there and has no step yet, if it is soon found.
    fn some(&mut self) -> Option<u32> {
        let live = self.table.live();
        let dice = &mut self.planner.dice;
        for _ in 0..8 {
            let Some(&block) = live.get(dice.below(live.len() as u32) as usize) else {
                break;
            };
            let stays = !self.aim.long && block % LONG == 0 && !dice.once_in(LONG);
            if !stays && !self.touched.contains(&block) {
                return Some(block);
            }
        }
        None
    }

    /// A lane whose warp gives back together goes along, also without a block.
    fn free(&mut self, what: u32) {
        match self.some() {
            Some(block) => {
                self.given += 1;
                self.push(Step {
                    what,
                    block,
                    bytes: 0,
                    align: self.table.align(block),
                });
            }
            None if what == FREE_WARP => self.plan.steps.push(Step {
                what,
                block: NONE,
                bytes: 0,
                align: GRANULE,
            }),
            None => {}
        }
    }

    fn resize(&mut self) {
        let Some(block) = self.some() else { return };
        let old = self.table.place(block).bytes;
        let dice = &mut self.planner.dice;
        let bytes = self.planner.sizes.another(old, self.aim.law, dice);
        if u64::from(bytes) <= self.left() || bytes <= old {
            self.push(Step {
                what: RESIZE,
                block,
                bytes,
                align: self.table.align(block),
            });
        }
    }
}

#[cfg(test)]
mod tests;
