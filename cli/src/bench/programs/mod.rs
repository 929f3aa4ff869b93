//! The programs that the lab measures beside its own kernels: jobs of the command line, and a map. Each checks what it
//! comes to.

mod jobs;
mod map;

use warpheap::{BackendKind, Device};
use warpheap_bench::options::Options;
use warpheap_bench::program::{Measured, Program, Refused};
use warpheap_bench::scenario::Scenario;
use warpheap_jobs::error::JobError;

/// How large the programs are.
struct Sizes {
    /// Rows of either table of the join.
    rows: u32,
    /// Bases whose k-mers are counted.
    bases: u32,
    /// Logarithm of the vertices of the graph, its rounds, and the edges of each.
    graph: [u32; 3],
    /// Logarithm of the keys of the map.
    keys: u32,
}

impl Sizes {
    fn of(backend: BackendKind, quick: bool) -> Self {
        let (rows, bases, graph, keys) = match (backend, quick) {
            (BackendKind::Host, true) => (2_000, 10_000, [8, 2, 500], 10),
            (BackendKind::Host, false) => (200_000, 1_000_000, [14, 5, 20_000], 16),
            (_, true) => (100_000, 1_000_000, [14, 5, 20_000], 16),
            (_, false) => (10_000_000, 100_000_000, [20, 20, 1_000_000], 24),
        };
        Sizes {
            rows,
            bases,
            graph,
            keys,
        }
    }
}

/// Those of the programs that `options` ask for.
pub fn asked(device: &Device, options: &Options) -> Vec<Box<dyn Program>> {
    let sizes = Sizes::of(device.info().backend, options.quick);
    let programs: Vec<Box<dyn Program>> = vec![
        Box::new(jobs::join(device, sizes.rows)),
        Box::new(jobs::kmers(device, sizes.bases)),
        Box::new(jobs::graph(device, sizes.graph)),
        Box::new(map::growing(device, sizes.keys)),
    ];
    let scenarios = options.scenarios();
    let asked = programs.into_iter();
    asked
        .filter(|program| scenarios.contains(&program.scenario()))
        .collect()
}

/// A program whose input is made when it runs first, and kept for all allocators.
struct Job<R> {
    scenario: Scenario,
    case: String,
    n: u32,
    make: Box<dyn Fn() -> Result<R, JobError>>,
    ready: Option<Result<R, String>>,
    measure: fn(&R, &str) -> Result<Measured, JobError>,
}

impl<R> Program for Job<R> {
    fn scenario(&self) -> Scenario {
        self.scenario
    }

    fn case(&self) -> String {
        self.case.clone()
    }

    fn n(&self) -> u32 {
        self.n
    }

    fn measure(&mut self, allocator: &str) -> Result<Measured, Refused> {
        let make = || (self.make)().map_err(|error| error.to_string());
        match self.ready.get_or_insert_with(make) {
            Ok(ready) => (self.measure)(ready, allocator).map_err(|error| match error.is_wrong() {
                true => Refused::Wrong(error.to_string()),
                false => Refused::Cannot(error.to_string()),
            }),
            Err(why) => Err(Refused::Cannot(why.clone())),
        }
    }
}
