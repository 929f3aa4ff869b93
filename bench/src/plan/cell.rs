//! One cell of a scenario, and what is done in it.

use crate::measure::sizes;
use crate::scenario::Scenario;
use warpheap_bench_kernels::mix::Mix;

/// What is done in one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Each of `n` lanes makes one request of `mix`, then frees it.
    Requests {
        /// The sizes.
        mix: Mix,
        /// Number of lanes.
        n: u32,
    },
    /// Lanes free and allocate in one kernel.
    Churn {
        /// The sizes.
        mix: Mix,
        /// Number of lanes.
        lanes: u32,
        /// Rounds of each.
        rounds: u32,
        /// Every so-manieth word of a block is written and checked.
        step: u32,
    },
    /// One size until a lane fails.
    Utilisation {
        /// The size.
        size: u32,
        /// The size that the heap is filled with afterwards.
        then: u32,
        /// Lanes that ask the full heap.
        asking: u32,
    },
    /// Where `n` blocks lie.
    Range {
        /// Their size.
        size: u32,
        /// Number of lanes.
        n: u32,
    },
    /// Making the heap fresh.
    StartUp,
    /// A clock around each malloc.
    Latency {
        /// The size.
        size: u32,
        /// Number of lanes.
        n: u32,
    },
    /// Churn of a heap that is filled first.
    Fill {
        /// The sizes.
        mix: Mix,
        /// How full, in percent of the blocks of this mix that the heap can hold.
        percent: u32,
        /// How many mallocs and frees.
        operations: u64,
    },
    /// Blocks that double by `realloc`.
    Realloc {
        /// The size at first.
        least: u32,
        /// How often they double.
        doublings: u32,
        /// Number of lanes.
        n: u32,
    },
    /// Vectors that grow by `push`.
    Vector {
        /// Elements of one word.
        elements: u32,
        /// Number of lanes.
        n: u32,
    },
    /// One kernel allocates, another frees.
    Handover {
        /// The size.
        size: u32,
        /// Number of lanes, a power of two.
        n: u32,
    },
    /// What the driver tells of the kernels.
    Resources,
    /// Blocks that go, and come again with other sizes.
    Sizes {
        /// Bytes that are asked for at first, in percent of the pool.
        percent: u32,
        /// Rounds.
        rounds: u32,
    },
    /// The requests of the lab's trace.
    Replay {
        /// The most lanes of a launch.
        lanes: u32,
    },
}

/// One cell of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The scenario.
    pub scenario: Scenario,
    /// What varies, in words.
    pub case: String,
    /// Bytes of the pool.
    pub pool: u64,
    /// What is done.
    pub work: Work,
}

impl Cell {
    /// Bytes of each request, where there is one size.
    pub fn size(&self) -> Option<u32> {
        match self.work {
            Work::Requests { mix, .. } => (mix.kinds == 1).then_some(mix.least),
            Work::Utilisation { size, .. }
            | Work::Range { size, .. }
            | Work::Latency { size, .. }
            | Work::Handover { size, .. } => Some(size),
            _ => None,
        }
    }

    /// Number of lanes of a launch; 1 where that is not what the cell is about.
    pub fn n(&self) -> u32 {
        match self.work {
            Work::Requests { n, .. }
            | Work::Range { n, .. }
            | Work::Latency { n, .. }
            | Work::Realloc { n, .. }
            | Work::Vector { n, .. }
            | Work::Handover { n, .. } => n,
            Work::Churn { lanes, .. } | Work::Replay { lanes } => lanes,
            Work::Sizes { percent, .. } => sizes::slots(self.pool, percent),
            Work::Utilisation { .. } | Work::StartUp | Work::Fill { .. } | Work::Resources => 1,
        }
    }

    /// How full the heap is made, in percent, where that varies.
    pub fn fill(&self) -> Option<u32> {
        match self.work {
            Work::Fill { percent, .. } | Work::Sizes { percent, .. } => Some(percent),
            _ => None,
        }
    }
}
