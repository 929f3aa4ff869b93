//! A trace as what lanes have to do to make its requests again.
//!
//! Requests are made launch by launch, each by the lane that made it, in the lane's order. Which lane of a launch was first is not
//! repeated, but for one thing: what a lane does to a block that another lane had in the same launch comes in a later *round*, which is
//! a launch of its own. No lane ever waits for another.
//!
//! Lanes keep their places in their warps. Warps without requests are left out.

use crate::BenchError;
use std::collections::{HashMap, VecDeque};
use warpheap_bench_kernels::replay::{DROP, FREE, MALLOC, RESIZE, Step, TRY};
use warpheap_rt::host::{Trace, TraceCall, TraceEvent};

/// Lanes that keep their places: those of the widest warp.
const WARP: u32 = 64;

/// A trace, ready to be replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What it is called in tables.
    pub name: String,
    /// The launches, in order.
    pub rounds: Vec<Round>,
    /// What lanes do: those of a lane of a round follow each other.
    pub steps: Vec<Step>,
    /// Where those of each lane begin; a round has one more than it has lanes.
    pub begins: Vec<u32>,
    /// How many blocks there are.
    pub blocks: u32,
    /// Requests for blocks, of another size too, also those that failed in the trace.
    pub requests: u64,
    /// Events that cannot be replayed: the blocks are not in the trace, because they are older, or because of events that were lost.
    pub left_out: u64,
}

/// A launch of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Index of its first lane's begin.
    pub first: u32,
    /// Its lanes.
    pub lanes: u32,
    /// Whether the heap is made fresh before.
    pub fresh: bool,
    /// Number of the first block since the heap was made fresh.
    pub since: u32,
    /// Bytes of the blocks that are there afterwards, if no request failed but those that failed in the trace.
    pub live: u64,
}

/// A block that is in use.
#[derive(Clone, Copy)]
struct Block {
    number: u32,
    bytes: u32,
    last: Last,
}

/// Who had a block last.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Last {
    part: u32,
    round: u32,
    lane: u32,
}

/// A step, who makes it in which round, and what it changes in the number of bytes in use.
struct Made {
    round: u32,
    lane: u32,
    step: Step,
    bytes: i64,
}

/// A script that is being made.
#[derive(Default)]
struct Writer {
    script: Script,
    /// By granule.
    live: HashMap<u32, Block>,
    live_bytes: u64,
    /// The launch, or the part of it since the heap was made fresh.
    part: u32,
    made: Vec<Made>,
    /// The round that each lane is in.
    rounds: HashMap<u32, u32>,
    /// By lane, what it is about to resize: nothing is known of blocks that are not in the trace.
    resizing: HashMap<u32, VecDeque<Option<Block>>>,
    /// By lane, how many blocks it resized of which is yet to come what they were: the clock does not tell the order of all events.
    early: HashMap<u32, u32>,
    /// Whether the heap is made fresh before the next round, and the number of the first block from then on.
    fresh: bool,
    since: u32,
}

impl Script {
    /// What lanes have to do to make the requests of `trace` again.
    ///
    /// # Errors
    /// [`BenchError::Unreplayable`] for a trace without requests, or with more than can be counted in a word.
    pub fn new(trace: &Trace, name: &str) -> Result<Self, BenchError> {
        let mut writer = Writer::default();
        let mut launch = None;
        for event in &trace.events {
            if launch.replace(event.launch) != Some(event.launch) {
                writer.end_part();
            }
            writer.event(event);
        }
        writer.end_part();
        let script = writer.script;
        let unreplayable = |why| BenchError::Unreplayable {
            name: name.to_owned(),
            why,
        };
        if script.requests == 0 {
            return Err(unreplayable("it has no requests: record it again"));
        }
        if script.steps.len().max(script.begins.len()) > u32::MAX as usize {
            return Err(unreplayable(
                "it has too many requests: record a smaller job",
            ));
        }
        Ok(Script {
            name: name.to_owned(),
            ..script
        })
    }

    /// The most lanes of a round.
    pub fn lanes(&self) -> u32 {
        self.rounds
            .iter()
            .map(|round| round.lanes)
            .max()
            .unwrap_or(1)
    }
}

impl Writer {
    fn event(&mut self, event: &TraceEvent) {
        let (lane, granule) = (event.lane, event.granule);
        // Of blocks of 4 GiB and more the size is not kept in full.
        let bytes = u32::try_from(event.bytes).unwrap_or(u32::MAX);
        match event.call {
            TraceCall::Malloc => {
                self.begin(lane, granule, bytes);
            }
            TraceCall::Failed(_) | TraceCall::NotResized(_) => {
                let number = self.number();
                let round = self.round(lane, None);
                self.make(round, lane, [TRY, number, bytes], 0);
                self.make(round, lane, [DROP, number, 0], 0);
                self.script.requests += 1;
            }
            TraceCall::Free => match self.live.remove(&granule) {
                Some(block) => self.end(lane, block),
                None => self.script.left_out += 1,
            },
            TraceCall::ResizedFrom => self.resized_from(lane, granule),
            TraceCall::ResizedTo => self.resized_to(lane, granule, bytes),
            TraceCall::Reset => {
                self.end_part();
                self.live.clear();
                self.live_bytes = 0;
                self.fresh = true;
                self.since = self.script.blocks;
            }
        }
    }

