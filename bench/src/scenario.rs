//! The scenarios: what each is called, what it asks, along what it is drawn.

use serde::{Deserialize, Serialize};

/// A scenario.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
pub enum Scenario {
    /// One size, fresh heap.
    #[value(name = "S1", alias = "s1")]
    S1,
    /// Mixed sizes, fresh heap.
    #[value(name = "S2", alias = "s2")]
    S2,
    /// Scaling, warm heap.
    #[value(name = "S3", alias = "s3")]
    S3,
    /// Malloc and free alternate, warm heap.
    #[value(name = "S4", alias = "s4")]
    S4,
    /// Churn in one kernel.
    #[value(name = "S5", alias = "s5")]
    S5,
    /// Utilisation.
    #[value(name = "S6", alias = "s6")]
    S6,
    /// Address range.
    #[value(name = "S7", alias = "s7")]
    S7,
    /// Start-up.
    #[value(name = "S8", alias = "s8")]
    S8,
    /// Latency of single mallocs.
    #[value(name = "S9", alias = "s9")]
    S9,
    /// Churn of a heap that is nearly full.
    #[value(name = "S10", alias = "s10")]
    S10,
    /// Growth of blocks and vectors.
    #[value(name = "S11", alias = "s11")]
    S11,
    /// Handover between kernels.
    #[value(name = "S12", alias = "s12")]
    S12,
    /// Registers, local memory, code size.
    #[value(name = "S13", alias = "s13")]
    S13,
    /// A hash join's probe.
    #[value(name = "S14", alias = "s14")]
    S14,
    /// Counting k-mers.
    #[value(name = "S15", alias = "s15")]
    S15,
    /// A graph whose edges come and go.
    #[value(name = "S16", alias = "s16")]
    S16,
    /// A hash map that grows.
    #[value(name = "S17", alias = "s17")]
    S17,
    /// Short vectors.
    #[value(name = "S18", alias = "s18")]
    S18,
    /// Blocks whose sizes change.
    #[value(name = "S19", alias = "s19")]
    S19,
    /// A trace that is replayed.
    #[value(name = "S20", alias = "s20")]
    S20,
}

/// What varies within a scenario, and so goes along a plot's horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    /// [`Row::size`](crate::row::Row::size), bytes of each request.
    Size,
    /// [`Row::n`](crate::row::Row::n), lanes of a launch; a line for each size.
    Lanes,
    /// [`Row::fill`](crate::row::Row::fill), how full the heap is, in percent.
    Fill,
    /// [`Row::case`](crate::row::Row::case), names without an order.
    Case,
}

impl Axis {
    /// What a plot writes along it.
    pub fn label(self) -> &'static str {
        match self {
            Axis::Size => "bytes of each request",
            Axis::Lanes => "lanes",
            Axis::Fill => "fill (%)",
            Axis::Case => "",
        }
    }
}

/// What is known of a scenario before it runs.
struct About {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    axis: Axis,
}

impl Scenario {
    /// All of them, in order.
    pub const ALL: [Scenario; 20] = [
        Scenario::S1,
        Scenario::S2,
        Scenario::S3,
        Scenario::S4,
        Scenario::S5,
        Scenario::S6,
        Scenario::S7,
        Scenario::S8,
        Scenario::S9,
        Scenario::S10,
        Scenario::S11,
        Scenario::S12,
        Scenario::S13,
        Scenario::S14,
        Scenario::S15,
        Scenario::S16,
        Scenario::S17,
        Scenario::S18,
        Scenario::S19,
        Scenario::S20,
    ];

