//! `warpheap` and `warpheap graph`: a graph built inside kernels that allocate, and one that changes.
//!
//! | module | what |
//! |---|---|
//! | `args` | the options |
//! | `show`, `changing` | what is printed and drawn |

pub mod args;
mod changing;
mod show;

use crate::error::CliError;
use crate::{heap_map, ranks, text, trace};
use args::{FOR_BUILT, GraphArgs, JobArgs};
use warpheap_dist::World;
use warpheap_jobs::allocators::{self, DEFAULT};
use warpheap_jobs::device;
use warpheap_jobs::graph::report::Report;
use warpheap_jobs::graph::{self, Options};
use warpheap_jobs::progress::{Progress, Silent};

/// The command without a name: a generated graph with every allocator; by all processes that a launcher of MPI started.
///
/// # Errors
/// As [`one`].
pub fn table(args: &JobArgs) -> Result<String, CliError> {
    let options = || Ok(args.options(args.input()));
    ranks::around(|world| {
        map(args, world, |progress| {
            build(args, "all", options, world, progress)
        })
    })
}

/// The command `graph`: a graph, by default with the one allocator that a user would take; by all processes that a launcher of MPI
/// started, if it is built.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly.
pub fn one(args: &GraphArgs) -> Result<String, CliError> {
    let job = &args.job;
    if args.changes.asked() {
        return ranks::around(|world| {
            world.agree(by_one(world))?;
            map(job, world, |progress| changing::run(args, progress))
        });
    }
    let options = || Ok(job.options(args.input()?));
    ranks::around(|world| {
        map(job, world, |progress| {
            build(job, DEFAULT, options, world, progress)
        })
    })
}

/// Refuses several processes.
fn by_one(world: &World) -> Result<(), CliError> {
    match world.size() {
        1 => Ok(()),
        _ => Err(CliError::Usage(format!(
            "a job of several processes {FOR_BUILT}; or start one process"
        ))),
    }
}

/// The command `graph` of a graph that is built, with heaps that keep a trace.
///
/// # Errors
/// As [`one`]; options of a graph that changes, of a heap that grows, and for what is not drawn.
pub fn traced(args: &GraphArgs, progress: &dyn Progress) -> Result<String, CliError> {
    let job = &args.job;
    trace::undrawn("graph", job.heap_map.is_some())?;
    let refused = [
        (args.changes.asked(), "a graph that changes"),
        (job.grow.is_some(), "a heap that grows (--grow)"),
    ];
    for (asked, what) in refused {
        if asked {
            return Err(CliError::Usage(format!(
                "{what} keeps no trace: record a graph that is built in a heap of one size"
            )));
        }
    }
    let chosen = allocators::named(&job.allocator, &graph::traced(), DEFAULT)?;
    let device = device::open(job.backend.as_deref(), job.device.as_deref())?;
    let options = job.options(args.input()?);
    let report = graph::run(&device, &chosen, &options, progress)?;
    shown(job, &report)
}

/// Does a job of which a map of the heap may be drawn. Files and the terminal are rank 0's.
fn map(
    args: &JobArgs,
    world: &World,
    job: impl FnOnce(&dyn Progress) -> Result<String, CliError>,
) -> Result<String, CliError> {
    match world.rank() {
        0 => heap_map::around(args.heap_map.as_deref(), args.json, job),
        _ => job(&Silent),
    }
}

/// What is to be printed of a graph that is built: nothing by ranks other than 0. Opens the device before the graph is made: a wrong
/// name should not wait for a large file.
fn build(
    args: &JobArgs,
    otherwise: &str,
    options: impl FnOnce() -> Result<Options, CliError>,
    world: &World,
    progress: &dyn Progress,
) -> Result<String, CliError> {
    let asked = || {
        let options = options()?;
        let chosen = allocators::named(&args.allocator, &graph::all(), otherwise)?;
        let (backend, device) = (args.backend.as_deref(), args.device.as_deref());
        let device = match world.size() {
            1 => device::open(backend, device)?,
            _ => device::open_in(world, backend, device)?,
        };
        Ok::<_, CliError>((options, chosen, device))
    };
    let (options, chosen, device) = world.agree(asked())?;
    let report = match world.size() {
        1 => Some(graph::run(&device, &chosen, &options, progress)?),
        _ => graph::parts::run(world, &device, &chosen, &options, progress)?,
    };
    report.map_or_else(|| Ok(String::new()), |report| shown(args, &report))
}

fn shown(args: &JobArgs, report: &Report) -> Result<String, CliError> {
    match args.json {
        true => text::json(report),
        false => Ok(show::text(report)),
    }
}
