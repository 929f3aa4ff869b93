//! Holds one image against what it was made from.

use super::distances::renumbered;
use crate::error::Result;
use std::path::Path;
use std::time::Instant;
use warpheap_build::prebuilt::{self, Manifest};
use warpheap_build::{DeviceCrate, Format, Toolchain};

/// A complaint if the finished PTX of an image takes a mask without the lane's own bit where it needs one.
///
/// # Errors
/// When the manifest or a source cannot be read.
pub(super) fn unguarded(folder: &Path, image: &DeviceCrate) -> Result<Option<String>> {
    let (name, source) = (image.image_name(), image.source_hash()?);
    let Ok(image) = prebuilt::take(folder, &name, Format::Ptx, &source)? else {
        return Ok(None);
    };
    Ok(
        warpheap_ptx::unguarded_mask(&String::from_utf8_lossy(&image)).map(|function| {
            format!("PTX of {name}: `{function}` takes a mask without the lane's own bit")
        }),
    )
}

/// Compiles once more and compares with what is committed; gives a complaint if it differs. Unless it is to go
/// `to_the_end`, drafts are compared where there are some.
///
/// # Errors
/// When it does not compile, or the manifest cannot be read.
pub(super) fn compare(
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
            renumbered(format, image)? == committed
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
