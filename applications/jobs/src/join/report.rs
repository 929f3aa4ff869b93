//! What a join is reported as: the JSON whose field names stay. `show` writes the same for people.

use super::shape::Shape;
use crate::device::DeviceReport;
use crate::hexadecimal::hexadecimal;
use crate::ranks::exchanged::Exchanged;
use crate::seconds::seconds;
use serde::Serialize;
use std::time::Duration;
use warpheap_applications::join::MATCH_WORDS;

/// Version of the JSON: goes up when a field changes its name or meaning, not when one is added.
pub const SCHEMA: u32 = 1;

/// Everything that the command prints: one join, one device or several, a run per allocator.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where it ran; the first device of several.
    pub device: DeviceReport,
    /// All devices, if they are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceReport>,
    /// What was joined.
    pub join: JoinReport,
    /// One per allocator, in the order asked for.
    pub runs: Vec<Run>,
    /// Whether the matches were held against the CPU's.
    pub checked: bool,
    /// What carried rows from rank to rank; none for one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrier: Option<String>,
    /// What each rank did, if there were several: `runs` then has what all took together, and the longest of their times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankReport>,
}

/// What one of several ranks did.
#[derive(Debug, Clone, Serialize)]
pub struct RankReport {
    /// Which one it is.
    pub rank: usize,
    /// Rows of both tables that it read or generated.
    pub rows_read: u64,
    /// Rows of the left table that it joined.
    pub rows_left: u64,
    /// Rows of the right table that it joined.
    pub rows_right: u64,
    /// Bytes of rows that it sent to others.
    pub bytes_sent: u64,
    /// Seconds to read or generate its part of the tables.
    #[serde(rename = "load_s", serialize_with = "seconds")]
    pub load: Duration,
    /// Where the time of the exchange went.
    #[serde(flatten)]
    pub exchanged: Exchanged,
    /// Seconds of the CPU's join, or to find out how many matches there can be.
    #[serde(rename = "reference_s", serialize_with = "seconds")]
    pub reference: Duration,
    /// Seconds to copy the rows to the device.
    #[serde(rename = "upload_s", serialize_with = "seconds")]
    pub upload: Duration,
    /// One per allocator, as in the report.
    pub runs: Vec<Run>,
}

/// The join of a report.
#[derive(Debug, Clone, Serialize)]
pub struct JoinReport {
    /// Where the tables came from.
    #[serde(flatten)]
    pub source: Source,
    /// Rows of the left table.
    pub rows_left: u64,
    /// Rows of the right table.
    pub rows_right: u64,
    /// Matches.
    pub matches: u64,
    /// Partitions.
    pub partitions: u64,
    /// Buckets of the hash table.
    pub buckets: u64,
    /// Lanes of the probe.
    pub lanes: u64,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Seconds to read or generate the tables and to join them on the CPU.
    #[serde(rename = "load_s", serialize_with = "seconds")]
    pub load: Duration,
    /// Seconds to copy them to the device.
    #[serde(rename = "upload_s", serialize_with = "seconds")]
    pub upload: Duration,
}

/// Where tables came from.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum Source {
    /// Read from files.
    Files {
        /// Name of the left one.
        left: String,
        /// Name of the right one.
        right: String,
    },
    /// Generated.
    Generated {
        /// Left rows with the key of a right row, on average; `matches` in JSON are those of the whole join.
        #[serde(rename = "matches_per_row")]
        matches: u32,
        /// Percent of the right rows that have all the same key.
        skew_percent: u32,
        /// Seed.
        seed: u64,
    },
}

/// One allocator's run. Of several devices or ranks pools and pages are those of all, and a phase takes as long as on the slowest.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Name of the allocator.
    pub allocator: &'static str,
    /// Size of the heap in bytes.
    pub pool_bytes: u64,
    /// Pages and matches.
    #[serde(flatten)]
    pub found: Found,
    /// Bytes of the matches.
    pub match_bytes: u64,
    /// Bytes of the pages.
    pub bytes_of_pages: u64,
    /// `match_bytes / bytes_of_pages`; 0 without pages.
    pub utilisation: f64,
    /// Right rows that the probe handles in a second, in millions; by the device's time where it tells one.
    pub probe_mtuples_per_s: f64,
    /// Time per phase.
    #[serde(flatten)]
    pub phases: Phases,
    /// What each of several devices of one process did, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartRun>,
}

/// What one of several devices did.
#[derive(Debug, Clone, Serialize)]
pub struct PartRun {
    /// Rows of the left table that it joined.
    pub rows_left: u64,
    /// Rows of the right table that it joined.
    pub rows_right: u64,
    /// Seconds to copy them to it.
    #[serde(rename = "upload_s", serialize_with = "seconds")]
    pub upload: Duration,
    /// Its run.
    #[serde(flatten)]
    pub run: Run,
}

/// What a probe found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Pages that the probe got.
    pub pages: u64,
    /// Matches in them.
    pub matches: u64,
    /// The sum of the matches' hashes, modulo 2⁶⁴; sixteen hexadecimal digits in JSON.
    #[serde(serialize_with = "hexadecimal")]
    pub checksum: u64,
}

