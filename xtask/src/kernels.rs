//! `cargo xtask kernels`: the committed device code of every device crate of the workspace.
//!
//! With it a machine that has a stable compiler and nothing else builds and runs everything. Each image
//! goes with the hash of the sources that it was made from, so that a stale one is noticed.

mod images;
mod profiles;

use crate::error::{Result, message};
use crate::workspace;
use images::{choose, device_crates, prune, sample, strays};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use warpheap_build::prebuilt::{self, Manifest};
use warpheap_build::{DeviceCrate, Format, Toolchain, toolchain, unpack};

/// Arguments of `cargo xtask kernels`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Change nothing; fail if prebuilt code and sources disagree. All images are held against the hashes
    /// of their sources; one of each crate that is divided by allocator and one of the others, other ones whenever
    /// sources change, are compiled again and compared, SPIR-V as far as its draft
    #[arg(long)]
    check: bool,
    /// With --check: compile all of them again, to the end
    #[arg(long, requires = "check")]
    every: bool,
    /// Only images of this format
    #[arg(long, value_name = "FORMAT", value_parser = ["ptx", "spv"])]
    only: Option<String>,
    /// Only these device crates, or of a crate with an image for each allocator only these images; without
    /// names all those whose sources have changed
    #[arg(value_name = "CRATE[.ALLOCATOR]")]
    images: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// When cargo's configuration has profiles; when a kernel does not compile; with `--check` when prebuilt
