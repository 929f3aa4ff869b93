//! What came of a run.

use super::options::Options;
use serde::Serialize;
use warpheap_api::host::DeviceInfo;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of warpheap.
    pub version: String,
    /// Name of the backend.
    pub backend: String,
    /// Name of the device.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// The seed.
    pub seed: u64,
    /// Bytes of the pool that is never made fresh; the others have an eighth.
    pub pool_bytes: u64,
    /// Lanes of a launch.
    pub lanes: u32,
    /// How full the heap is for the most part, in percent.
    pub fill: u32,
    /// Whether no two launches run at the same time.
    pub one_launch: bool,
    /// A row for each allocator that had its turn.
    pub rows: Vec<Row>,
    /// What is wrong: with the last one.
    pub fault: Option<Found>,
}

/// What an allocator did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub allocator: String,
    /// Requests that were served, and blocks that were given back.
    pub operations: u64,
    /// Launches.
    pub launches: u64,
    /// Rounds: launches, of which two at the same time count as one.
    pub rounds: u64,
    /// Requests that failed, as they have to where a heap is full.
    pub failed: u64,
    /// Cycles of the heap that is never made fresh.
    pub cycles: u64,
    /// Looks at the metadata.
    pub looks: u64,
    /// Times that a heap was made fresh with blocks in it.
    pub resets: u64,
    /// Times that a heap grew or shrank with blocks in it.
    pub resizes: u64,
    /// Time in seconds.
    pub seconds: f64,
    /// Operations a second.
    pub rate: f64,
    /// Bytes tied over bytes of blocks where churn ended, of the first cycle and of the last.
    pub tied: Option<[f64; 2]>,
    /// The same of the cycles, in order: the first one, then means.
    pub tied_series: Vec<f64>,
    /// The percentage of the heap that blocks had there, likewise.
    pub filled_series: Vec<f64>,
    /// The percentage of the heap that was tied where it was empty, likewise.
    pub empty_series: Vec<f64>,
}

/// Something that is wrong, and how to do the same again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The allocator.
    pub allocator: String,
    /// Which heap, cycle, phase.
    pub place: String,
    /// The round, from 1.
    pub round: u64,
    /// What is wrong.
    pub what: String,
    /// The command that comes here again.
    pub again: String,
}

impl Report {
    /// A report of a run on a device that has not begun.
    pub(super) fn new(info: &DeviceInfo, options: &Options, pool_bytes: u64, lanes: u32) -> Self {
        Report {
            version: env!("CARGO_PKG_VERSION").to_string(),
            backend: info.backend.name().to_string(),
            device: info.name.clone(),
            driver: info.driver.clone(),
            warp_width: info.warp_width,
            seed: options.seed,
            pool_bytes,
            lanes,
            fill: options.fill,
            one_launch: options.one_launch,
            rows: Vec::new(),
            fault: None,
        }
    }

    /// The command that makes so many rounds with an allocator as this run did.
    pub(super) fn again(&self, allocator: &str, rounds: u64) -> String {
        let one = if self.one_launch { " --one-launch" } else { "" };
        format!(
            "warpheap soak --allocator {allocator} --backend {} --seed {} --pool {} --lanes {} --fill {}{one} --rounds {rounds}",
            self.backend, self.seed, self.pool_bytes, self.lanes, self.fill
        )
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Found {
            allocator,
            place,
            round,
            what,
            again,
        } = self;
        write!(
            f,
            "{allocator}, round {round} ({place}): {what}; to come here again: {again}"
        )
    }
}
