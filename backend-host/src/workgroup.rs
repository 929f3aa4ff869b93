//! The lanes of a block, as the collective operations of the whole block see them.

use crate::describe::ranges;
use crate::shared::SharedMemory;
use std::cell::Cell;
use std::fmt;

/// A collective operation over all lanes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockOp {
    /// Waits for all.
    Barrier,
    /// Gives all lanes the value of one.
    Broadcast {
        /// Index of that lane in its block.
        source: u32,
    },
}

impl fmt::Display for BlockOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlockOp::Barrier => f.write_str("block_barrier"),
            BlockOp::Broadcast { source } => write!(f, "block_broadcast from lane {source}"),
        }
    }
}

/// Where a lane is, as far as its block knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It has not started, runs, or waits for lanes of its warp.
    Elsewhere,
    /// It waits for its block.
    Waiting,
    Ended,
}

/// A block of lanes. Indices are those of lanes in their block.
///
/// Lanes that wait are all at the same operation: one that comes to another operation, or to its end,
/// makes it certain that the operation never completes, and is told of at once.
#[derive(Debug)]
pub(crate) struct Block {
    lanes: Box<[Cell<Place>]>,
    /// What those that wait are at.
    op: Cell<BlockOp>,
    /// What the source of the broadcast that lanes wait at brought.
    value: Cell<u32>,
    /// What the last complete broadcast gives.
    answer: Cell<u32>,
    waiting: Cell<u32>,
    ended: Cell<u32>,
    /// Operations that are complete.
    rounds: Cell<u64>,
    shared: SharedMemory,
}

impl Block {
    /// A block of so many lanes, none of which has started.
    pub(crate) fn new(lanes: u32) -> Self {
        Block {
            lanes: (0..lanes).map(|_| Cell::new(Place::Elsewhere)).collect(),
            op: Cell::new(BlockOp::Barrier),
            value: Cell::new(0),
            answer: Cell::new(0),
            waiting: Cell::new(0),
            ended: Cell::new(0),
            rounds: Cell::new(0),
            shared: SharedMemory::default(),
        }
    }

    /// What the lanes share.
    pub(crate) fn shared(&self) -> &SharedMemory {
        &self.shared
    }

    /// Makes it another block of as many lanes.
    pub(crate) fn begin(&self) {
        for lane in &self.lanes {
            lane.set(Place::Elsewhere);
        }
        self.waiting.set(0);
        self.ended.set(0);
        self.shared.begin();
    }

    /// Operations that have been completed.
    pub(crate) fn rounds(&self) -> u64 {
        self.rounds.get()
    }

    /// What the last broadcast gives. It stays until all lanes have come to the next one.
    pub(crate) fn answer(&self) -> u32 {
        self.answer.get()
    }

    /// Whether all lanes have ended.
    pub(crate) fn done(&self) -> bool {
        self.ended.get() as usize == self.lanes.len()
    }

    /// `lane` comes to an operation with `value`: whether it was the last one, so that all can go on.
    ///
    /// # Errors
    /// What is wrong, if the operation can never complete.
    pub(crate) fn arrive(&self, lane: u32, op: BlockOp, value: u32) -> Result<bool, String> {
        let count = self.lanes.len() as u32;
        if let BlockOp::Broadcast { source } = op
            && source >= count
        {
            return Err(format!("{op}: the block has only lanes 0-{}", count - 1));
        }
        if self.waiting.get() == 0 {
            self.op.set(op);
        } else if self.op.get() != op {
            return Err(self.diverged(&format!("lane {lane} of the block is at {op}; ")));
        }
        self.lanes[lane as usize].set(Place::Waiting);
        let waiting = self.waiting.get() + 1;
        self.waiting.set(waiting);
        if self.ended.get() != 0 {
            return Err(self.diverged(""));
        }
        if op == (BlockOp::Broadcast { source: lane }) {
            self.value.set(value);
        }
        let complete = waiting == count;
        if complete {
            for lane in &self.lanes {
                lane.set(Place::Elsewhere);
            }
            self.waiting.set(0);
            self.answer.set(self.value.get());
            self.rounds.set(self.rounds.get() + 1);
        }
        Ok(complete)
    }

