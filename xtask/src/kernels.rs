//! `cargo xtask kernels`: the committed device code of every device crate of the workspace.
//!
//! With it a machine that has a stable compiler and nothing else builds and runs everything. Each image
//! goes with the hash of the sources that it was made from, so that a stale one is noticed.

use crate::error::{Result, message};
use crate::workspace;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use warpheap_build::prebuilt::{self, Manifest};
use warpheap_build::{DeviceCrate, Format, Toolchain, toolchain, unpack};

/// Arguments of `cargo xtask kernels`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Change nothing; fail if prebuilt code and sources disagree. All images are held against the hashes
    /// of their sources; of each crate the one for no allocator and one other, which changes with the
    /// sources, are compiled again and compared, SPIR-V as far as its draft
    #[arg(long)]
    check: bool,
    /// With --check: compile all of them again, to the end
    #[arg(long, requires = "check")]
    every: bool,
    /// Only these device crates, or of a crate with an image for each allocator only these images; without
    /// names all those whose sources have changed
    #[arg(value_name = "CRATE[.ALLOCATOR]")]
    images: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// When a kernel does not compile; with `--check` when prebuilt code is missing, stale, damaged or
/// other than what the toolchain makes of the sources.
pub fn run(args: &Args) -> Result {
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
                Ok(()) => {}
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

/// The device crates of the workspace: the members whose build script is `warpheap-build`'s.
fn device_crates(metadata: &Value) -> Result<Vec<DeviceCrate>> {
    let crates: std::result::Result<Vec<_>, _> = device_crate_dirs(metadata)
        .iter()
        .map(|dir| DeviceCrate::read(dir))
        .collect();
    Ok(crates?)
}

fn device_crate_dirs(metadata: &Value) -> Vec<PathBuf> {
    let members: Vec<&Value> = metadata["workspace_members"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let mut dirs: Vec<PathBuf> = workspace::packages(metadata)
        .filter(|package| members.contains(&&package["id"]))
        .filter(|package| {
            let mut dependencies = package["dependencies"].as_array().into_iter().flatten();
            dependencies.any(|d| d["name"] == "warpheap-build" && d["kind"] == "build")
        })
        .filter_map(|package| Path::new(package["manifest_path"].as_str()?).parent())
        .map(Path::to_path_buf)
        .collect();
    dirs.sort();
    dirs
}

/// The images with these names; a crate's name stands for all of its images, no names for all.
fn choose(all: &[DeviceCrate], names: &[String]) -> Result<Vec<DeviceCrate>> {
    let images: Vec<_> = all.iter().flat_map(DeviceCrate::images).collect();
    let is = |image: &DeviceCrate, name: &str| image.name() == name || image.image_name() == name;
    for name in names {
        if !images.iter().any(|image| is(image, name)) {
            let known: Vec<_> = all.iter().map(DeviceCrate::name).collect();
            return message(format!(
                "`{name}` is no device crate of this workspace and no image of one; there are {}",
                known.join(", ")
            ));
        }
    }
    let wanted = |image: &DeviceCrate| names.is_empty() || names.iter().any(|name| is(image, name));
    Ok(images.into_iter().filter(|image| wanted(image)).collect())
}

/// The images that a check compiles again when it compiles some: of each crate the first and, by the hash
/// of the sources, another one. The hashes tell of stale images; this tells whether the compiler still makes
/// of the sources what was recorded.
fn sample(images: &[DeviceCrate]) -> Result<Vec<String>> {
    let mut sample = Vec::new();
    for first in images {
        if first.image_name() != first.name() {
            continue;
        }
        sample.push(first.image_name());
        let others: Vec<_> = images
            .iter()
            .filter(|image| image.name() == first.name() && image.image_name() != first.name())
            .collect();
        let hash = first.source_hash()?;
        let number: usize = hash.bytes().map(usize::from).sum();
        let other = others.get(number % others.len().max(1));
        sample.extend(other.map(|image| image.image_name()));
    }
    Ok(sample)
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
            // Of their own, since a cargo locks its target folder.
            let place = krate.target_dir().join(number.to_string());
            let krate = krate.with_target_dir(place);
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

fn has_image(crates: &[DeviceCrate], name: &str) -> bool {
    let mut images = crates.iter().flat_map(DeviceCrate::images);
    images.any(|image| image.image_name() == name)
}

/// Complaints about what lies in the folder and belongs to no device crate.
fn strays(folder: &Path, crates: &[DeviceCrate]) -> Result<Vec<String>> {
    let mut manifest = Manifest::read(folder)?;
    let files = manifest.retain(|name| has_image(crates, name));
    let stray = |file| format!("{file} belongs to no device crate of the workspace");
    Ok(files.into_iter().map(stray).collect())
}

/// Removes what belongs to no device crate any more.
fn prune(folder: &Path, crates: &[DeviceCrate]) -> Result {
    let mut manifest = Manifest::read(folder)?;
    let files = manifest.retain(|name| has_image(crates, name));
    if files.is_empty() {
        return Ok(());
    }
    for file in files {
        println!("removing {file}");
        crate::sh::remove(&folder.join(file))?;
    }
    Ok(manifest.write(folder)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_that_build_with_warpheap_build_are_device_crates() {
        let package = |id: &str, dependency: &str, kind: Value| {
            json!({"id": id, "manifest_path": format!("/w/{id}/Cargo.toml"),
                   "dependencies": [{"name": dependency, "kind": kind}]})
        };
        let metadata = json!({
            "workspace_members": ["kernels", "facade", "plain"],
            "packages": [
                package("kernels", "warpheap-build", json!("build")),
                package("facade", "warpheap-build", Value::Null),
                package("plain", "cc", json!("build")),
                package("foreign", "warpheap-build", json!("build")),
            ],
        });
        assert_eq!(device_crate_dirs(&metadata), [PathBuf::from("/w/kernels")]);
    }

    #[test]
    fn images_are_chosen_by_name_and_an_unknown_name_is_answered_with_the_crates() {
        let dir = workspace::root().join("kernels");
        let all = [DeviceCrate::read(&dir).unwrap()];
        let count = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| name.to_string()).collect();
            choose(&all, &names).unwrap().len()
        };
        assert_eq!(count(&[]), warpheap_build::ALLOCATORS.len() + 1);
        assert_eq!(count(&["warpheap-kernels"]), count(&[]));
        assert_eq!(count(&["warpheap-kernels.Bump"]), 1);
        let text = choose(&all, &["kernel".into()]).unwrap_err().to_string();
        assert!(
            text.contains("`kernel`") && text.contains("warpheap-kernels"),
            "{text}"
        );
    }

    #[test]
    fn a_check_compiles_two_images_of_a_divided_crate() {
        let dir = workspace::root().join("kernels");
        let images = DeviceCrate::read(&dir).unwrap().images();
        let sample = sample(&images).unwrap();
        assert_eq!(sample.len(), 2, "{sample:?}");
        assert_eq!(sample[0], "warpheap-kernels");
        assert!(sample[1].starts_with("warpheap-kernels."), "{sample:?}");
    }

    #[test]
    fn images_of_crates_that_are_gone_are_complained_about_and_removed() {
        let folder = std::env::temp_dir().join(format!("xtask-strays-{}", std::process::id()));
        let krate = DeviceCrate::read(&workspace::root().join("kernels")).unwrap();
        prebuilt::write(&folder, &krate, Format::Ptx, b"ptx", None, "rustc").unwrap();
        let file = folder.join("warpheap-kernels.ptx.gz");
        let mine = [krate];

        assert!(strays(&folder, &mine).unwrap().is_empty());
        prune(&folder, &mine).unwrap();
        assert!(file.is_file());
        assert_eq!(
            strays(&folder, &[]).unwrap(),
            ["warpheap-kernels.ptx.gz belongs to no device crate of the workspace"]
        );
        prune(&folder, &[]).unwrap();
        assert!(!file.exists() && strays(&folder, &[]).unwrap().is_empty());
        crate::sh::remove(&folder).unwrap();
    }
}
