//! Installing a toolchain that was made before: an archive of its folder.

use super::{RUST, RUSTUP_NAME, beside, layout};
use crate::error::{Result, message};
use crate::{debian, sh};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks the archive (or the archive in the folder) `from` to `place`, unless it is complete there.
///
/// # Errors
/// When there is no such archive or it does not hold a toolchain.
pub fn install(from: &Path, place: &Path) -> Result {
    if place.join(".complete").is_file() {
        eprintln!("{} is complete; nothing to unpack", place.display());
        return Ok(());
    }
    let archive = archive(from)?;
    debian::ensure(&["llvm-22", "xz-utils"], "The device toolchain", true)?;
    let part = beside(place, "part");
    sh::remove(&part)?;
    sh::make_dir(&part)?;
    eprintln!("unpacking {}", archive.display());
    sh::quiet(
        Command::new("tar")
            .arg("-xJf")
            .arg(&archive)
            .arg("--strip-components=1")
            .arg("-C")
            .arg(&part),
    )?;
    if !part.join("bin/rustc").is_file() {
        sh::remove(&part)?;
        return message(format!(
            "{} holds no bin/rustc: it is no device toolchain",
            archive.display()
        ));
    }
    layout::link_llvm_tools(&part)?;
    layout::finish(&part, place)
}

fn archive(from: &Path) -> Result<PathBuf> {
    if from.is_file() {
        return Ok(from.to_path_buf());
    }
    let inside = from.join(format!("{RUSTUP_NAME}-{RUST}.tar.xz"));
    if inside.is_file() {
        return Ok(inside);
    }
    message(format!(
        "no toolchain archive: neither {} nor {} is a file",
        from.display(),
        inside.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_an_archive_is_refused_by_name() {
        let text = install(Path::new("/nowhere"), Path::new("/nowhere/place"))
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("/nowhere/rust-device-1.96.0.tar.xz"),
            "{text}"
        );
    }
}
