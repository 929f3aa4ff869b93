//! What a run is reported as: the JSON whose field names stay. `show` writes the same for people.

use super::check::Names;
use crate::allocators::LeftOut;
use crate::device::DeviceReport;
use crate::hexadecimal::hexadecimal;
use crate::ranks::exchanged::Exchanged;
use crate::ranks::owner::mixed;
use crate::seconds::seconds;
use crate::threads::in_parts;
use serde::Serialize;
use std::time::Duration;

/// Version of the JSON: goes up when a field changes its name or meaning, not when one is added.
pub const SCHEMA: u32 = 1;

/// Vertices that are worth a thread.
const LEAST: u32 = 1 << 16;

/// Vertices in the list of those with the highest rank.
pub const TOP: usize = 10;

/// Everything that a command prints: one graph, one device, a run per allocator.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where it ran.
    pub device: DeviceReport,
    /// What was built.
    pub graph: GraphReport,
    /// One per allocator, in the order asked for.
    pub runs: Vec<Run>,
    /// Allocators of `all` that cannot build this graph.
    pub left_out: Vec<LeftOut>,
    /// Whether neighbours and ranks were held against the CPU's.
    pub checked: bool,
    /// What each rank did, if there were several: `runs` then has what all took together, and the longest of their times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankReport>,
    /// What brought ranks of vertices from device to device, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrier: Option<String>,
}

/// What one of several ranks did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RankReport {
    /// Which one it is.
    pub rank: usize,
    /// Edges that it read or generated.
    pub edges_read: u64,
    /// Vertices whose rows it built.
    pub vertices: u64,
    /// Edges that enter them.
    pub edges: u64,
    /// Bytes of edges and degrees that it sent to others.
    pub bytes_sent: u64,
    /// Bytes of ranks that it sent to others, with all allocators together.
    pub bytes_gathered: u64,
    /// Seconds to read or generate its part of the edges.
    #[serde(rename = "load_s", serialize_with = "seconds")]
    pub load: Duration,
    /// Where the time of the exchange went.
    #[serde(flatten)]
    pub exchanged: Exchanged,
    /// Seconds to make its part simple, if it is to be, and to count the edges of all vertices together.
    #[serde(rename = "degrees_s", serialize_with = "seconds")]
    pub degrees: Duration,
    /// Seconds of the CPU's answers.
    #[serde(rename = "reference_s", serialize_with = "seconds")]
    pub reference: Duration,
    /// One per allocator, as in the report.
    pub runs: Vec<Run>,
}

/// The graph of a report.
#[derive(Debug, Clone, Serialize)]
pub struct GraphReport {
    /// Where it came from.
    #[serde(flatten)]
    pub source: Source,
    /// Vertices.
    pub vertices: u32,
    /// Directed edges.
    pub edges: u64,
    /// Edges that enter the vertex with the most of them.
    pub largest_in_degree: u32,
    /// Seconds to read or generate it.
    #[serde(rename = "load_s", serialize_with = "seconds")]
    pub load: Duration,
}

/// Where a graph came from.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum Source {
    /// Read from a file.
    File {
        /// Its name.
        file: String,
    },
    /// Generated: R-MAT.
    Rmat {
        /// Vertices and seed.
        #[serde(flatten)]
        size: Size,
        /// Edges per vertex.
        edge_factor: u32,
    },
    /// Generated: roads.
    Grid {
        /// Vertices and seed.
        #[serde(flatten)]
        size: Size,
    },
    /// Generated: a triangulated plane.
    Mesh {
        /// Vertices and seed.
        #[serde(flatten)]
        size: Size,
    },
    /// Generated: a power law and one vertex that neighbours all.
    Hub {
        /// Vertices and seed.
        #[serde(flatten)]
        size: Size,
        /// Edges per vertex.
        edge_factor: u32,
    },
}

/// What every generated graph has.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Size {
    /// log2 of the number of vertices.
    pub scale: u32,
    /// Seed.
    pub seed: u64,
}

/// One allocator's run.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Name of the allocator.
    pub allocator: &'static str,
    /// Size of the heap in bytes.
    pub pool_bytes: u64,
    /// How the heap grew to that, if it did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Edges of a launch.
    pub batch_edges: u32,
    /// Launches of the insert kernel.
    pub batches: u32,
    /// Blocks that the vectors asked the heap for.
    pub mallocs: u64,
    /// Blocks that they gave back, the final clearing included.
    pub frees: u64,
    /// Bytes of the vectors' blocks when the graph is complete.
    pub bytes_live: u64,
    /// Bytes of the heap that are taken then, as the allocator rounds and reserves them.
    pub bytes_used: u64,
    /// `bytes_live / bytes_used`.
    pub utilisation: f64,
    /// PageRank iterations.
    pub iterations: u32,
    /// Largest relative difference of a rank from the reference's, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_error: Option<f64>,
    /// Sum of the ranks of all vertices: 1, but for rounding.
    pub rank_sum: f64,
    /// The sum of hashes of all vertices with the bits of their ranks, modulo 2⁶⁴; sixteen hexadecimal digits in JSON.
    #[serde(serialize_with = "hexadecimal")]
    pub checksum: u64,
    /// Time per phase.
    #[serde(flatten)]
    pub phases: Phases,
    /// The [`TOP`] vertices of highest rank.
    pub top: Vec<Top>,
}

