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
use crate::{heap_map, ranks, text, trace};
use args::JoinArgs;
use warpheap_dist::World;
use warpheap_jobs::allocators::{self, DEFAULT};
use warpheap_jobs::device;
use warpheap_jobs::join::{self, Options, USUAL};
use warpheap_jobs::progress::{Progress, Silent};

/// The command `join`; by all processes that a launcher of MPI started.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly.
pub fn run(args: &JoinArgs) -> Result<String, CliError> {
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

/// The same with heaps that keep a trace, and one probe.
///
/// # Errors
/// As [`run`]; options for what is not drawn.
pub fn traced(args: &JoinArgs, progress: &dyn Progress) -> Result<String, CliError> {
    trace::undrawn("join", args.heap_map.is_some() || args.plot.is_some())?;
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

/// What is to be printed: nothing by ranks other than 0.
fn job(args: &JoinArgs, world: &World, progress: &dyn Progress) -> Result<String, CliError> {
    let asked = || {
        crate::plot::check(args.plot.as_deref())?;
        let usual = USUAL.map(String::from);
        let names = match &args.allocator[..] {
            [] => &usual[..],
            names => names,
        };
        let chosen = allocators::named(names, &join::all(), DEFAULT)?;
        let (backend, device) = (args.backend.as_deref(), args.device.as_deref());
        let devices = match world.size() {
            1 => device::open_some(backend, device)?,
            _ => vec![device::open_in(world, backend, device)?],
        };
        heap_map::of_one(args.heap_map.as_deref(), &devices)?;
        Ok::<_, CliError>((chosen, devices))
    };
    let (chosen, devices) = world.agree(asked())?;
    let options = args.options();
    let report = match (world.size(), &devices[..]) {
        (2.., [device]) => join::ranks::run(world, device, &chosen, &options, progress)?,
        _ => Some(join::run_on(&devices, &chosen, &options, progress)?),
    };
    let Some(report) = report else {
        return Ok(String::new());
    };
    let text = match args.json {
        true => text::json(&report)?,
        false => show::text(&report),
    };
    if let Some(path) = &args.plot {
        plot::write(path, &report)?;
    }
    Ok(text)
}