/// code is missing, stale, damaged or other than what the toolchain makes of the sources.
pub fn run(args: &Args) -> Result {
    profiles::refuse(workspace::root(), profiles::cargo_home())?;
    let folder = workspace::root().join("prebuilt");
    let all = device_crates(&workspace::metadata()?)?;
    let chosen = choose(&all, &args.images)?;
    let mut complaints = Vec::new();
    let mut todo = Vec::new();
    if args.check {
        complaints.extend(strays(&folder, &all)?);
    } else {
        prune(&folder, &all)?;
    }
    let sample = sample(&chosen)?;
    for image in chosen {
        if args.check {
            match prebuilt::check(&folder, &image)? {
                Ok(()) => complaints.extend(unguarded(&folder, &image)?),
                Err(misses) => {
                    let name = image.image_name();
                    let miss = |(format, miss)| format!("{format} of {name}: {miss}");
                    complaints.extend(misses.into_iter().map(miss));
                    continue;
                }
            }
        } else if args.images.is_empty() && prebuilt::check(&folder, &image)?.is_ok() {
            // Nothing that it is made from has changed.
            let manifest = Manifest::read(&folder)?;
            let entry = manifest.get(&image.image_name(), Format::Spirv);
            if entry.is_some_and(|entry| entry.draft.is_none()) {
                todo.push((image, Format::Spirv));
            }
            continue;
        }
        if args.check
            && !args.every
            && args.images.is_empty()
            && !sample.contains(&image.image_name())
        {
            continue;
        }
        todo.extend(
            image
                .formats()
                .iter()
                .map(|&format| (image.clone(), format)),
        );
    }
    if let Some(only) = &args.only {
        todo.retain(|(_, format)| format.extension() == only);
    }
    let mut jobs = Vec::new();
    for (krate, format) in todo {
        match toolchain::find(format) {
            Ok(toolchain) => jobs.push((krate, format, toolchain)),
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
    complaints.extend(side_by_side(jobs, |krate, format, toolchain, files| {
        if args.check {
            compare(&folder, krate, format, toolchain, args.every)
        } else {
            refresh(&folder, krate, format, toolchain, files).map(|()| None)
        }
    })?);
    if complaints.is_empty() {
        return Ok(());
    }
    message(format!(
        "prebuilt kernels:\n  {}\n  do: cargo xtask kernels, and commit {}",
        complaints.join("\n  "),
        folder.display()
    ))
}

/// A complaint if the finished PTX of an image takes a mask without the lane's own bit where it needs one.
fn unguarded(folder: &Path, image: &DeviceCrate) -> Result<Option<String>> {
    let (name, source) = (image.image_name(), image.source_hash()?);
    let Ok(packed) = prebuilt::take(folder, &name, Format::Ptx, &source)? else {
        return Ok(None);
    };
    let text = match unpack(&packed) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return Ok(Some(format!("PTX of {name}: it does not unpack: {error}"))),
    };
    Ok(warpheap_ptx::unguarded_mask(&text).map(|function| {
        format!("PTX of {name}: `{function}` takes a mask without the lane's own bit")
    }))
}

/// How many images are compiled at a time: a compiler takes one processor and up to 7 GB.
const WORKERS: usize = 2;

/// A crate as one of its images, a format, and what makes it.
type Job = (DeviceCrate, Format, Toolchain);

/// Does every job, some at a time, and gives their complaints. The lock is for the files in the folder.
fn side_by_side(
    mut jobs: Vec<Job>,
    work: impl Fn(&DeviceCrate, Format, &Toolchain, &Mutex<()>) -> Result<Option<String>> + Sync,
) -> Result<Vec<String>> {
    // What takes longest is taken first, from the end.
    jobs.sort_by_key(|(_, format, _)| *format == Format::Spirv);
    let (jobs, files) = (Mutex::new(jobs), Mutex::new(()));
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let worker = &|number: usize| -> Result<Vec<String>> {
        let mut complaints = Vec::new();
        while let Some((krate, format, toolchain)) = next() {
            // Of their own, since a cargo locks its target folder. The first one's is that of build scripts and of the
            // builder's tests, which find what it has compiled of `core`.
            let krate = match number {
                0 => krate,
                _ => {
                    let place = krate.target_dir().join(number.to_string());
                    krate.with_target_dir(place)
                }
            };
            complaints.extend(work(&krate, format, &toolchain, &files)?);
        }
        Ok(complaints)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|number| scope.spawn(move || worker(number)))
            .collect();
        let mut complaints = Vec::new();
        for worker in workers {
            match worker.join() {
                Ok(outcome) => complaints.extend(outcome?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(complaints)
    })
}

fn refresh(
    folder: &Path,
    krate: &DeviceCrate,
    format: Format,
    toolchain: &Toolchain,
    files: &Mutex<()>,
) -> Result {
    let begin = Instant::now();
    let source = krate.source_hash()?;
    let unchanged = || match krate.source_hash()? == source {
        true => Ok(()),
        false => message(format!(
            "the sources of {} changed while it was compiled: run this again",
            krate.image_name()
        )),
    };
    let draft = prebuilt::draft(krate, format, toolchain)?;
    if let Some(draft) = &draft {
        unchanged()?;
        let _one_at_a_time = files.lock().unwrap_or_else(PoisonError::into_inner);
        if prebuilt::renew(folder, krate, format, draft, &toolchain.version)? {
            println!(
                "{:<40} {:<6} as it was     {:>4} s",
                krate.image_name(),
                format.to_string(),
                begin.elapsed().as_secs()
            );
            return Ok(());
        }
    }
    let image = prebuilt::compile(krate, format, toolchain)?;
    unchanged()?;
    let _one_at_a_time = files.lock().unwrap_or_else(PoisonError::into_inner);
    prebuilt::write(folder, krate, format, &image, draft, &toolchain.version)?;
    println!(
        "{:<40} {:<6} {:>5} KiB  {:>4} s",
        krate.image_name(),
        format.to_string(),
        image.len().div_ceil(1024),
        begin.elapsed().as_secs()
    );
    Ok(())
}

/// Compiles once more and compares with what is committed; gives a complaint if it differs. Unless it is to go
/// `to_the_end`, drafts are compared where there are some.
fn compare(
    folder: &Path,
    krate: &DeviceCrate,
    format: Format,
    toolchain: &Toolchain,
    to_the_end: bool,
) -> Result<Option<String>> {
    let (name, format_name) = (krate.image_name(), format.to_string());
    let begin = Instant::now();
    let manifest = Manifest::read(folder)?;
    let made_by = manifest.get(&name, format).map(|e| e.toolchain.as_str());
    if made_by != Some(&toolchain.version) {
        println!(
            "{name:<40} {format_name:<6} as its sources say; not recompiled, made by {} and here is {}",
            made_by.unwrap_or("nobody"),
            toolchain.version
        );
        return Ok(None);
    }
    let source = krate.source_hash()?;
    let committed = match prebuilt::take(folder, &name, format, &source)? {
        Ok(committed) => committed,
        Err(miss) => return Ok(Some(format!("{format} of {name}: {miss}"))),
    };
    let drafted = manifest.get(&name, format).and_then(|e| e.draft.as_ref());
    let same = match drafted.filter(|_| !to_the_end) {
        Some(drafted) => prebuilt::draft(krate, format, toolchain)?.as_ref() == Some(drafted),
        None => {
            let image = prebuilt::compile(krate, format, toolchain)?;
            // Of two versions of a compressor, each may have its own idea of the same image.
            unpack(&committed).is_ok_and(|committed| committed == image)
        }
    };
    if same {
        println!(
            "{name:<40} {format_name:<6} the same when recompiled  {:>4} s",
            begin.elapsed().as_secs()
        );
        return Ok(None);
    }
    Ok(Some(format!(
        "{format} of {name}: {} makes another image of the same sources",
        toolchain.version
    )))
}