/// A heap that was full became larger.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Step {
    /// Its size from then on, in bytes.
    pub pool_bytes: u64,
    /// Time that it took.
    #[serde(rename = "time_s", serialize_with = "seconds")]
    pub time: Duration,
}

/// Wall-clock time of the phases of a run, and the part of it that the device was running kernels.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Phases {
    /// Grouping edges by target on the CPU.
    #[serde(rename = "prepare_s", serialize_with = "seconds")]
    pub prepare: Duration,
    /// Copying batches to the device.
    #[serde(rename = "upload_s", serialize_with = "seconds")]
    pub upload: Duration,
    /// Launching the insert kernel and waiting for it.
    #[serde(rename = "insert_s", serialize_with = "seconds")]
    pub insert: Duration,
    /// Insert kernel, as the device timed it.
    #[serde(rename = "insert_device_s", serialize_with = "seconds")]
    pub insert_device: Duration,
    /// All PageRank iterations.
    #[serde(rename = "rank_s", serialize_with = "seconds")]
    pub rank: Duration,
    /// PageRank kernels, as the device timed them.
    #[serde(rename = "rank_device_s", serialize_with = "seconds")]
    pub rank_device: Duration,
    /// The part of `rank` in which ranks brought what they found together; none of a process that is alone.
    #[serde(rename = "all_gather_s", serialize_with = "seconds")]
    pub all_gather: Duration,
    /// Copying the neighbours out of the heap and to the CPU.
    #[serde(rename = "collect_s", serialize_with = "seconds")]
    pub collect: Duration,
    /// Freeing every vector.
    #[serde(rename = "free_s", serialize_with = "seconds")]
    pub free: Duration,
    /// Freeing kernel, as the device timed it.
    #[serde(rename = "free_device_s", serialize_with = "seconds")]
    pub free_device: Duration,
    /// Comparing with the reference on the CPU.
    #[serde(rename = "check_s", serialize_with = "seconds")]
    pub check: Duration,
}

impl Run {
    /// The share of the taken bytes that are live.
    pub(super) fn utilisation(live: u64, used: u64) -> f64 {
        live as f64 / used.max(1) as f64
    }
}

impl Phases {
    /// The longer one of each phase.
    pub(super) fn longest(self, other: Phases) -> Phases {
        Phases {
            prepare: self.prepare.max(other.prepare),
            upload: self.upload.max(other.upload),
            insert: self.insert.max(other.insert),
            insert_device: self.insert_device.max(other.insert_device),
            rank: self.rank.max(other.rank),
            rank_device: self.rank_device.max(other.rank_device),
            all_gather: self.all_gather.max(other.all_gather),
            collect: self.collect.max(other.collect),
            free: self.free.max(other.free),
            free_device: self.free_device.max(other.free_device),
            check: self.check.max(other.check),
        }
    }
}

/// A vertex of high rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Top {
    /// The vertex, numbered as in the input.
    pub vertex: u64,
    /// Its rank.
    pub rank: f32,
    /// Edges that enter it.
    pub in_degree: u32,
}

/// The sum of hashes of all vertices with the bits of their ranks, modulo 2⁶⁴; the first of them is vertex `first`.
pub fn checksum(ranks: &[f32], first: u32) -> u64 {
    let sums = in_parts(ranks.len() as u32, LEAST, |range| {
        let some = &ranks[range.start as usize..range.end as usize];
        let hashes = (first + range.start..)
            .zip(some)
            .map(|(vertex, rank)| mixed(u64::from(vertex) << 32 | u64::from(rank.to_bits())));
        hashes.fold(0, u64::wrapping_add)
    });
    sums.into_iter().fold(0, u64::wrapping_add)
}

/// The `count` vertices of highest rank, equal ranks in the order of their ids.
pub fn top(ranks: &[f32], in_degrees: &[u32], names: impl Into<Names>, count: usize) -> Vec<Top> {
    let names = names.into();
    let mut order: Vec<u32> = (0..ranks.len() as u32).collect();
    let by_rank = |a: &u32, b: &u32| {
        ranks[*b as usize]
            .total_cmp(&ranks[*a as usize])
            .then(a.cmp(b))
    };
    if count < order.len() {
        order.select_nth_unstable_by(count, by_rank);
        order.truncate(count);
    }
    order.sort_unstable_by(by_rank);
    order
        .into_iter()
        .map(|vertex| Top {
            vertex: names.of_row(vertex.into()),
            rank: ranks[vertex as usize],
            in_degree: in_degrees[vertex as usize],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_parts_add_up() {
        let ranks: Vec<f32> = (0..5 * LEAST).map(|i| 1.0 / (i + 1) as f32).collect();
        let all = checksum(&ranks, 0);
        let (front, back) = ranks.split_at(100_001);
        let sum = checksum(front, 0).wrapping_add(checksum(back, 100_001));
        assert_eq!(sum, all);
        let mut other = ranks.clone();
        other.swap(3, 4);
        assert_ne!(checksum(&other, 0), all);
    }

    #[test]
    fn top_breaks_ties_by_id() {
        let top = top(&[0.2, 0.3, 0.1, 0.3], &[0, 10, 20, 30], 1, 3);
        let vertices: Vec<u64> = top.iter().map(|top| top.vertex).collect();
        assert_eq!(vertices, [2, 4, 1]);
        assert_eq!(top[1].in_degree, 30);
        assert_eq!(super::top(&[0.5], &[0], 0, 10).len(), 1);
    }
}
