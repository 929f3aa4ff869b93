//! The result of one cell of a scenario.

use crate::scenario::{Axis, Scenario};
use crate::stats::Spread;
use serde::{Deserialize, Serialize};

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Milliseconds.
    Millis,
    /// Nanoseconds.
    Nanos,
    /// Millions of operations per second.
    MopsPerSecond,
    /// One quantity over another.
    Ratio,
    /// Hundredths.
    Percent,
    /// How many.
    Count,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// What tables and plots write behind a number; empty for pure numbers.
    pub fn label(self) -> &'static str {
        match self {
            Unit::Millis => "ms",
            Unit::Nanos => "ns",
            Unit::MopsPerSecond => "Mop/s",
            Unit::Ratio | Unit::Count => "",
            Unit::Percent => "%",
            Unit::Bytes => "B",
        }
    }

    /// Whether less is better, unless a [`Metric`] says otherwise.
    pub fn lower_is_better(self) -> bool {
        !matches!(self, Unit::MopsPerSecond)
    }
}

/// One measured quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name, such as [`MALLOC`](Metric::MALLOC).
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// Whether less is better.
    pub lower_is_better: bool,
    /// Its value; counts that do not vary have no width.
    pub value: Spread,
}

impl Metric {
    /// Time of the kernel that allocates.
    pub const MALLOC: &str = "malloc";
    /// Time of the kernel that frees.
    pub const FREE: &str = "free";
    /// [`FREE`](Metric::FREE) over the floor `fence`.
    pub const FREE_FENCE: &str = "free/fence";
    /// [`MALLOC`](Metric::MALLOC) for each byte, over that of requests of [`PAGE`] bytes.
    pub const MALLOC_BYTE: &str = "malloc/byte";
    /// [`FREE`](Metric::FREE) for each byte, over that of requests of [`PAGE`] bytes.
    pub const FREE_BYTE: &str = "free/byte";
    /// Time of a kernel that does all of a scenario.
    pub const TOTAL: &str = "total";
    /// Time of one of several launches.
    pub const LAUNCH: &str = "launch";
    /// Blocks that were had.
    pub const MALLOCS: &str = "mallocs";
    /// Blocks that were given back.
    pub const FREES: &str = "frees";
    /// Blocks that were resized.
    pub const RESIZES: &str = "resizes";
    /// Bytes of the blocks that are there at the end, as they were asked for.
    pub const LIVE: &str = "live";
    /// Requests that failed.
    pub const FAILED: &str = "failed";
    /// Bytes that a full heap of mixed sizes has handed out, over bytes of the pool.
    pub const CAPACITY: &str = "capacity";
    /// Slots that could not be filled at first.
    pub const UNFILLED: &str = "unfilled";
    /// Bytes handed out over bytes of the pool.
    pub const UTILISATION: &str = "utilisation";
    /// The same after everything was freed, with another size.
    pub const REUSED: &str = "reused";
    /// Time of a kernel whose lanes all ask a full heap in vain.
    pub const REFUSED: &str = "refused";
    /// Bytes of the pool that are tied to what was handed out, over the bytes asked for.
    pub const FOOTPRINT: &str = "footprint";
    /// From the lowest to the highest byte over the bytes asked for.
    pub const RANGE: &str = "range";
    /// The host's time to make a heap fresh.
    pub const FORMAT: &str = "format";
    /// The median of all lanes.
    pub const MEDIAN: &str = "median";
    /// What 99 % of all lanes stay below.
    pub const P99: &str = "p99";
    /// What 99.9 % of all lanes stay below.
    pub const P999: &str = "p99.9";
    /// The slowest lane.
    pub const WORST: &str = "worst";
    /// Operations over time.
    pub const THROUGHPUT: &str = "throughput";
    /// Registers of a lane.
    pub const REGISTERS: &str = "registers";
    /// Local memory of a lane: what did not fit into registers.
    pub const LOCAL: &str = "local";
    /// Machine code of a kernel.
    pub const CODE: &str = "code";

    /// A quantity where less is better or more, as its unit says.
    pub fn new(name: &str, unit: Unit, value: Spread) -> Self {
        Metric {
            name: name.to_string(),
            unit,
            lower_is_better: unit.lower_is_better(),
            value,
        }
    }

    /// The same quantity, of which more is better.
    pub fn more_is_better(mut self) -> Self {
        self.lower_is_better = false;
        self
    }
}

/// How lanes call the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Call {
    /// Each by itself.
    Lane,
    /// Those of a warp together.
    Warp,
}

impl Call {
    /// `lane` or `warp`.
    pub fn name(self) -> &'static str {
        match self {
            Call::Lane => "lane",
            Call::Warp => "warp",
        }
    }
}

/// What a kernel costs that allocates nothing, or nearly nothing, at one number of lanes; in
/// milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floors {
    /// Does nothing.
    pub empty: Spread,
    /// Stores one word per lane.
    pub store: Spread,
    /// Moves one shared pointer, once per warp: `malloc` of 16 bytes of the allocator `Bump`.
    pub bump: Spread,
    /// One release fence and one atomic on a word of its own per warp.
    pub fence: Spread,
}