    /// Its name, `S1` to `S20`.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// A few words.
    pub fn title(self) -> &'static str {
        self.about().title
    }

    /// What is done and measured, in a sentence or two.
    pub fn description(self) -> &'static str {
        self.about().description
    }

    /// What varies within it.
    pub fn axis(self) -> Axis {
        self.about().axis
    }

    /// Whether the heap is made fresh before each repeat.
    pub fn is_fresh(self) -> bool {
        matches!(
            self,
            Scenario::S1
                | Scenario::S2
                | Scenario::S5
                | Scenario::S9
                | Scenario::S11
                | Scenario::S18
                | Scenario::S20
        )
    }

    fn about(self) -> About {
        let about = |name, title, axis, description| About {
            name,
            title,
            description,
            axis,
        };
        match self {
            Scenario::S1 => about(
                "S1",
                "one size, fresh heap",
                Axis::Size,
                "A kernel in which each lane allocates, then one in which each lane frees; the heap is made fresh before each pair. Footprint: what the blocks tie up over their bytes.",
            ),
            Scenario::S2 => about(
                "S2",
                "mixed sizes, fresh heap",
                Axis::Case,
                "As S1, the size of each request a hash of the lane's index: lanes of a warp ask for different sizes.",
            ),
            Scenario::S3 => about(
                "S3",
                "scaling, warm heap",
                Axis::Lanes,
                "As S1 on a heap that has been in use, for numbers of lanes from 1 up.",
            ),
            Scenario::S4 => about(
                "S4",
                "malloc and free alternate, warm heap",
                Axis::Size,
                "As S1 without making the heap fresh.",
            ),
            Scenario::S5 => about(
                "S5",
                "churn in one kernel",
                Axis::Case,
                "Each lane has 4 slots and makes 64 rounds: it picks a slot, checks and frees the block in it, allocates another size and writes it.",
            ),
            Scenario::S6 => about(
                "S6",
                "utilisation until the first failure",
                Axis::Size,
                "One size until a lane fails: bytes handed out over bytes of the pool, and the time of a launch whose lanes all ask the full heap in vain; then all is freed and the pool is filled with another size.",
            ),
            Scenario::S7 => about(
                "S7",
                "address range",
                Axis::Size,
                "From the lowest to the highest byte of 100,000 blocks of one size, over the bytes asked for.",
            ),
            Scenario::S8 => about(
                "S8",
                "start-up",
                Axis::Case,
                "Time to make a heap of the whole pool fresh, as the host sees it.",
            ),
            Scenario::S9 => about(
                "S9",
                "latency of single mallocs",
                Axis::Lanes,
                "Each lane reads a clock before and after its malloc: median, percentiles and worst of all lanes.",
            ),
            Scenario::S10 => about(
                "S10",
                "churn of a nearly full heap",
                Axis::Fill,
                "Capacity is how many blocks of mixed sizes the allocator serves in this pool. The heap is filled to a share of that; then each operation frees a block or allocates another size: operations per second, failures, and what the blocks that are left tie up over their bytes.",
            ),
            Scenario::S11 => about(
                "S11",
                "growth",
                Axis::Case,
                "Each lane reallocates a block from 16 to 4096 bytes, or pushes elements to a vector.",
            ),
            Scenario::S12 => about(
                "S12",
                "handover between kernels",
                Axis::Size,
                "One kernel allocates and writes, another checks and frees the blocks of other lanes.",
            ),
            Scenario::S13 => about(
                "S13",
                "registers, local memory, code size",
                Axis::Case,
                "What the driver tells of each allocator's malloc and free kernels.",
            ),
            Scenario::S14 => about(
                "S14",
                "join",
                Axis::Case,
                "The probe of a hash join: each lane writes the matches of its rows into pages that it gets from the heap one by one. Time of the probe's kernel, and of the one that frees all pages.",
            ),
            Scenario::S15 => about(
                "S15",
                "k-mers",
                Axis::Case,
                "The k-mers of generated DNA sequences are counted in one hash map that grows: the time of the counting kernels. Footprint: what the map ties up over its blocks.",
            ),
            Scenario::S16 => about(
                "S16",
                "changing graph",
                Axis::Case,
                "Batches of edges are merged into rows that grow, then taken out again: the heap's part of a round. Footprint: what the rows tie up over their blocks, the most of all phases.",
            ),
            Scenario::S17 => about(
                "S17",
                "growing map",
                Axis::Case,
                "Distinct keys are inserted into a hash map with a root of 16 slots, which grows, and then looked for. Footprint: what the map ties up over its blocks.",
            ),
            Scenario::S18 => about(
                "S18",
                "short vectors",
                Axis::Case,
                "Each lane pushes 16 words to a vector of its own, checks them, and frees it.",
            ),
            Scenario::S19 => about(
                "S19",
                "sizes that change",
                Axis::Fill,
                "Blocks of seven sizes from 24 to 100,000 bytes fill a share of the pool; in each of 50 rounds a third is freed and as many are asked for at the next of these sizes. Time of a round, requests that failed, and the most that the blocks tied up over their bytes.",
            ),
            Scenario::S20 => about(
                "S20",
                "replay of a trace",
                Axis::Case,
                "The requests of a trace, launch by launch, each lane its own: time of all launches and of a single one, requests that failed, and the most that the blocks tied up over their bytes.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn names_are_those_of_the_command_line_and_of_json() {
        for (scenario, place) in Scenario::ALL.into_iter().zip(1..) {
            assert_eq!(scenario.name(), format!("S{place}"));
            let value = scenario.to_possible_value().unwrap();
            assert_eq!(value.get_name(), scenario.name());
            assert_eq!(
                serde_json::to_value(scenario).unwrap(),
                scenario.name(),
                "{scenario:?}"
            );
        }
        assert_eq!(Scenario::value_variants(), Scenario::ALL);
    }
}
