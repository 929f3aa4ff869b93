//! Profiles that a user's workspace has, so that its own tests compile fast.

use crate::{PANIC, PTX_KERNEL, SPIRV_KERNEL, device_crate, device_toolchain};
use std::fs;
use tempfile::TempDir;
use warpheap_build::{Format, compile_ptx, compile_spirv};

/// For the device crate.
const FOR_ONE: &str = "[profile.release.package.profiled]\nopt-level = 0\ndebug-assertions = true\ncodegen-units = 16\n";
/// For all crates, `core` among them, which is then compiled once more.
const FOR_ALL: &str = "[profile.release]\nopt-level = 1\noverflow-checks = true\n\
    [profile.release.package.\"*\"]\nopt-level = 1\ndebug = true\n";

#[test]
fn profiles_of_the_users_workspace_do_not_reach_images() {
    for (format, kernel, for_all) in [
        (Format::Ptx, PTX_KERNEL, FOR_ALL),
        // There `core` takes a minute.
        (Format::Spirv, SPIRV_KERNEL, ""),
    ] {
        let Some(toolchain) = device_toolchain(format) else {
            return;
        };
        let compiled = [String::new(), format!("{FOR_ONE}{for_all}")].map(|profiles| {
            let temp = TempDir::new().expect("temporary folder");
            let krate = device_crate(&temp, "profiled", &format!("{PANIC}{kernel}"));
            let manifest = krate.dir().join("Cargo.toml");
            let text = fs::read_to_string(&manifest).expect("manifest") + &profiles;
            fs::write(&manifest, text).expect("manifest");
            match format {
                Format::Ptx => compile_ptx(&krate, &toolchain).map(String::into_bytes),
                _ => compile_spirv(&krate, &toolchain),
            }
            .expect("an image")
        });
        assert!(compiled[0] == compiled[1], "{format}");
    }
}
