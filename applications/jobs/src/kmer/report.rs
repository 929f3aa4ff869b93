//! What a run is reported as: the JSON whose field names stay. `show` writes the same for people.

use crate::allocators::LeftOut;
use crate::device::DeviceReport;
use crate::ranks::exchanged::Exchanged;
use crate::seconds::seconds;
use serde::Serialize;
use std::time::Duration;

/// Version of the JSON: goes up when a field changes its name or meaning, not when one is added.
pub const SCHEMA: u32 = 1;

/// Everything that the command prints: one input, one device or several, a run per allocator.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where it ran; the first device of several.
    pub device: DeviceReport,
    /// All devices, if they are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceReport>,
    /// What was counted.
    pub input: InputReport,
    /// Bases of a k-mer.
    pub k: u32,
    /// Whether a k-mer and its reverse complement are one.
    pub canonical: bool,
    /// K-mers, all together.
    pub total: u64,
    /// Different k-mers.
    pub distinct: u64,
    /// The most frequent ones.
    pub top: Vec<Top>,
    /// How many there are of each frequency; those of no k-mer are left out.
    pub spectrum: Vec<Frequency>,
    /// One per allocator, in the order asked for.
    pub runs: Vec<Run>,
    /// Whether the counts were held against the CPU's. If not, what is reported is what the first allocator's map held.
    pub checked: bool,
    /// What carried pieces of sequences from rank to rank; none for one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrier: Option<String>,
    /// Allocators of `all` that cannot hold the map.
    pub left_out: Vec<LeftOut>,
    /// What each rank did, if there were several: `runs` then has what all took together, and the longest of their times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankReport>,
}

/// What one of several ranks did.
#[derive(Debug, Clone, Serialize)]
pub struct RankReport {
    /// Which one it is.
    pub rank: usize,
    /// Bases that it read.
    pub bases: u64,
    /// K-mers that it counted.
    pub kmers: u64,
    /// Different ones.
    pub distinct: u64,
    /// Bytes of sequence that it sent to others.
    pub bytes_sent: u64,
    /// Seconds to read or generate its part of the sequences.
    #[serde(rename = "load_s", serialize_with = "seconds")]
    pub load: Duration,
    /// Where the time of the exchange went.
    #[serde(flatten)]
    pub exchanged: Exchanged,
    /// Seconds to get what comes before the first cut: the heap, an empty map, and memory for the rounds.
    #[serde(rename = "ready_s", serialize_with = "seconds")]
    pub ready: Duration,
    /// Seconds from the first cut until all was exchanged and, by the first allocator, counted.
    #[serde(rename = "spread_s", serialize_with = "seconds")]
    pub spread: Duration,
    /// Seconds of the CPU's counts, or to find out how many k-mers there are.
    #[serde(rename = "reference_s", serialize_with = "seconds")]
    pub reference: Duration,
    /// One per allocator, as in the report.
    pub runs: Vec<Run>,
}

/// The sequences of a report.
#[derive(Debug, Clone, Serialize)]
pub struct InputReport {
    /// Where they came from.
    #[serde(flatten)]
    pub source: Source,
    /// Sequences.
    pub records: u64,
    /// Bases.
    pub bases: u64,
    /// Letters that stand for several bases.
    pub unknown: u64,
    /// Seconds to read or generate them.
    #[serde(rename = "load_s", serialize_with = "seconds")]
    pub load: Duration,
}

/// Where sequences came from.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum Source {
    /// Read from a file.
    File {
        /// Its name.
        file: String,
    },
    /// Generated.
    Reads {
        /// Seed.
        seed: u64,
    },
}

/// A frequent k-mer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Top {
    /// Its bases.
    pub kmer: String,
    /// How often it comes.
    pub count: u32,
}

/// How many k-mers come equally often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Frequency {
    /// How often each of them comes.
    pub count: u32,
    /// How many they are.
    pub kmers: u64,
}

