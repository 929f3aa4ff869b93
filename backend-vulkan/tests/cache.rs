//! Compiled kernels on disk. A driver may have nothing to say of its pipelines, and then none are kept.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use warpheap_vulkan::{VulkanConfig, open_unchecked};

/// Files with their contents and times.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|file| file.unwrap().path())
        .map(|path| {
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            (path.clone(), fs::read(path).unwrap(), time)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn kernels_are_kept_read_again_and_made_anew_if_damaged() {
    let folder = std::env::temp_dir().join(format!("warpheap-pipelines-{}", std::process::id()));
    let config = VulkanConfig {
        cache: Some(folder.clone()),
        ..common::config()
    };
    let works = || {
        let device = common::unless_absent(open_unchecked(&config))?;
        warpheap_kernels::selftest::check(&device).unwrap();
        Some(())
    };
    if works().is_none() {
        return;
    }
    let kept = files(&folder);
    eprintln!("{} kernels are kept", kept.len());
    works();
    assert!(files(&folder) == kept, "nothing is compiled again");
    for (path, bytes, _) in &kept {
        let mut bytes = bytes.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        fs::write(path, bytes).unwrap();
    }
    works();
    let again = files(&folder);
    assert_eq!(again.len(), kept.len());
    for ((path, bytes, _), (before, intact, _)) in again.iter().zip(&kept) {
        assert_eq!(path, before);
        assert_eq!(
            bytes.len(),
            intact.len(),
            "{} is whole again",
            path.display()
        );
    }
    let _ = fs::remove_dir_all(folder);
}
