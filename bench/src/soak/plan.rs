//! What the lanes of a launch do.

use super::dice::Dice;
use super::sizes::{Law, Sizes};
use super::table::Table;
use std::collections::HashSet;
use std::fmt;
use warpheap_bench_kernels::replay::{DROP, FREE, MALLOC, RESIZE, Step, TRY};

/// The most steps of a lane.
pub(super) const MOST_STEPS: u32 = 4;
/// Blocks whose numbers are multiples of this one live long: they are passed over this often where others go.
const LONG: u32 = 16;

/// A step, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation(pub Option<Step>);

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = self.0 else {
            return f.write_str("nothing");
        };
        match step.what {
            FREE | DROP => f.write_str("free"),
            RESIZE => write!(f, "realloc to {} bytes", step.bytes),
            _ => write!(f, "malloc of {} bytes", step.bytes),
        }
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
    /// Requests may fail: their blocks are tried for.
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
    /// Bytes that are asked for.
    pub asked: u64,
    /// The largest request.
    pub largest: u32,
}

impl Plan {
    /// Lanes that take part.
    pub fn lanes(&self) -> u32 {
        (self.begins.len() as u32).saturating_sub(1)
    }

    /// How many steps are requests, also for another size.
    pub fn requests(&self) -> u32 {
        let requests = self.steps.iter();
        requests
            .filter(|step| [MALLOC, TRY, RESIZE].contains(&step.what))
            .count() as u32
    }
}

/// How the lanes of a warp go about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Each as it likes.
    Each,
    /// All begin with a request of the same size.
    Same(u32),
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
        };
        let mut manner = Manner::Each;
        for lane in 0..lanes {
            if lane % width == 0 {
                manner = draft.manner(width);
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
    fn manner(&mut self, width: u32) -> Manner {
        let (aim, dice) = (self.aim, &mut self.planner.dice);
        match dice.below(16) {
            0..4 if aim.mallocs > 0 => Manner::Same(self.planner.sizes.draw(aim.law, dice)),
            4 | 5 => Manner::One(dice.below(width)),
            6 if aim.mallocs > 0 => Manner::None,
            _ => Manner::Each,
        }
    }

    /// No more than `most` steps of a lane.
    fn lane(&mut self, manner: Manner, most: usize) {
        let end = self.plan.steps.len() + most;
        if let (Manner::Same(bytes), true) = (manner, most > 0) {
            self.malloc(Some(bytes), end);
        }
        // Where nothing is left to do, a lane has fewer.
        for _ in 0..2 * most {
            if self.plan.steps.len() >= end {
                break;
            }
            let aim = self.aim;
            // What may be asked for is: all that were left to do would empty a heap that is to be filled.
            if aim.mallocs > aim.frees && self.plan.asked >= aim.budget {
                break;
            }
            let kind = self
                .planner
                .dice
                .below(aim.mallocs + aim.frees + aim.resizes);
            if kind < aim.mallocs {
                self.malloc(None, end);
            } else if kind < aim.mallocs + aim.frees {
                self.free();
            } else {
                self.resize();
            }
        }
    }

    fn push(&mut self, what: u32, block: u32, bytes: u32) {
        self.touched.insert(block);
        self.plan.steps.push(Step { what, block, bytes });
        if what != FREE && what != DROP {
            self.plan.asked += u64::from(bytes);
            self.plan.largest = self.plan.largest.max(bytes);
        }
    }

    /// A new block; some go again at once, also in another size.
    fn malloc(&mut self, bytes: Option<u32>, end: usize) {
        let (aim, table) = (self.aim, self.table);
        let left = aim.budget.saturating_sub(self.plan.asked);
        let dice = &mut self.planner.dice;
        let bytes = bytes.unwrap_or_else(|| self.planner.sizes.draw(aim.law, dice));
        if self.numbers == 0 || left == 0 {
            return;
        }
        let bytes = bytes.min(u32::try_from(left).unwrap_or(u32::MAX));
        self.numbers -= 1;
        let block = table.free()[self.numbers];
        if aim.tries {
            return self.push(TRY, block, bytes);
        }
        let short = dice.once_in(8);
        let resized = dice.once_in(4);
        self.push(MALLOC, block, bytes);
        if short && resized && self.plan.steps.len() + 1 < end {
            let dice = &mut self.planner.dice;
            let bytes = self.planner.sizes.another(bytes, aim.law, dice);
            self.push(RESIZE, block, bytes);
        }
        if short && self.plan.steps.len() < end {
            self.push(FREE, block, 0);
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

    fn free(&mut self) {
        if let Some(block) = self.some() {
            self.push(FREE, block, 0);
        }
    }

    fn resize(&mut self) {
        let Some(block) = self.some() else { return };
        let old = self.table.place(block).bytes;
        let dice = &mut self.planner.dice;
        let bytes = self.planner.sizes.another(old, self.aim.law, dice);
        let left = self.aim.budget.saturating_sub(self.plan.asked);
        if u64::from(bytes) <= left || bytes <= old {
            self.push(RESIZE, block, bytes);
        }
    }
}

#[cfg(test)]
mod tests;
