//! What is measured: scenarios, sizes, numbers of lanes.

use crate::BenchError;
use crate::options::Options;
use serde::Serialize;
use warpheap_api::host::{BackendKind, DeviceInfo};

/// The sizes of S1, in bytes.
const S1_SIZES: &[u32] = &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
/// The sizes of S3, in bytes.
const S3_SIZES: &[u32] = &[16, 64, 512, 8192];
/// The numbers of lanes of S3.
const S3_LANES: &[u32] = &[1, 1 << 8, 1 << 12, 1 << 16, 1 << 18, 1 << 20];
/// The sizes of a quick run.
const QUICK_SIZES: &[u32] = &[16, 64, 512];

/// A scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
pub enum Scenario {
    /// One size, fresh heap.
    #[value(name = "S1", alias = "s1")]
    S1,
    /// Scaling, warm heap.
    #[value(name = "S3", alias = "s3")]
    S3,
}

impl Scenario {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scenario::S1 => "S1",
            Scenario::S3 => "S3",
        }
    }

    /// Whether the heap is made fresh before each repeat.
    pub fn is_fresh(self) -> bool {
        matches!(self, Scenario::S1)
    }
}

/// One cell of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The scenario.
    pub scenario: Scenario,
    /// Bytes of each request.
    pub size: u32,
    /// Number of lanes, each with one request.
    pub n: u32,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The cells, in order.
    pub cells: Vec<Cell>,
    /// Bytes of the pool.
    pub pool: u64,
    /// Timed repeats of each measurement.
    pub repeats: u32,
    /// Lanes of a warp call together.
    pub warp: bool,
}

/// What is measured on a kind of device unless the user says otherwise.
struct Defaults {
    n: u32,
    pool: u64,
    repeats: u32,
}

impl Plan {
    /// The plan for these options on this device.
    ///
    /// # Errors
    /// [`BenchError::PoolTooSmall`] if a cell that was asked for by number does not fit.
    pub fn new(options: &Options, device: &DeviceInfo) -> Result<Self, BenchError> {
        let defaults = Defaults::of(device.backend, options.quick);
        let room = device.max_buffer_bytes.min(match device.memory_bytes {
            0 => u64::MAX,
            known => known / 2,
        });
        let pool = options.pool.unwrap_or(defaults.pool.min(room)) & !15;
        let n = options.n.unwrap_or(defaults.n);
        let mut cells = Vec::new();
        for &scenario in &options.scenarios() {
            let sizes = match (options.sizes.as_slice(), options.quick, scenario) {
                ([], true, _) => QUICK_SIZES,
                ([], false, Scenario::S1) => S1_SIZES,
                ([], false, Scenario::S3) => S3_SIZES,
                (asked, ..) => asked,
            };
            for &size in sizes {
                let most = fitting(size, pool);
                // A number that the user gave is not changed behind their back.
                if most == 0 || (options.n.is_some() && n > most && scenario == Scenario::S1) {
                    return Err(BenchError::PoolTooSmall { n, size, pool });
                }
                let cell = |n| Cell { scenario, size, n };
                match scenario {
                    Scenario::S1 => cells.push(cell(n.min(most))),
                    Scenario::S3 => {
                        let lanes = S3_LANES.iter().filter(|&&lanes| lanes <= n.min(most));
                        cells.extend(lanes.map(|&lanes| cell(lanes)));
                    }
                }
            }
        }
        Ok(Plan {
            cells,
            pool,
            repeats: options.repeats.unwrap_or(defaults.repeats),
            warp: options.warp,
        })
    }
}

impl Defaults {
    fn of(backend: BackendKind, quick: bool) -> Self {
        let (n, pool, repeats) = match (backend, quick) {
            (BackendKind::Host, false) => (1 << 14, 256 << 20, 5),
            (BackendKind::Host, true) => (1 << 10, 16 << 20, 3),
            (_, false) => (1 << 20, 8 << 30, 21),
            (_, true) => (1 << 16, 1 << 30, 5),
        };
        Defaults { n, pool, repeats }
    }
}

/// The largest power of two of requests of `size` bytes that take no more than half of the pool; 0 if
/// not even one does.
fn fitting(size: u32, pool: u64) -> u32 {
    let blocks = pool / 2 / u64::from(size.max(16));
    match blocks.min(1 << 31) {
        0 => 0,
        some => 1 << some.ilog2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn info(backend: BackendKind, max_buffer_bytes: u64) -> DeviceInfo {
        DeviceInfo {
            backend,
            name: "device".into(),
            driver: "driver".into(),
            warp_width: 32,
            max_block_dim: 1024,
            max_grid_dim: 1 << 30,
            max_buffer_bytes,
            memory_bytes: 100 << 30,
        }
    }

    fn plan(line: &str, device: &DeviceInfo) -> Result<Plan, BenchError> {
        let words = ["bench"].into_iter().chain(line.split_whitespace());
        Plan::new(&Options::parse_from(words), device)
    }

    #[test]
    fn a_full_run_on_a_gpu_is_that_of_the_published_tables() {
        let plan = plan("", &info(BackendKind::Cuda, 100 << 30)).unwrap();
        assert_eq!((plan.pool, plan.repeats), (8 << 30, 21));
        let cells = |scenario| plan.cells.iter().filter(move |c| c.scenario == scenario);
        assert_eq!(cells(Scenario::S1).count(), 10);
        for cell in cells(Scenario::S1) {
            let n = if cell.size == 8192 { 1 << 19 } else { 1 << 20 };
            assert_eq!(cell.n, n, "{cell:?}");
        }
        assert_eq!(cells(Scenario::S3).count(), 3 * 6 + 5);
    }

    #[test]
    fn a_device_with_small_buffers_gets_a_smaller_pool_and_fewer_lanes() {
        let small = info(BackendKind::Vulkan, 1 << 30);
        let plan = plan("--scenario S1 --sizes 4096", &small).unwrap();
        assert_eq!(plan.pool, 1 << 30);
        assert_eq!(plan.cells[0].n, 1 << 17);
    }

    #[test]
    fn numbers_that_were_asked_for_are_kept_or_refused() {
        let host = info(BackendKind::Host, 1 << 34);
        let kept = plan("--scenario S1 --n 1000 --sizes 100 --pool 1M", &host).unwrap();
        assert_eq!((kept.cells[0].n, kept.cells[0].size), (1000, 100));
        let text = plan("--n 100000 --sizes 100 --pool 1M", &host)
            .unwrap_err()
            .to_string();
        assert!(text.contains("100000 blocks of 100 bytes"), "{text}");
        assert!(plan("--sizes 100 --pool 100", &host).is_err());
    }
}