impl Floors {
    /// The floors with their names, for tables and plots.
    pub fn named(&self) -> [(&'static str, Spread); 4] {
        [
            ("empty", self.empty),
            ("store", self.store),
            ("bump", self.bump),
            ("fence", self.fence),
        ]
    }
}

/// One cell of a scenario with one allocator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The scenario.
    pub scenario: Scenario,
    /// The allocator.
    pub allocator: String,
    /// How lanes call it.
    pub call: Call,
    /// What varies, in words: `16`, `pow2 16..512`, `fill 95 %`, a kernel's name.
    pub case: String,
    /// Bytes of each request, where there is one size.
    pub size: Option<u32>,
    /// How full the heap was, in percent, where that varies.
    pub fill: Option<u32>,
    /// Number of lanes.
    pub n: u32,
    /// Bytes of the pool.
    pub pool_bytes: u64,
    /// The floors at this number of lanes, where times are measured.
    pub floors: Option<Floors>,
    /// What was measured; nothing if something went wrong.
    pub metrics: Vec<Metric>,
    /// Whether what was handed out was right.
    pub right: bool,
    /// `ok`, or what is to be said of it.
    pub status: String,
}

/// Bytes of the requests that larger ones are compared with: the bar is that there is no cliff above.
pub const PAGE: u32 = 4096;

/// The [`Row::status`] of a row that nothing is to be said of.
pub const OK: &str = "ok";

impl Row {
    /// The metric with this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// A time over that of the kernel that stores one word per lane; `None` for what is no time in
    /// milliseconds, and where there are no floors.
    pub fn ratio(&self, metric: &Metric) -> Option<f64> {
        let store = self.floors?.store.median;
        (metric.unit == Unit::Millis && store > 0.0).then(|| metric.value.median / store)
    }

    /// Adds what follows from this row and its floors, or from it and `earlier` rows of its run: in S1
    /// the time for each byte of large requests beside that of requests of [`PAGE`] bytes, in S3 the
    /// time to free beside that of a fence, in programs every time beside that of `Bump`.
    pub fn relate(&mut self, earlier: &[Row]) {
        match self.scenario {
            Scenario::S1 => {
                let page = earlier.iter().find(|row| row.is_page_of(self));
                let times = [Metric::MALLOC, Metric::FREE].map(|name| {
                    let page = page.filter(|_| self.size > Some(PAGE))?;
                    self.each_byte(name)?.over(&page.each_byte(name)?)
                });
                let names = [Metric::MALLOC_BYTE, Metric::FREE_BYTE];
                self.add_ratios(names.map(str::to_owned).into_iter().zip(times));
            }
            Scenario::S3 => {
                let free = self.metric(Metric::FREE).map(|free| free.value);
                let fence = self.floors.map(|floors| floors.fence);
                let ratio = free.zip(fence).and_then(|(free, fence)| free.over(&fence));
                self.add_ratios([(Metric::FREE_FENCE.to_owned(), ratio)].into_iter());
            }
            Scenario::S14 | Scenario::S15 | Scenario::S16 | Scenario::S17 | Scenario::S18 => {
                let same = |row: &&Row| (row.scenario, &row.case) == (self.scenario, &self.case);
                let bump = earlier
                    .iter()
                    .filter(same)
                    .find(|row| row.allocator == "Bump");
                let times = self.metrics.iter().filter(|m| m.unit == Unit::Millis);
                let beside = |time: &Metric| {
                    let other = bump.and_then(|row| row.metric(&time.name));
                    let ratio = other.and_then(|other| time.value.over(&other.value));
                    (format!("{}/Bump", time.name), ratio)
                };
                let ratios: Vec<_> = times.map(beside).collect();
                self.add_ratios(ratios.into_iter());
            }
            _ => {}
        }
    }

    fn add_ratios(&mut self, ratios: impl Iterator<Item = (String, Option<Spread>)>) {
        let known = ratios.filter_map(|(name, ratio)| Some((name, ratio?)));
        let metrics = known.map(|(name, ratio)| Metric::new(&name, Unit::Ratio, ratio));
        self.metrics.extend(metrics);
    }

    /// Whether it is the row of [`PAGE`] bytes that belongs to `other`.
    fn is_page_of(&self, other: &Row) -> bool {
        let of = |row: &Row| (row.scenario, row.call, row.pool_bytes);
        self.size == Some(PAGE) && self.allocator == other.allocator && of(self) == of(other)
    }

    /// A time of all lanes for each byte that they ask for together.
    fn each_byte(&self, name: &str) -> Option<Spread> {
        let bytes = f64::from(self.size?) * f64::from(self.n);
        Some(self.metric(name)?.value.scaled(1.0 / bytes))
    }

    /// Where the row lies along the axis of its scenario; `None` if that has names alone.
    pub fn place(&self) -> Option<f64> {
        match self.scenario.axis() {
            Axis::Size => self.size.map(f64::from),
            Axis::Lanes => Some(f64::from(self.n)),
            Axis::Fill => self.fill.map(f64::from),
            Axis::Case => None,
        }
    }
}

#[cfg(test)]
mod tests;
