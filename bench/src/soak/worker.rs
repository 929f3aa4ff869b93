//! One heap and the cycles that it goes through.

use super::check;
use super::fault::Fault;
use super::heap::{Heap, SIDES};
use super::phase::{Level, Phase, Round};
use super::plan::{Plan, Planner};
use super::series::Series;
use super::sizes::Law;
use super::table::{Settled, Table};
use std::time::{Duration, Instant};
use warpheap_api::header;
use warpheap_api::host::DeviceError;

/// At least every so many rounds the heap is looked at, unless that takes longer than the rounds.
const LOOKS: u32 = 8;

/// Rounds in which every other cycle begins with small blocks alone.
const SMALL: u32 = 8;

/// What becomes of a heap beside its cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing: it is as old as the run.
    Old,
    /// It is made fresh in each cycle, with blocks in it.
    Reset,
    /// It grows to so many bytes while it has blocks, and shrinks.
    Grows(u64),
}

/// What is known of an allocator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Whether blocks that were given back are used again.
    pub frees: bool,
    /// How much of the heap is to be in use, in percent.
    pub fill: u32,
    /// Whether no two launches run at the same time.
    pub one_launch: bool,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Requests that were served, and blocks that were given back.
    pub operations: u64,
    /// Launches.
    pub launches: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Cycles that ended.
    pub cycles: u64,
    /// Looks at the metadata.
    pub looks: u64,
    /// Times that the heap was made fresh with blocks in it.
    pub resets: u64,
    /// Times that it got another size.
    pub resizes: u64,
}

/// What was asked for since the metadata were looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    asked: u64,
    largest: u32,
    requests: u64,
}

/// Units that blocks tie which they do not fill, at most: about one for each size class.
const UNFILLED: u64 = 32;

impl Since {
    /// Bytes that can have been tied in a heap of these units since so many were: a block takes no more than twice what was asked
    /// for, and each request may be the first one of its size class in a unit.
    fn tied(self, before: u64, unit: u64) -> u64 {
        before + 2 * self.asked + unit * self.requests.min(UNFILLED)
    }
}

/// A heap and the cycles that it goes through.
pub(super) struct Worker<H> {
    heap: H,
    kind: Kind,
    facts: Facts,
    planner: Planner,
    tables: [Table; SIDES],
    phase: Phase,
    rounds: u32,
    since: Since,
    /// Bytes tied when it was looked at last, and requests that had failed by cause.
    tied: u64,
    refused: [u32; 3],
    /// Time that rounds and looks took.
    worked: Duration,
    looked: Duration,
    tally: Tally,
    /// Bytes tied over bytes of blocks, where churn ends.
    pub ratio: Series,
    /// The share of the heap that blocks have, in percent, where churn ends: what is tied for few blocks is much for each.
    pub filled: Series,
    /// The share of the heap that is tied, in percent, where it is empty.
    pub empty: Series,
}

fn device(error: DeviceError) -> Fault {
    Fault::Device(error.to_string())
}

impl<H: Heap> Worker<H> {
    /// A heap that is fresh, with tables of so many blocks.
    pub fn new(heap: H, kind: Kind, facts: Facts, planner: Planner, blocks: u32) -> Self {
        Worker {
            heap,
            kind,
            facts,
            planner,
            tables: [(); SIDES].map(|()| Table::new(blocks)),
            phase: Phase::Fill,
            rounds: 0,
            since: Since::default(),
            tied: 0,
            refused: [0; 3],
            worked: Duration::ZERO,
            looked: Duration::ZERO,
            tally: Tally::default(),
            ratio: Series::new("what is tied over what blocks have", 0.05),
            filled: Series::new("the percentage of the heap that blocks have", 100.0),
            empty: Series::new("the percentage that is tied in an empty heap", 2.0),
        }
    }

    /// What was done so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Where it is: cycle, phase.
    pub fn place(&self) -> (u64, Phase) {
        (self.tally.cycles, self.phase)
    }

