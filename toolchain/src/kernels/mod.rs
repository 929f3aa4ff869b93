//! The images of a project: its kernels, compiled, in the folder `prebuilt` beside their sources.
//!
//! With them a machine that has a stable compiler and nothing else builds and runs everything. Each image
//! goes with the hash of the sources that it was made from, so that a stale one is noticed.
//!
//! | module | what, from the bottom up |
//! |---|---|
//! | `project` | which device crates a project has, and in which formats |
//! | `images` | which images a command is about, and files that belong to none |
//! | `profiles` | settings of the machine beside which no image is made |
//! | `jobs` | what is compiled at the same time |
//! | `distances` | the form in which images are stored |
//! | `refresh`, `compare` | one image: made anew where it is stale, or held against its sources |

mod compare;
mod distances;
mod images;
mod jobs;
mod profiles;
mod project;
mod refresh;

use crate::error::{Result, message};
use images::{Image, choose, prune, sample, strays};
use jobs::{Job, side_by_side};
use std::path::Path;
use std::sync::Mutex;
use warpheap_build::prebuilt::Manifest;
use warpheap_build::{DeviceCrate, Format, toolchain};

pub use project::Project;

/// Arguments of the command `kernels`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Change nothing; fail if prebuilt code and sources disagree. All images are held against the hashes
    /// of their sources; one of the crates that are divided by allocator and the PTX of one of the others, other ones whenever
    /// sources change, are compiled again and compared, SPIR-V as far as its draft
    #[arg(long)]
    check: bool,
    /// With --check: compile all of them again, to the end
    #[arg(long, requires = "check")]
    every: bool,
    /// How many images are compiled at the same time, half of them in each format. Each of them needs a core, and the largest ones 7 GB
    /// of memory
    #[arg(long, short, value_name = "NUMBER", default_value_t = jobs::FEWEST, value_parser = at_least_one_a_format)]
    jobs: usize,
    /// Only images of this format
    #[arg(long, value_name = "FORMAT", value_parser = ["ptx", "spv"])]
    only: Option<String>,
    /// Only these device crates, or of a crate with an image for each allocator only these images; without
    /// names all those whose sources have changed
    #[arg(value_name = "CRATE[.ALLOCATOR]")]
    images: Vec<String>,
}

fn at_least_one_a_format(text: &str) -> std::result::Result<usize, String> {
    let fewest = jobs::FEWEST;
    match text.parse() {
        Ok(number) if number >= fewest => Ok(number),
        _ => Err(format!(
            "a number from {fewest} on is needed: one for each format"
        )),
    }
}

/// Runs the command. It prints a line for each image that is compiled, with its name and its time.
///
/// # Errors
/// When cargo's configuration has profiles; when a kernel does not compile; with `--check` when prebuilt
/// code is missing, stale, damaged or other than what the toolchain makes of the sources.
pub fn run(args: &Args, project: &Project) -> Result {
    profiles::refuse(&project.root, profiles::cargo_home())?;
    let folder = project.folder();
    let chosen = choose(&project.crates, &args.images)?;
    let mut complaints = Vec::new();
    let todo = match args.check {
        true => {
            complaints.extend(strays(&folder, &project.crates)?);
            to_check(args, &folder, chosen, &mut complaints)?
        }
        false => {
            prune(&folder, &project.crates)?;
            to_refresh(args, &folder, chosen)?
        }
    };
    let jobs = with_toolchains(args, largest_last(&folder, todo)?)?;
    let nothing_to_do = jobs.is_empty() && !args.check;
    let files = Mutex::new(());
    complaints.extend(side_by_side(
        jobs,
        args.jobs,
        |krate, format, toolchain| {
            if args.check {
                compare::compare(&folder, krate, format, toolchain, args.every)
            } else {
                refresh::refresh(&folder, krate, format, toolchain, &files).map(|()| None)
            }
        },
    )?);
    if nothing_to_do {
        println!("{}: all images fit their sources", folder.display());
    }
    if complaints.is_empty() {
        return Ok(());
    }
    message(format!(
        "prebuilt kernels:\n  {}\n  do: {}, and commit {}",
        complaints.join("\n  "),
        project.command,
        folder.display()
    ))
}

/// An image and one of its formats.
type Todo = Vec<(DeviceCrate, Format)>;

/// What is compiled again of images that fit their sources; complains about the others.
fn to_check(
    args: &Args,
    folder: &Path,
    chosen: Vec<Image>,
    complaints: &mut Vec<String>,
) -> Result<Todo> {
    let sample = sample(&chosen)?;
    let mut todo = Vec::new();
    for image in chosen {
        let name = image.krate.image_name();
        let misses = image.misses(folder)?;
        if !misses.is_empty() {
            let miss = |(format, miss)| format!("{format} of {name}: {miss}");
            complaints.extend(misses.into_iter().map(miss));
            continue;
        }
        complaints.extend(compare::unguarded(folder, &image.krate)?);
        let all = args.every || !args.images.is_empty();
        let sampled = |format| sample.contains(&(name.clone(), format));
        todo.extend(
            image
                .in_formats()
                .filter(|(_, format)| all || sampled(*format)),
        );
    }
    Ok(todo)
}

/// What is compiled of images that are named, or that do not fit their sources.
fn to_refresh(args: &Args, folder: &Path, chosen: Vec<Image>) -> Result<Todo> {
    let mut todo = Vec::new();
    for image in chosen {
        if !args.images.is_empty() || !image.misses(folder)?.is_empty() {
            todo.extend(image.in_formats());
            continue;
        }
        // Nothing that it is made from has changed.
        let manifest = Manifest::read(folder)?;
        let entry = manifest.get(&image.krate.image_name(), Format::Spirv);
        if entry.is_some_and(|entry| entry.draft.is_none()) {
            todo.push((image.krate, Format::Spirv));
        }
    }
    Ok(todo)
}

/// In the order of what was compiled before: the largest image takes longest, and what comes last is begun first.
fn largest_last(folder: &Path, mut todo: Todo) -> Result<Todo> {
    let manifest = Manifest::read(folder)?;
    let size = |(krate, format): &(DeviceCrate, Format)| {
        let entry = manifest.get(&krate.image_name(), *format);
        let file = entry.map(|entry| folder.join(&entry.file));
        // Of one that was never compiled nothing is known: it comes first.
        file.and_then(|file| file.metadata().ok())
            .map_or(u64::MAX, |file| file.len())
    };
    todo.sort_by_cached_key(size);
    Ok(todo)
}

/// What is to be compiled with what compiles it.
fn with_toolchains(args: &Args, mut todo: Todo) -> Result<Vec<Job>> {
    if let Some(only) = &args.only {
        todo.retain(|(_, format)| format.extension() == only);
    }
    let (ptx, spirv) = (toolchain::find(Format::Ptx), toolchain::find(Format::Spirv));
    let mut jobs = Vec::new();
    for (krate, format) in todo {
        let toolchain = match format {
            Format::Ptx => &ptx,
            Format::Spirv => &spirv,
        };
        match toolchain {
            Ok(toolchain) => jobs.push((krate, format, toolchain.clone())),
            // The hashes agree, which is all that can be known here.
            Err(_) if args.check => println!(
                "{:<40} {format:<6} as its sources say; not recompiled, no toolchain makes {format} here",
                krate.image_name()
            ),
            Err(missing) => {
                return message(format!("the prebuilt kernels need {format}\n{missing}"));
            }
        }
    }
    Ok(jobs)
}
