//! `warpheap kmer`: the k-mers of DNA sequences, counted in a hash map that grows on the device.
//!
//! | module | what |
//! |---|---|
//! | `args` | the options |
//! | `show`, `plot` | what is printed and drawn |

pub mod args;
mod plot;
mod show;

use crate::error::CliError;
use crate::{heap_map, text};
use args::KmerArgs;
use warpheap_jobs::allocators::{self, DEFAULT};
use warpheap_jobs::device;
use warpheap_jobs::kmer;
use warpheap_jobs::progress::Progress;

/// Counts k-mers with each of the allocators asked for.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or counts wrongly.
pub fn run(args: &KmerArgs) -> Result<String, CliError> {
    heap_map::around(args.heap_map.as_deref(), args.json, |progress| {
        job(args, progress)
    })
}

fn job(args: &KmerArgs, progress: &dyn Progress) -> Result<String, CliError> {
    crate::plot::check(args.plot.as_deref())?;
    let allocators = allocators::named(&args.allocator, &kmer::all(), DEFAULT)?;
    // Before the sequences are made: a wrong name should not wait for a large file.
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let report = kmer::run(&device, &allocators, &args.options(), progress)?;
    if let Some(path) = &args.plot {
        plot::write(path, &report)?;
    }
    match args.json {
        true => text::json(&report),
        false => Ok(show::text(&report)),
    }
}
