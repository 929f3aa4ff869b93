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
use crate::{heap_map, ranks, text, trace};
use args::KmerArgs;
use warpheap_dist::World;
use warpheap_jobs::allocators::{self, DEFAULT};
use warpheap_jobs::device;
use warpheap_jobs::kmer;
use warpheap_jobs::progress::{Progress, Silent};

/// Counts k-mers with each of the allocators asked for; by all processes that a launcher of MPI started.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or counts wrongly.
pub fn run(args: &KmerArgs) -> Result<String, CliError> {
    ranks::around(|world| {
        // Files and the terminal are rank 0's.
        if world.rank() != 0 {
            return job(args, world, &Silent);
        }
        heap_map::around(args.heap_map.as_deref(), args.json, |progress| {
            job(args, world, progress)
        })
    })
}

/// The same by this process alone, on one device, with heaps that keep a trace.
///
/// # Errors
/// As [`run`]; options for what is not drawn.
pub fn traced(args: &KmerArgs, progress: &dyn Progress) -> Result<String, CliError> {
    trace::undrawn("kmer", args.heap_map.is_some() || args.plot.is_some())?;
    let allocators = allocators::named(&args.allocator, &kmer::traced(), DEFAULT)?;
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let report = kmer::run(&device, &allocators, &args.options(), progress)?;
    match args.json {
        true => text::json(&report),
        false => Ok(show::text(&report)),
    }
}

/// What is to be printed: nothing by ranks other than 0.
fn job(args: &KmerArgs, world: &World, progress: &dyn Progress) -> Result<String, CliError> {
    let asked = || {
        crate::plot::check(args.plot.as_deref())?;
        let allocators = allocators::named(&args.allocator, &kmer::all(), DEFAULT)?;
        // Before the sequences are made: a wrong name should not wait for a large file.
        let (backend, device) = (args.backend.as_deref(), args.device.as_deref());
        let devices = match world.size() {
            1 => device::open_some(backend, device)?,
            _ => vec![device::open_in(world, backend, device)?],
        };
        heap_map::of_one(args.heap_map.as_deref(), &devices)?;
        Ok::<_, CliError>((allocators, devices))
    };
    let (allocators, devices) = world.agree(asked())?;
    let options = args.options();
    let report = match (world.size(), &devices[..]) {
        (2.., [device]) => kmer::ranks::run(world, device, &allocators, &options, progress)?,
        _ => Some(kmer::run_on(&devices, &allocators, &options, progress)?),
    };
    let Some(report) = report else {
        return Ok(String::new());
    };
    if let Some(path) = &args.plot {
        plot::write(path, &report)?;
    }
    match args.json {
        true => text::json(&report),
        false => Ok(show::text(&report)),
    }
}
