//! `warpheap join`: a hash join that writes what it finds into pages of the heap.
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
use args::JoinArgs;
use warpheap_jobs::allocators::{self, DEFAULT};
use warpheap_jobs::device;
use warpheap_jobs::join::{self, Options, USUAL};
use warpheap_jobs::progress::Progress;

/// The command `join`.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly.
pub fn run(args: &JoinArgs) -> Result<String, CliError> {
    heap_map::around(args.heap_map.as_deref(), args.json, |progress| {
        job(args, progress)
    })
}

/// The same with heaps that keep a trace, and one probe.
///
/// # Errors
/// As [`run`]; options for what is not drawn.
pub fn traced(args: &JoinArgs, progress: &dyn Progress) -> Result<String, CliError> {
    if args.heap_map.is_some() || args.plot.is_some() {
        return Err(CliError::Usage(
            "a job that is recorded draws nothing: give --heap-map and --plot to `warpheap join`"
                .to_owned(),
        ));
    }
    let chosen = allocators::named(&args.allocator, &join::traced(), DEFAULT)?;
    let options = Options {
        repeats: 1,
        ..args.options()
    };
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let report = join::run(&device, &chosen, &options, progress)?;
    match args.json {
        true => text::json(&report),
        false => Ok(show::text(&report)),
    }
}

fn job(args: &JoinArgs, progress: &dyn Progress) -> Result<String, CliError> {
    crate::plot::check(args.plot.as_deref())?;
    let usual = USUAL.map(String::from);
    let names = match &args.allocator[..] {
        [] => &usual[..],
        names => names,
    };
    let chosen = allocators::named(names, &join::all(), DEFAULT)?;
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let report = join::run(&device, &chosen, &args.options(), progress)?;
    let text = match args.json {
        true => text::json(&report)?,
        false => show::text(&report),
    };
    if let Some(path) = &args.plot {
        plot::write(path, &report)?;
    }
    Ok(text)
}
