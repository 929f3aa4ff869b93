//! What is measured: which cells on which device.

mod cell;

pub use cell::{Cell, Work};

use crate::BenchError;
use crate::defaults::Defaults;
use crate::options::Options;
use crate::row::Call;
use crate::scenario::Scenario;
use warpheap_api::host::DeviceInfo;
use warpheap_bench_kernels::mix::Mix;
use warpheap_bench_kernels::pattern::ENDS;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The cells, in order; those that share a pool follow each other.
    pub cells: Vec<Cell>,
    /// Bytes of the pool of scenarios that have none of their own.
    pub pool: u64,
    /// Timed repeats of each measurement.
    pub repeats: u32,
    /// How lanes call the allocator.
    pub call: Call,
}

impl Plan {
    /// The plan for these options on this device.
    ///
    /// # Errors
    /// [`BenchError::PoolTooSmall`] if a cell that was asked for by number and size does not fit, or
    /// nothing fits at all; [`BenchError::NoTrace`].
    pub fn new(options: &Options, device: &DeviceInfo) -> Result<Self, BenchError> {
        let defaults = Defaults::of(device.backend, options.quick);
        let room = device.max_buffer_bytes.min(match device.memory_bytes {
            0 => u64::MAX,
            known => known / 4,
        });
        let pool = options.pool.unwrap_or(defaults.pool.min(room)) & !15;
        let mut planner = Planner {
            options,
            defaults,
            pool,
            cells: Vec::new(),
        };
        for &scenario in &options.scenarios() {
            planner.add(scenario)?;
        }
        let mut cells = planner.cells;
        // Stable: within a pool the order is that of the scenarios.
        cells.sort_by_key(|cell| cell.pool != pool);
        Ok(Plan {
            cells,
            pool,
            repeats: options.repeats.unwrap_or(defaults.repeats),
            call: match options.warp {
                false => Call::Lane,
                true => Call::Warp,
            },
        })
    }
}

struct Planner<'a> {
    options: &'a Options,
    defaults: Defaults,
    pool: u64,
    cells: Vec<Cell>,
}

