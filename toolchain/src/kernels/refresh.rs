//! Makes one image anew.

use super::distances::store;
use crate::error::{Result, message};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use warpheap_build::prebuilt;
use warpheap_build::{BuildError, DeviceCrate, Format, Toolchain};

/// Makes an image anew, unless its draft says that it would be the same, and prints what was done. The lock is for the files in the folder.
///
/// # Errors
/// When it does not compile, its sources change meanwhile, or a file cannot be written.
pub(super) fn refresh(
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
    let image = match prebuilt::compile(krate, format, toolchain) {
        // Of several images one may be for an allocator that no kernel names.
        Err(BuildError::NoKernels { .. }) if krate.images().len() > 1 => {
            println!("{:<40} {format:<6} no kernels", krate.image_name());
            return Ok(());
        }
        image => image?,
    };
    let stored = store(format, &image)?;
    unchanged()?;
    let _one_at_a_time = files.lock().unwrap_or_else(PoisonError::into_inner);
    prebuilt::write(folder, krate, format, &stored, draft, &toolchain.version)?;
    println!(
        "{:<40} {:<6} {:>5} KiB  {:>4} s",
        krate.image_name(),
        format.to_string(),
        image.len().div_ceil(1024),
        begin.elapsed().as_secs()
    );
    Ok(())
}
