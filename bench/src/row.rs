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
    /// Time of a kernel that does all of a scenario.
    pub const TOTAL: &str = "total";
    /// Requests that failed.
    pub const FAILED: &str = "failed";
    /// Slots that could not be filled at first.
    pub const UNFILLED: &str = "unfilled";
    /// Bytes handed out over bytes of the pool.
    pub const UTILISATION: &str = "utilisation";
    /// The same after everything was freed, with another size.
    pub const REUSED: &str = "reused";
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
mod tests {
    use super::*;

    fn row() -> Row {
        let at = |ms| Spread::exactly(ms);
        Row {
            scenario: Scenario::S10,
            allocator: "Bump".into(),
            call: Call::Lane,
            case: "fill 95 %".into(),
            size: None,
            fill: Some(95),
            n: 256,
            pool_bytes: 1 << 30,
            floors: Some(Floors {
                empty: at(0.5),
                store: at(2.0),
                bump: at(3.0),
                fence: at(4.0),
            }),
            metrics: vec![
                Metric::new(Metric::TOTAL, Unit::Millis, at(6.0)),
                Metric::new(Metric::THROUGHPUT, Unit::MopsPerSecond, at(6.0)),
            ],
            right: true,
            status: OK.into(),
        }
    }

    #[test]
    fn times_alone_have_a_ratio_to_the_store_kernel() {
        let mut row = row();
        let ratio = |row: &Row, name| row.ratio(row.metric(name).unwrap());
        assert_eq!(ratio(&row, Metric::TOTAL), Some(3.0));
        assert_eq!(ratio(&row, Metric::THROUGHPUT), None);
        assert!(!row.metrics[1].lower_is_better);
        row.floors = None;
        assert_eq!(ratio(&row, Metric::TOTAL), None);
    }

    #[test]
    fn rows_survive_json_and_know_their_place() {
        let row = row();
        assert_eq!(row.place(), Some(95.0));
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
    }
}