    /// What the heap is for, for messages.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Old => "the heap",
            Kind::Reset => "the heap that is made fresh",
            Kind::Grows(_) => "the heap that grows",
        }
    }

    fn room(&self) -> u64 {
        self.heap.bytes().saturating_sub(self.heap.metadata_bytes())
    }

    /// The percentage of the heap that so many bytes are.
    fn percent(&self, bytes: u64) -> f64 {
        100.0 * bytes as f64 / self.room().max(1) as f64
    }

    fn level(&self) -> Level {
        let sum = |of: fn(&Table) -> u64| self.tables.iter().map(of).sum();
        Level {
            room: self.room(),
            goal: self.room() / 100 * u64::from(self.facts.fill),
            live: sum(Table::bytes),
            blocks: sum(|table| table.live().len() as u64),
            free: sum(|table| table.free().len() as u64),
        }
    }

    /// Runs a launch, or two at the same time, and looks whether all is right.
    ///
    /// # Errors
    /// What is wrong.
    pub fn round(&mut self) -> Result<(), Fault> {
        let begin = Instant::now();
        let plans = self.plans();
        let named: Vec<(usize, &Plan)> = plans.iter().map(|(side, plan)| (*side, plan)).collect();
        let came = self.heap.run(&named).map_err(device)?;
        let mut round = Round::default();
        for ((side, plan), came) in plans.iter().zip(came) {
            let settled = self.tables[*side].settle(plan, &came.places, &came.counts)?;
            self.note(plan, settled);
            round.requests += plan.requests();
            round.failed += settled.failed;
        }
        self.tally.launches += plans.len() as u64;
        self.rounds += 1;
        round.rounds = self.rounds;
        let data = header::HEADER_WORDS as u64 * 4..self.heap.bytes();
        check::places(&self.tables, data)?;
        self.worked += begin.elapsed();

        let ends = self.phase.ends(self.level(), round);
        let full = matches!(self.phase, Phase::Full | Phase::Hold);
        let due = self.rounds.is_multiple_of(LOOKS) || (round.failed > 0 && !full);
        // What was asked for since the last look is to be little, as long as no request may fail.
        let early = self.phase == Phase::Fill && self.tied < self.room() / 2;
        if ends || early || (due && self.looked <= self.worked) {
            self.look()?;
        }
        match ends {
            true => self.end(),
            false => Ok(()),
        }
    }

    fn note(&mut self, plan: &Plan, settled: Settled) {
        self.since.asked += plan.asked;
        self.since.requests += u64::from(plan.requests());
        self.since.largest = self.since.largest.max(plan.largest);
        self.tally.operations += settled.operations;
        self.tally.failed += u64::from(settled.failed);
    }

    fn plans(&mut self) -> Vec<(usize, Plan)> {
        let both = self.planner.dice.once_in(2) && !self.facts.one_launch;
        let one = self.planner.dice.below(SIDES as u32) as usize;
        // Not a table that has nothing to do, while the other one has.
        let busy = |side: usize, tables: &[Table; SIDES]| match self.phase {
            Phase::Drain | Phase::Empty => !tables[side].live().is_empty(),
            _ => !tables[side].free().is_empty(),
        };
        let mut sides: Vec<usize> = (0..SIDES)
            .filter(|&side| busy(side, &self.tables))
            .collect();
        if !both && sides.len() > 1 {
            sides = vec![one];
        }
        let level = self.level();
        let mut aim = self.phase.aim(self.tally.cycles, level, sides.len() as u64);
        let left = match self.phase {
            Phase::Full | Phase::Hold => level.room,
            _ => level.goal,
        };
        let left = left.saturating_sub(level.live);
        let small = self.phase == Phase::Fill && self.rounds < SMALL && self.tally.cycles % 2 == 1;
        aim.law = match small {
            true => Law::Small,
            false => self.planner.sizes.law_for(aim.law, left, level.free),
        };
        let plans = sides.into_iter();
        plans
            .map(|side| (side, self.planner.plan(&self.tables[side], aim)))
            .collect()
    }

    /// Looks at the metadata.
    fn look(&mut self) -> Result<(), Fault> {
        let begin = Instant::now();
        let blocks = check::places(&self.tables, 0..u64::MAX)?;
        let snapshot = self.heap.snapshot().map_err(device)?;
        let audit = self.heap.audit().map_err(device)?;
        if !audit.is_clean() {
            return Err(Fault::Inconsistent(audit.to_string()));
        }
        check::snapshot(&snapshot, &blocks, self.facts.frees)?;
        let failures = snapshot.stats.failures;
        let [exhausted, _, unsupported] =
            [0, 1, 2].map(|cause| failures[cause].wrapping_sub(self.refused[cause]));
        if unsupported != 0 {
            return Err(Fault::Unsupported(unsupported));
        }
        let tied = snapshot.stats.usage.committed_bytes;
        let since = std::mem::take(&mut self.since);
        let most = since.tied(tied.max(self.tied), snapshot.unit_bytes);
        let largest = since.largest;
        let judged = self.facts.frees && u64::from(largest) <= snapshot.unit_bytes;
        if exhausted != 0 && judged && most < self.room() / 2 {
            return Err(Fault::Early {
                failed: exhausted,
                largest,
                tied: most,
                room: self.room(),
            });
        }
        (self.tied, self.refused) = (tied, failures);
        self.tally.looks += 1;
        self.looked += begin.elapsed();
        Ok(())
    }

    /// Ends a phase, behind a look.
    fn end(&mut self) -> Result<(), Fault> {
        let judged = self.kind == Kind::Old && self.facts.frees;
        let live = self.level().live;
        match (self.phase, self.kind) {
            (Phase::Churn, _) if judged && live > 0 => {
                self.filled.keep(self.percent(live));
                self.ratio.add(self.tied as f64 / live as f64)?;
            }
            (Phase::Churn, Kind::Reset) => {
                self.make_fresh()?;
                self.tally.resets += 1;
            }
            (Phase::Fill, Kind::Grows(most)) => self.grow(most)?,
            (Phase::Drain | Phase::Empty, Kind::Grows(_)) => self.shrink()?,
            (Phase::Empty, _) if judged => {
                self.empty.add(self.percent(self.tied))?;
            }
            _ => {}
        }
        self.rounds = 0;
        self.phase = match self.phase.next() {
            Some(next) => next,
            None => {
                if !self.facts.frees {
                    self.make_fresh()?;
                }
                self.tally.cycles += 1;
                Phase::Fill
            }
        };
        Ok(())
    }

    fn make_fresh(&mut self) -> Result<(), Fault> {
        self.heap.reset().map_err(device)?;
        self.tables.iter_mut().for_each(Table::clear);
        (self.tied, self.refused) = (0, [0; 3]);
        self.look()
    }

    fn grow(&mut self, most: u64) -> Result<(), Fault> {
        let bytes = self.heap.bytes();
        let wanted = (bytes + bytes / 2).min(most) & !15;
        self.heap.grow_to(wanted).map_err(device)?;
        self.tally.resizes += u64::from(wanted > bytes);
        self.is_of(wanted, || format!("grow to {wanted}"))
    }

    fn shrink(&mut self) -> Result<(), Fault> {
        let bytes = self.heap.bytes();
        let given = self.heap.shrink().map_err(device)?;
        self.tally.resizes += u64::from(given > 0);
        self.is_of(bytes - given, || format!("give {given} of {bytes} back"))
    }

    /// Looks at a heap that has another size.
    fn is_of(&mut self, bytes: u64, what: impl FnOnce() -> String) -> Result<(), Fault> {
        if self.heap.bytes() != bytes {
            return Err(Fault::Size {
                what: what(),
                bytes: self.heap.bytes(),
            });
        }
        let data = header::HEADER_WORDS as u64 * 4..bytes;
        check::places(&self.tables, data)?;
        self.look()
    }
}

#[cfg(test)]
mod tests;