    /// The number of a block that is new.
    fn number(&mut self) -> u32 {
        let number = self.script.blocks;
        self.script.blocks = number.saturating_add(1);
        number
    }

    /// A block is asked for.
    fn begin(&mut self, lane: u32, granule: u32, bytes: u32) {
        let number = self.number();
        let round = self.round(lane, None);
        self.make(round, lane, [MALLOC, number, bytes], bytes.into());
        self.script.requests += 1;
        self.put(granule, lane, round, number, bytes);
    }

    /// A block is in use from now on. One that was there before was freed, which is lost.
    fn put(&mut self, granule: u32, lane: u32, round: u32, number: u32, bytes: u32) {
        let part = self.part;
        let last = Last { part, round, lane };
        let block = Block {
            number,
            bytes,
            last,
        };
        if let Some(lost) = self.live.insert(granule, block) {
            self.end(lane, lost);
        }
    }

    /// A block is given back.
    fn end(&mut self, lane: u32, block: Block) {
        let round = self.round(lane, Some(block.last));
        let bytes = -i64::from(block.bytes);
        self.make(round, lane, [FREE, block.number, 0], bytes);
    }

    fn resized_from(&mut self, lane: u32, granule: u32) {
        let block = self.live.remove(&granule);
        self.script.left_out += u64::from(block.is_none());
        match self.early.get_mut(&lane) {
            Some(early) if *early > 0 => {
                *early -= 1;
                if let Some(block) = block {
                    self.end(lane, block);
                }
            }
            _ => self.resizing.entry(lane).or_default().push_back(block),
        }
    }

    fn resized_to(&mut self, lane: u32, granule: u32, bytes: u32) {
        let from = self.resizing.get_mut(&lane).and_then(VecDeque::pop_front);
        match from {
            Some(Some(block)) => {
                let round = self.round(lane, Some(block.last));
                let more = i64::from(bytes) - i64::from(block.bytes);
                self.make(round, lane, [RESIZE, block.number, bytes], more);
                self.script.requests += 1;
                self.put(granule, lane, round, block.number, bytes);
            }
            Some(None) => self.begin(lane, granule, bytes),
            None => {
                *self.early.entry(lane).or_default() += 1;
                self.begin(lane, granule, bytes);
            }
        }
    }

    /// The round in which a lane makes its next step: that of its last one, and behind what another lane did to the block.
    fn round(&mut self, lane: u32, last: Option<Last>) -> u32 {
        let round = self.rounds.entry(lane).or_default();
        if let Some(last) = last
            && last.part == self.part
        {
            *round = (*round).max(last.round + u32::from(last.lane != lane));
        }
        *round
    }

    fn make(&mut self, round: u32, lane: u32, [what, block, bytes]: [u32; 3], change: i64) {
        self.made.push(Made {
            round,
            lane,
            step: Step { what, block, bytes },
            bytes: change,
        });
    }

    /// What was made of a launch, or of a part of it, becomes rounds.
    fn end_part(&mut self) {
        let resizing = std::mem::take(&mut self.resizing);
        let mut lost: Vec<(u32, Block)> = Vec::new();
        for (lane, blocks) in resizing {
            lost.extend(blocks.into_iter().flatten().map(|block| (lane, block)));
        }
        // What a block became is lost.
        lost.sort_unstable_by_key(|(_, block)| block.number);
        lost.into_iter()
            .for_each(|(lane, block)| self.end(lane, block));
        let mut made = std::mem::take(&mut self.made);
        // Stable: a lane's steps stay in their order.
        made.sort_by_key(|one| (one.round, one.lane));
        for round in made.chunk_by(|a, b| a.round == b.round) {
            self.add_round(round);
        }
        self.rounds.clear();
        self.early.clear();
        self.part += 1;
    }

    /// Adds a round; its steps are sorted by lane.
    fn add_round(&mut self, made: &[Made]) {
        let script = &mut self.script;
        let first = script.begins.len() as u32;
        let mut lanes = 0;
        let warps = made.chunk_by(|a, b| a.lane / WARP == b.lane / WARP);
        for (of_warp, warp) in warps.zip(0..) {
            for of_lane in of_warp.chunk_by(|a, b| a.lane == b.lane) {
                let lane = warp * WARP + of_lane[0].lane % WARP;
                // Those before it have nothing to do.
                while lanes <= lane {
                    script.begins.push(script.steps.len() as u32);
                    lanes += 1;
                }
                script.steps.extend(of_lane.iter().map(|one| one.step));
            }
        }
        script.begins.push(script.steps.len() as u32);
        let live = made.iter().fold(self.live_bytes, |live, one| {
            live.saturating_add_signed(one.bytes)
        });
        self.live_bytes = live;
        script.rounds.push(Round {
            first,
            lanes,
            fresh: std::mem::take(&mut self.fresh),
            since: self.since,
            live,
        });
    }
}

#[cfg(test)]
mod tests;