impl Planner<'_> {
    fn add(&mut self, scenario: Scenario) -> Result<(), BenchError> {
        let defaults = self.defaults;
        let n = self.options.n.unwrap_or(defaults.n);
        match scenario {
            Scenario::S1 | Scenario::S4 => {
                for size in self.sizes(scenario) {
                    let mix = Mix::one(size);
                    let n = self.lanes(n, size, mix)?;
                    self.push(scenario, size.to_string(), Work::Requests { mix, n });
                }
            }
            Scenario::S2 => {
                for (name, mix, most) in defaults.mixes() {
                    let n = self.lanes(n.min(most), mix.least, mix)?;
                    self.push(scenario, name.to_string(), Work::Requests { mix, n });
                }
            }
            Scenario::S3 => {
                for size in self.sizes(scenario) {
                    let mix = Mix::one(size);
                    for n in self.lane_counts(Defaults::SCALING, n, mix)? {
                        self.push(scenario, size.to_string(), Work::Requests { mix, n });
                    }
                }
            }
            Scenario::S5 => {
                let mix = Defaults::CHURN;
                let lanes = self.options.n.unwrap_or(defaults.churn_lanes);
                // Each lane holds four blocks.
                let lanes = lanes.min(self.fitting(mix)? / 4).max(1);
                for (case, step) in [("16..1024", ENDS), ("16..1024, every word", 1)] {
                    let rounds = defaults.churn_rounds;
                    let work = Work::Churn {
                        mix,
                        lanes,
                        rounds,
                        step,
                    };
                    self.push(scenario, case.to_string(), work);
                }
            }
            Scenario::S6 => {
                for size in self.sizes(scenario) {
                    let then = if size < 1024 { 4096 } else { 64 };
                    let work = Work::Utilisation {
                        size,
                        then,
                        asking: n,
                    };
                    self.push_in(scenario, size.to_string(), work, defaults.full_pool);
                }
            }
            Scenario::S7 => {
                for size in self.sizes(scenario) {
                    let n = self.options.n.unwrap_or(defaults.range_blocks);
                    let n = n.min(self.fitting(Mix::one(size))?);
                    self.push(scenario, size.to_string(), Work::Range { size, n });
                }
            }
            Scenario::S8 => self.push(scenario, bytes(self.pool), Work::StartUp),
            Scenario::S9 => {
                for size in self.sizes(scenario) {
                    for n in self.lane_counts(Defaults::LATENCY, n, Mix::one(size))? {
                        self.push(scenario, size.to_string(), Work::Latency { size, n });
                    }
                }
            }
            Scenario::S10 => {
                for &percent in Defaults::FILLS {
                    let work = Work::Fill {
                        mix: Defaults::CHURN,
                        percent,
                        operations: defaults.operations,
                    };
                    let case = format!("fill {percent} %");
                    self.push_in(scenario, case, work, defaults.churn_pool);
                }
            }
            Scenario::S11 => self.add_growth(n)?,
            Scenario::S12 => {
                for size in self.sizes(scenario) {
                    let mix = Mix::one(size);
                    let n = n.min(Defaults::HANDOVER_LANES).min(self.fitting(mix)?);
                    // The consumer's permutation wants a power of two.
                    let n = 1 << n.max(1).ilog2();
                    self.push(scenario, size.to_string(), Work::Handover { size, n });
                }
            }
            Scenario::S13 => self.push(scenario, "kernels".to_string(), Work::Resources),
            // Not the lab's: programs.
            Scenario::S14 | Scenario::S15 | Scenario::S16 | Scenario::S17 => {}
            Scenario::S18 => {
                let elements = Defaults::SHORT;
                let n = n.min(self.fitting(Mix::one(16 * elements))?);
                let work = Work::Vector { elements, n };
                self.push(scenario, format!("push {elements} words"), work);
            }
            Scenario::S19 => {
                for &percent in Defaults::SHARES {
                    let rounds = defaults.size_rounds;
                    let work = Work::Sizes { percent, rounds };
                    let case = format!("{percent} % of the pool");
                    self.push_in(scenario, case, work, defaults.churn_pool);
                }
            }
            Scenario::S20 => {
                let script = self.options.replay.as_ref().ok_or(BenchError::NoTrace)?;
                let lanes = script.lanes();
                self.push(scenario, script.name.clone(), Work::Replay { lanes });
            }
        }
        Ok(())
    }

    fn add_growth(&mut self, n: u32) -> Result<(), BenchError> {
        let n = n.min(Defaults::GROWTH_LANES);
        let (least, doublings) = (Defaults::GROWTH_LEAST, self.defaults.doublings);
        let most = least << doublings;
        // All blocks that a lane ever has take less than twice the last.
        let lanes = n.min(self.fitting(Mix::one(2 * most))?);
        let work = Work::Realloc {
            least,
            doublings,
            n: lanes,
        };
        self.push(Scenario::S11, format!("realloc {least}..{most}"), work);
        let elements = self.defaults.elements;
        let lanes = n.min(self.fitting(Mix::one(16 * elements))?);
        let work = Work::Vector { elements, n: lanes };
        self.push(Scenario::S11, format!("push {elements} words"), work);
        Ok(())
    }

    fn sizes(&self, scenario: Scenario) -> Vec<u32> {
        match self.options.sizes.as_slice() {
            [] => Defaults::sizes(scenario, self.options.quick).to_vec(),
            asked => asked.to_vec(),
        }
    }

    /// The most lanes, a power of two, whose requests take no more than half of the pool.
    fn fitting(&self, mix: Mix) -> Result<u32, BenchError> {
        let each = mean_bytes(mix).max(16);
        match (self.pool / 2 / each).min(1 << 31) {
            0 => Err(self.too_small(1, mix.least)),
            some => Ok(1 << some.ilog2()),
        }
    }

    /// `n` lanes, or as many as fit; a number that the user gave together with a size is not changed
    /// behind their back.
    fn lanes(&self, n: u32, size: u32, mix: Mix) -> Result<u32, BenchError> {
        let most = self.fitting(mix)?;
        let exact = self.options.n.is_some() && !self.options.sizes.is_empty();
        match n > most && exact {
            true => Err(self.too_small(n, size)),
            false => Ok(n.min(most)),
        }
    }

    /// Those of `counts` that are no more than `n` and fit.
    fn lane_counts(&self, counts: &[u32], n: u32, mix: Mix) -> Result<Vec<u32>, BenchError> {
        let most = n.min(self.fitting(mix)?);
        let counts: Vec<_> = counts.iter().copied().filter(|&n| n <= most).collect();
        Ok(if counts.is_empty() {
            vec![most]
        } else {
            counts
        })
    }

    fn too_small(&self, n: u32, size: u32) -> BenchError {
        let pool = self.pool;
        BenchError::PoolTooSmall { n, size, pool }
    }

    fn push(&mut self, scenario: Scenario, case: String, work: Work) {
        self.push_in(scenario, case, work, self.pool);
    }

    fn push_in(&mut self, scenario: Scenario, case: String, work: Work, pool: u64) {
        self.cells.push(Cell {
            scenario,
            case,
            pool: pool.min(self.pool),
            work,
        });
    }
}

/// The mean size of the requests of `mix`, in bytes.
fn mean_bytes(mix: Mix) -> u64 {
    let (least, kinds) = (u64::from(mix.least), u64::from(mix.kinds));
    match mix.step {
        0 => least * ((1 << kinds) - 1) / kinds,
        step => least + (kinds - 1) * u64::from(step) / 2,
    }
}

/// A number of bytes in the largest unit of which it is a multiple.
fn bytes(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes != 0 && bytes % (1 << shift) == 0 {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests;