/// One allocator's run. Of several devices bytes and launches are those of all, and a phase takes as long as on the slowest.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Name of the allocator.
    pub allocator: &'static str,
    /// Size of the heap in bytes.
    pub pool_bytes: u64,
    /// Logarithm of the number of slots of the map's root.
    pub root_bits: u32,
    /// Launches of the counting kernel.
    pub batches: u32,
    /// Bytes of keys and counts.
    pub bytes_entries: u64,
    /// Bytes of the map's blocks, as the allocator rounds them.
    pub bytes_blocks: u64,
    /// Bytes of the heap that are taken then, as the allocator rounds and reserves them.
    pub bytes_used: u64,
    /// `bytes_entries / bytes_used`.
    pub utilisation: f64,
    /// Millions of k-mers counted in a second, by the time on the device.
    pub mkmers_per_s: f64,
    /// Time per phase.
    #[serde(flatten)]
    pub phases: Phases,
    /// What each device did, if there are several.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Shared>,
    /// What the map held, if the CPU has not counted.
    #[serde(skip)]
    pub found: Option<Found>,
}

/// What was counted, by the CPU or by a device. K-mers have the last base in the lowest bits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// K-mers, all together.
    pub total: u64,
    /// Different ones.
    pub distinct: u64,
    /// The most frequent ones with how often they come, equal ones in the order of the alphabet.
    pub top: Vec<(u64, u32)>,
    /// How many k-mers come once, twice, and so on; frequencies of no k-mer are left out.
    pub spectrum: Vec<(u32, u64)>,
}

/// A run that several devices share.
#[derive(Debug, Clone, Serialize)]
pub struct Shared {
    /// Time in which the host adds up what the devices counted.
    #[serde(rename = "merge_s", serialize_with = "seconds")]
    pub merge: Duration,
    /// The part of each device, in the order of the report's devices. With fewer places than devices the last ones have none.
    pub parts: Vec<PartRun>,
}

/// What one device did.
#[derive(Debug, Clone, Serialize)]
pub struct PartRun {
    /// Places of the sequences that it looked at.
    pub places: u32,
    /// K-mers that it counted.
    pub kmers: u64,
    /// Different ones.
    pub distinct: u64,
    /// Size of the heap in bytes.
    pub pool_bytes: u64,
    /// Logarithm of the number of slots of the map's root.
    pub root_bits: u32,
    /// Launches of the counting kernel.
    pub batches: u32,
    /// Bytes of the map's blocks, as the allocator rounds them.
    pub bytes_blocks: u64,
    /// Bytes of the heap that are taken then, as the allocator rounds and reserves them.
    pub bytes_used: u64,
    /// Time per phase; `check` is looking for what was not freed.
    #[serde(flatten)]
    pub phases: Phases,
}

impl PartRun {
    /// Millions of k-mers counted in a second, by the time on the device.
    pub fn mkmers_per_s(&self) -> f64 {
        rate(self.kmers, self.phases.count_device)
    }
}

/// Millions of k-mers in a second.
pub(super) fn rate(kmers: u64, time: Duration) -> f64 {
    kmers as f64 / time.as_secs_f64().max(1e-9) / 1e6
}

/// Wall-clock time of the phases of a run, and the part of it that the device was running kernels.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Phases {
    /// Copying the sequences to the device.
    #[serde(rename = "upload_s", serialize_with = "seconds")]
    pub upload: Duration,
    /// Launching the counting kernel and waiting for it.
    #[serde(rename = "count_s", serialize_with = "seconds")]
    pub count: Duration,
    /// Counting kernel, as the device timed it.
    #[serde(rename = "count_device_s", serialize_with = "seconds")]
    pub count_device: Duration,
    /// Reading the map back.
    #[serde(rename = "read_s", serialize_with = "seconds")]
    pub read: Duration,
    /// Freeing the map.
    #[serde(rename = "free_s", serialize_with = "seconds")]
    pub free: Duration,
    /// Comparing with what the CPU counted.
    #[serde(rename = "check_s", serialize_with = "seconds")]
    pub check: Duration,
}

impl Phases {
    /// The longer one of each phase.
    pub(super) fn longest(self, other: Phases) -> Phases {
        Phases {
            upload: self.upload.max(other.upload),
            count: self.count.max(other.count),
            count_device: self.count_device.max(other.count_device),
            read: self.read.max(other.read),
            free: self.free.max(other.free),
            check: self.check.max(other.check),
        }
    }
}