/// Time of the phases of a run: by the clock, and the part of it that the device was running kernels. Of probe
/// and free, which are repeated, the medians.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Phases {
    /// Ordering both tables by partition.
    #[serde(rename = "partition_s", serialize_with = "seconds")]
    pub partition: Duration,
    /// Its kernels.
    #[serde(rename = "partition_device_s", serialize_with = "seconds")]
    pub partition_device: Duration,
    /// Building the hash table.
    #[serde(rename = "build_s", serialize_with = "seconds")]
    pub build: Duration,
    /// Its kernel.
    #[serde(rename = "build_device_s", serialize_with = "seconds")]
    pub build_device: Duration,
    /// Finding the matches and writing them to pages.
    #[serde(rename = "probe_s", serialize_with = "seconds")]
    pub probe: Duration,
    /// Its kernel.
    #[serde(rename = "probe_device_s", serialize_with = "seconds")]
    pub probe_device: Duration,
    /// Copying the matches out of the pages and to the CPU.
    #[serde(rename = "collect_s", serialize_with = "seconds")]
    pub collect: Duration,
    /// Freeing the pages.
    #[serde(rename = "free_s", serialize_with = "seconds")]
    pub free: Duration,
    /// Its kernel.
    #[serde(rename = "free_device_s", serialize_with = "seconds")]
    pub free_device: Duration,
    /// Comparing with the CPU's join.
    #[serde(rename = "check_s", serialize_with = "seconds")]
    pub check: Duration,
}

impl Found {
    /// What two devices or ranks found.
    fn and(self, other: Found) -> Found {
        Found {
            pages: self.pages + other.pages,
            matches: self.matches + other.matches,
            checksum: self.checksum.wrapping_add(other.checksum),
        }
    }
}

impl Phases {
    /// The longer one of each phase.
    fn longest(self, other: Phases) -> Phases {
        Phases {
            partition: self.partition.max(other.partition),
            partition_device: self.partition_device.max(other.partition_device),
            build: self.build.max(other.build),
            build_device: self.build_device.max(other.build_device),
            probe: self.probe.max(other.probe),
            probe_device: self.probe_device.max(other.probe_device),
            collect: self.collect.max(other.collect),
            free: self.free.max(other.free),
            free_device: self.free_device.max(other.free_device),
            check: self.check.max(other.check),
        }
    }

    /// Time of the probe as the device tells it, or by the clock where it does not.
    pub fn of_probe(&self) -> Duration {
        match self.probe_device.is_zero() {
            true => self.probe,
            false => self.probe_device,
        }
    }
}

impl JoinReport {
    /// The join of tables with so many `rows`, left and right; `times` are those of loading and copying.
    pub fn new(source: Source, rows: [u64; 2], shape: &Shape, times: [Duration; 2]) -> Self {
        JoinReport {
            source,
            rows_left: rows[0],
            rows_right: rows[1],
            matches: shape.matches,
            partitions: 1 << shape.partition_bits,
            buckets: 1 << shape.bucket_bits,
            lanes: shape.lanes.into(),
            page_bytes: shape.page_bytes,
            load: times[0],
            upload: times[1],
        }
    }
}

impl Run {
    /// A run whose probe looked for the partners of so many `rows`, with pages of so many bytes.
    pub fn new(
        allocator: &'static str,
        pool_bytes: u64,
        rows: u64,
        found: Found,
        page_bytes: u32,
        phases: Phases,
    ) -> Self {
        let bytes_of_pages = found.pages * u64::from(page_bytes);
        let match_bytes = found.matches * u64::from(MATCH_WORDS) * 4;
        let seconds = phases.of_probe().as_secs_f64().max(1e-9);
        Run {
            allocator,
            pool_bytes,
            found,
            match_bytes,
            bytes_of_pages,
            utilisation: match_bytes as f64 / bytes_of_pages.max(1) as f64,
            probe_mtuples_per_s: rows as f64 / seconds / 1e6,
            phases,
            parts: Vec::new(),
        }
    }

    /// The runs of several devices or ranks with an allocator as one: sums of what they take and find, the longest of times; of so
    /// many right `rows` in all.
    pub(super) fn of_all<'a>(
        allocator: &'static str,
        runs: impl Iterator<Item = &'a Run>,
        rows: u64,
        page_bytes: u32,
    ) -> Self {
        let mut pool_bytes = 0;
        let mut found = Found::default();
        let mut phases = Phases::default();
        for run in runs {
            pool_bytes += run.pool_bytes;
            found = found.and(run.found);
            phases = phases.longest(run.phases);
        }
        Run::new(allocator, pool_bytes, rows, found, page_bytes, phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_from_pages_and_times() {
        let phases = Phases {
            probe: Duration::from_micros(100),
            ..Phases::default()
        };
        let found = Found {
            pages: 50,
            matches: 600,
            checksum: 1,
        };
        let run = Run::new("Bump", 1 << 20, 200, found, 128, phases);
        assert_eq!((run.match_bytes, run.bytes_of_pages), (4800, 6400));
        assert_eq!(run.utilisation, 0.75);
        assert!((run.probe_mtuples_per_s - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_name_of_the_json_is_there_once() {
        let source = Source::Generated {
            matches: 3,
            skew_percent: 10,
            seed: 9,
        };
        let shape = Shape::new(100, 200, 600, 10, 128);
        let join = JoinReport::new(source, [100, 200], &shape, [Duration::ZERO; 2]);
        let json = serde_json::to_string(&join).expect("a report is JSON");
        let fields = json.split([',', '{']).filter(|field| !field.is_empty());
        for name in fields.filter_map(|field| field.split(':').next()) {
            let times = json.matches(&format!("{name}:")).count();
            assert_eq!(times, 1, "{name} in {json}");
        }
    }
}