    /// `lane` has come to its end.
    ///
    /// # Errors
    /// What is wrong, if others wait for it.
    pub(crate) fn end(&self, lane: u32) -> Result<(), String> {
        self.lanes[lane as usize].set(Place::Ended);
        self.ended.set(self.ended.get() + 1);
        if self.waiting.get() == 0 {
            Ok(())
        } else {
            Err(self.diverged(""))
        }
    }

    /// What is wrong with lanes that wait for ever; `other` names what is not known here.
    #[cold]
    pub(crate) fn diverged(&self, other: &str) -> String {
        let at = |place| {
            let lanes = self.lanes.iter().zip(0..);
            let here = lanes.filter(move |(lane, _)| lane.get() == place);
            here.map(|(_, index)| index)
        };
        let op = self.op.get();
        let verb = |place, one, many| if at(place).count() == 1 { one } else { many };
        let mut text = format!(
            "divergent collective of the block, it can never complete: {} of the block {} at {op}; \
             {other}",
            ranges(at(Place::Waiting)),
            verb(Place::Waiting, "waits", "wait"),
        );
        if self.ended.get() != 0 {
            let ended = ranges(at(Place::Ended));
            text += &format!("{ended} {} ended; ", verb(Place::Ended, "has", "have"));
        }
        text + "every lane of the block must reach the same call"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lane_completes_an_operation_and_the_value_is_the_sources() {
        let block = Block::new(3);
        for round in 0..5 {
            let op = BlockOp::Broadcast { source: round % 3 };
            let arrive = |lane| block.arrive(lane, op, 10 * round + lane);
            assert_eq!(arrive(2), Ok(false));
            assert_eq!(arrive(0), Ok(false));
            assert_eq!(block.rounds(), round as u64);
            if let Some(before) = round.checked_sub(1) {
                assert_eq!(
                    block.answer(),
                    10 * before + before % 3,
                    "some may not have read it"
                );
            }
            assert_eq!(arrive(1), Ok(true));
            assert_eq!(block.rounds(), round as u64 + 1);
            assert_eq!(block.answer(), 10 * round + round % 3);
        }
        assert!((0..3).all(|lane| block.end(lane) == Ok(())));
        assert!(block.done());
        block.begin();
        assert!(!block.done());
        assert_eq!(block.arrive(0, BlockOp::Barrier, 0), Ok(false));
    }

    #[test]
    fn what_can_never_complete_is_told_at_once() {
        let block = Block::new(100);
        for lane in (0..40).chain([99]) {
            assert_eq!(block.arrive(lane, BlockOp::Barrier, 0), Ok(false));
        }
        let wait = "lanes 0-39, 99 of the block wait at block_barrier; ";
        let other = block.arrive(50, BlockOp::Broadcast { source: 7 }, 0);
        let other = other.expect_err("another operation");
        let at = "lane 50 of the block is at block_broadcast from lane 7; every";
        assert!(other.contains(&format!("{wait}{at}")), "{other}");
        let ended = block.end(60).expect_err("others wait");
        assert!(
            ended.contains(&format!("{wait}lane 60 has ended; every")),
            "{ended}"
        );

        block.begin();
        assert_eq!(block.end(3), Ok(()));
        assert_eq!(block.end(4), Ok(()));
        let late = block.arrive(5, BlockOp::Barrier, 0);
        let late = late.expect_err("two have ended");
        let both = "lane 5 of the block waits at block_barrier; lanes 3-4 have ended";
        assert!(late.contains(both), "{late}");

        block.begin();
        let far = block.arrive(5, BlockOp::Broadcast { source: 100 }, 0);
        let far = far.expect_err("no such lane");
        assert!(far.contains("from lane 100: the block has only lanes 0-99"));
    }
}
