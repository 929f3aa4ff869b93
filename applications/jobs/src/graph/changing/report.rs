//! What the job is reported as: the JSON whose field names stay.

use super::merge::Times;
use crate::allocators::LeftOut;
use crate::device::DeviceReport;
use crate::graph::report::GraphReport;
use crate::seconds::seconds;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// Version of the JSON: goes up when a field changes its name or meaning, not when one is added.
pub const SCHEMA: u32 = 1;

/// Everything that the command prints.
#[derive(Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where it ran.
    pub device: DeviceReport,
    /// The initial graph, as in-edges.
    pub graph: GraphReport,
    /// Rounds of insertions, and as many of deletions.
    pub rounds: u32,
    /// Edges of a round, before those that come twice are left out.
    pub updates: u32,
    /// Vertices whose rows change; all if none.
    pub focus: Option<u32>,
    /// Edges that came in all rounds.
    pub inserted: u64,
    /// Edges that went.
    pub deleted: u64,
    /// Triangles of the initial graph.
    pub triangles: Option<u64>,
    /// Whether vertices were ranked.
    #[serde(skip)]
    pub page_rank: bool,
    /// What searches found, if they were asked for.
    pub bfs: Option<Searches>,
    /// The connected components after each phase, if they were asked for.
    pub components: Vec<Components>,
    /// The same with compressed sparse rows.
    pub rebuild: Rebuild,
    /// One per allocator, in the order asked for.
    pub runs: Vec<Run>,
    /// Allocators of `all` that cannot do this.
    pub left_out: Vec<LeftOut>,
}

/// What breadth-first searches found.
#[derive(Debug, Serialize)]
pub struct Searches {
    /// Where they begin, as the graph numbers its vertices.
    pub source: u64,
    /// The search after each phase.
    pub after: Vec<Searched>,
}

/// What a search found.
#[derive(Debug, Serialize)]
pub struct Searched {
    /// The phase that was done: `init`, `insert` or `delete`.
    pub after: &'static str,
    /// Vertices that it reached, the source among them.
    pub reached: u32,
    /// Steps to the furthest of them.
    pub depth: u32,
    /// Edges that it looked at: all neighbours of these vertices.
    pub edges: u64,
}

/// Connected components.
#[derive(Debug, Serialize)]
pub struct Components {
    /// The phase that was done: `init`, `insert` or `delete`.
    pub after: &'static str,
    /// How many there are; a vertex without edges is one.
    pub count: u32,
    /// Vertices of the largest.
    pub largest: u32,
}

/// What rebuilding compressed sparse rows takes, on the device.
#[derive(Debug, Default, Serialize)]
pub struct Rebuild {
    /// The initial graph.
    #[serde(rename = "init_s", serialize_with = "seconds")]
    pub init: Duration,
    /// Each round of insertions.
    #[serde(rename = "inserts_s", serialize_with = "all_seconds")]
    pub inserts: Vec<Duration>,
    /// Each round of deletions.
    #[serde(rename = "deletes_s", serialize_with = "all_seconds")]
    pub deletes: Vec<Duration>,
    /// Bytes of the rows when they are longest; a rebuild needs twice that.
    pub bytes: u64,
}

/// One allocator's run. Times are the device's.
#[derive(Debug, Serialize)]
pub struct Run {
    /// Name of the allocator.
    pub allocator: &'static str,
    /// Size of the heap in bytes.
    pub pool_bytes: u64,
    /// The initial graph.
    pub init: Times,
    /// Each round of insertions.
    pub inserts: Vec<Times>,
    /// Each round of deletions.
    pub deletes: Vec<Times>,
    /// Counting triangles.
    #[serde(rename = "triangles_s", serialize_with = "maybe_seconds")]
    pub triangles: Option<Duration>,
    /// Ranking the vertices after each phase.
    #[serde(rename = "page_ranks_s", serialize_with = "all_seconds")]
    pub page_ranks: Vec<Duration>,
    /// The breadth-first search after each phase.
    #[serde(rename = "bfs")]
    pub searches: Vec<SearchTime>,
    /// Finding the connected components after each phase.
    #[serde(rename = "components_s", serialize_with = "all_seconds")]
    pub components: Vec<Duration>,
    /// Freeing all rows.
    #[serde(rename = "free_s", serialize_with = "seconds")]
    pub free: Duration,
    /// What the rows take after each phase.
    pub footprint: Vec<Footprint>,
    /// Bytes used over bytes live, the most after any round.
    pub most_tied: f64,
    /// Blocks that the rows asked the heap for.
    pub mallocs: u64,
    /// Blocks that they gave back.
    pub frees: u64,
}

/// How long a search took.
#[derive(Debug, Serialize)]
pub struct SearchTime {
    /// On the device.
    #[serde(rename = "device_s", serialize_with = "seconds")]
    pub time: Duration,
    /// Edges that it looked at, in a second.
    pub edges_per_s: f64,
}

impl SearchTime {
    /// Of a search that looked at so many edges.
    pub fn new(edges: u64, time: Duration) -> Self {
        SearchTime {
            time,
            edges_per_s: edges as f64 / time.as_secs_f64().max(1e-9),
        }
    }
}

/// What the rows take in a heap.
#[derive(Debug, Serialize)]
pub struct Footprint {
    /// The phase that was done: `init`, `insert` or `delete`.
    pub after: &'static str,
    /// Bytes of the rows' blocks.
    pub bytes_live: u64,
    /// Bytes of the heap that are taken, as the allocator rounds and reserves them.
    pub bytes_used: u64,
}

impl Footprint {
    /// Bytes used over bytes live.
    pub fn ratio(&self) -> f64 {
        self.bytes_used as f64 / self.bytes_live.max(1) as f64
    }
}

impl Run {
    /// Nothing is done yet.
    pub fn new(allocator: &'static str, pool_bytes: u64) -> Self {
        Run {
            allocator,
            pool_bytes,
            init: Times::default(),
            inserts: Vec::new(),
            deletes: Vec::new(),
            triangles: None,
            page_ranks: Vec::new(),
            searches: Vec::new(),
            components: Vec::new(),
            free: Duration::ZERO,
            footprint: Vec::new(),
            most_tied: 0.0,
            mallocs: 0,
            frees: 0,
        }
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Seconds {
            device_s: f64,
            heap_s: f64,
        }
        let seconds = Seconds {
            device_s: self.all.as_secs_f64(),
            heap_s: self.heap.as_secs_f64(),
        };
        seconds.serialize(serializer)
    }
}

fn all_seconds<S: Serializer>(times: &[Duration], serializer: S) -> Result<S::Ok, S::Error> {
    let mut all = serializer.serialize_seq(Some(times.len()))?;
    for time in times {
        all.serialize_element(&time.as_secs_f64())?;
    }
    all.end()
}

fn maybe_seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}
