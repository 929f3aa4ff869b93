//! The part of the tables that a rank reads.

use crate::error::JobError;
use crate::join::options::Options;
use crate::join::read;
use crate::join::report::Source;
use crate::join::tables::{Input, Tables};
use std::time::{Duration, Instant};
use warpheap::Device;
use warpheap_applications::Kernels;
use warpheap_dist::World;

/// What a rank has before anything is sent.
pub struct Loaded {
    pub kernels: Kernels,
    pub source: Source,
    pub tables: Tables,
    /// To read or generate the tables.
    pub time: Duration,
}

/// Loads the kernels, and reads or generates this rank's part of the tables.
///
/// # Errors
/// Settings that make no sense, a bad file, a device that fails.
pub fn load(world: &World, device: &Device, options: &Options) -> Result<Loaded, JobError> {
    options.check()?;
    let kernels = warpheap_applications::load(device)?;
    let started = Instant::now();
    let (rank, size) = (world.rank(), world.size());
    let (tables, source) = match &options.input {
        Input::Generated(generator) => {
            generator.check(size)?;
            (generator.part(rank, size), generator.source())
        }
        Input::Files { left, right } => {
            let tables = Tables {
                left: read::part(left, rank, size)?,
                right: read::part(right, rank, size)?,
            };
            let source = Source::Files {
                left: left.display().to_string(),
                right: right.display().to_string(),
            };
            (tables, source)
        }
    };
    Ok(Loaded {
        kernels,
        source,
        tables,
        time: started.elapsed(),
    })
}

/// Lets rank 0 complain of a file without a row; `all` has the rows that all ranks read.
///
/// # Errors
/// What a process that is alone says of the file.
pub fn some_rows(input: &Input, rank: usize, all: [u64; 2]) -> Result<(), JobError> {
    if let (Input::Files { left, right }, 0) = (input, rank) {
        for (path, rows) in [left, right].into_iter().zip(all) {
            if rows == 0 {
                read::read(path)?;
            }
        }
    }
    Ok(())
}
