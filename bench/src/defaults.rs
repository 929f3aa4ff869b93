//! What is measured on a kind of device unless the user says otherwise.

use crate::scenario::Scenario;
use warpheap_api::host::BackendKind;
use warpheap_bench_kernels::mix::Mix;

/// The numbers that depend on the device, and those that do not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    /// Lanes.
    pub n: u32,
    /// Bytes of the pool.
    pub pool: u64,
    /// Timed repeats.
    pub repeats: u32,
    /// Lanes of S5.
    pub churn_lanes: u32,
    /// Rounds of each.
    pub churn_rounds: u32,
    /// Bytes of the pool that S6 fills.
    pub full_pool: u64,
    /// Blocks of S7.
    pub range_blocks: u32,
    /// Bytes of the pool of S10.
    pub churn_pool: u64,
    /// Mallocs and frees of each of its phases.
    pub operations: u64,
    /// How often a block of S11 doubles.
    pub doublings: u32,
    /// Elements of a vector of S11.
    pub elements: u32,
    /// Rounds of S19.
    pub size_rounds: u32,
}

impl Defaults {
    /// The numbers of lanes of S3.
    pub const SCALING: &[u32] = &[1, 1 << 8, 1 << 12, 1 << 16, 1 << 18, 1 << 20];
    /// The numbers of lanes of S9.
    pub const LATENCY: &[u32] = &[1 << 12, 1 << 16, 1 << 20];
    /// The sizes of S5 and S10.
    pub const CHURN: Mix = Mix::uniform(16, 1024);
    /// How full S10 makes the heap, in percent.
    pub const FILLS: &[u32] = &[50, 80, 95, 98];
    /// Bytes of a block of S11 before it grows.
    pub const GROWTH_LEAST: u32 = 16;
    /// Most lanes of S11.
    pub const GROWTH_LANES: u32 = 1 << 18;
    /// Elements of a vector of S18.
    pub const SHORT: u32 = 16;
    /// Bytes that S19 asks for, in percent of the pool.
    pub const SHARES: &[u32] = &[60, 70, 80];
    /// Most lanes of S12.
    pub const HANDOVER_LANES: u32 = 1 << 20;

    pub fn of(backend: BackendKind, quick: bool) -> Self {
        match (backend, quick) {
            (BackendKind::Host, false) => Defaults {
                n: 1 << 14,
                pool: 256 << 20,
                repeats: 5,
                churn_lanes: 1 << 11,
                churn_rounds: 64,
                full_pool: 8 << 20,
                range_blocks: 10_000,
                churn_pool: 16 << 20,
                operations: 500_000,
                doublings: 8,
                elements: 256,
                size_rounds: 30,
            },
            (BackendKind::Host, true) => Defaults {
                n: 1 << 10,
                pool: 16 << 20,
                repeats: 3,
                churn_lanes: 1 << 8,
                churn_rounds: 16,
                full_pool: 1 << 20,
                range_blocks: 1000,
                churn_pool: 2 << 20,
                operations: 20_000,
                doublings: 4,
                elements: 32,
                size_rounds: 5,
            },
            (_, false) => Defaults {
                n: 1 << 20,
                pool: 8 << 30,
                repeats: 21,
                churn_lanes: 1 << 16,
                churn_rounds: 64,
                full_pool: 2 << 30,
                range_blocks: 100_000,
                churn_pool: 1 << 30,
                operations: 100_000_000,
                doublings: 8,
                elements: 256,
                size_rounds: 50,
            },
            (_, true) => Defaults {
                n: 1 << 16,
                pool: 256 << 20,
                repeats: 5,
                churn_lanes: 1 << 13,
                churn_rounds: 16,
                full_pool: 16 << 20,
                range_blocks: 10_000,
                churn_pool: 16 << 20,
                operations: 50_000,
                doublings: 4,
                elements: 32,
                size_rounds: 10,
            },
        }
    }

    /// The mixes of S2: name, sizes, most lanes.
    pub fn mixes(&self) -> [(&'static str, Mix, u32); 4] {
        [
            ("pow2 16..64", Mix::powers(16, 64), u32::MAX),
            ("pow2 16..512", Mix::powers(16, 512), u32::MAX),
            ("pow2 16..4096", Mix::powers(16, 4096), u32::MAX),
            ("uniform 4..8192", Mix::uniform(4, 8192), 1 << 18),
        ]
    }

    /// The sizes of a scenario, in bytes.
    pub fn sizes(scenario: Scenario, quick: bool) -> &'static [u32] {
        const S1: &[u32] = &[
            16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262144, 1048576,
        ];
        match (scenario, quick) {
            (Scenario::S1, false) => S1,
            (Scenario::S3, false) => &[16, 64, 512, 8192],
            (Scenario::S1 | Scenario::S3, true) => &[16, 64, 512],
            (Scenario::S6, false) => &[16, 64, 256, 1024, 4096, 8192],
            (Scenario::S6, true) => &[64, 1024],
            (Scenario::S9, false) => &[16, 512],
            (Scenario::S9, true) => &[16],
            (Scenario::S12, false) => &[16, 256, 1024],
            (Scenario::S12, true) => &[64],
            (_, false) => &[16, 256, 4096],
            (_, true) => &[16, 256],
        }
    }
}
