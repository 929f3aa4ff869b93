//! The manifest, and when prebuilt code is taken: with crates made in temporary folders.

mod checks;
#[path = "../common/mod.rs"]
mod common;
mod declared;
#[path = "../common/stored.rs"]
mod images;

use std::fs;
use std::path::Path;

use common::{hash, put, workspace};
use images::stored_image;
use tempfile::TempDir;
use warpheap_build::prebuilt::{self, Entry, PrebuiltMiss};
use warpheap_build::{
    ALLOCATORS, BuildError, DeviceCrate, Format, ImageSource, Manifest, Mode, Options, Search,
    stored, try_build, unpack,
};

/// No toolchain anywhere.
fn nowhere() -> Search {
    Search {
        toolchain_dir: Some("/nowhere/toolchain".into()),
        rustup_toolchains: Some("/nowhere/rustup".into()),
        ..Search::default()
    }
}

fn options(root: &Path) -> Options {
    let out = root.join("out");
    fs::create_dir_all(&out).expect("folder");
    let mut options = Options::new(root.join("dev"), out).formats([Format::Ptx]);
    options.search = nowhere();
    options
}

#[test]
fn the_manifest_survives_writing_and_reading() {
    let temp = TempDir::new().expect("temporary folder");
    assert_eq!(
        Manifest::read(temp.path()).expect("empty"),
        Manifest::default()
    );
    let entry = |n: u32| Entry {
        file: format!("k{n}.ptx"),
        sha256: format!("{n}"),
        source: "s \"quoted\"".to_owned(),
        toolchain: "rustc 1.96.0".to_owned(),
        draft: (n % 2 == 0).then(|| format!("draft {n}")),
    };
    let mut manifest = Manifest::default();
    manifest.set("k", Format::Ptx, entry(1));
    manifest.set("k", Format::Spirv, entry(2));
    manifest.set("a", Format::Spirv, entry(3));
    manifest.set("k", Format::Ptx, entry(4));
    manifest.write(temp.path()).expect("write");
    let read = Manifest::read(temp.path()).expect("read");
    assert_eq!(read, manifest);
    assert_eq!(read.get("k", Format::Ptx), Some(&entry(4)));
    assert_eq!(read.get("a", Format::Ptx), None);
    assert_eq!(manifest.retain(|krate| krate == "k"), ["k3.ptx"]);
    assert_eq!(manifest.get("a", Format::Spirv), None);
    assert_eq!(manifest.get("k", Format::Ptx), Some(&entry(4)));
}

#[test]
fn a_bad_manifest_is_named() {
    let temp = TempDir::new().expect("temporary folder");
    for text in [
        "{",
        "{}",
        "{\"form\": 9, \"images\": {}}",
        "{\"form\": 2, \"images\": {\"k\": {\"ptx\": {}}}}",
    ] {
        put(temp.path().join("manifest.json"), text);
        let error = Manifest::read(temp.path()).expect_err(text);
        assert!(matches!(error, BuildError::Malformed { .. }), "{error}");
        assert!(error.to_string().contains("manifest.json"), "{error}");
    }
}

/// A workspace with a prebuilt PTX for its device crate.
fn with_prebuilt() -> TempDir {
    let temp = workspace();
    let krate = DeviceCrate::read(&temp.path().join("dev")).expect("crate");
    prebuilt::write(
        &temp.path().join("prebuilt"),
        &krate,
        Format::Ptx,
        b".version 6.0\n",
        None,
        "rustc x",
    )
    .expect("write");
    temp
}

#[test]
fn prebuilt_code_is_taken_when_the_sources_match() {
    let temp = with_prebuilt();
    let report = try_build(&options(temp.path()).mode(Mode::Prebuilt)).expect("prebuilt");
    let folder = temp.path().canonicalize().expect("path").join("prebuilt");
    assert_eq!(
        report.images,
        [(
            "dev".to_owned(),
            Format::Ptx,
            ImageSource::Prebuilt(folder.clone())
        )]
    );
    let packed = fs::read(temp.path().join("out/dev.ptx.gz")).expect("image");
    assert_eq!(unpack(&packed).expect("whole"), b".version 6.0\n");
    let module = fs::read_to_string(temp.path().join("out/warpheap_module.rs")).expect("module");
    assert!(
        module.starts_with("(\"dev\", &[(\"\", Some(include_bytes!(\"")
            && module.ends_with("dev.ptx.gz\") as &[u8]), None)])\n"),
        "{module}"
    );
    for watched in [folder.join("manifest.json"), folder.join("dev.ptx")] {
        assert!(
            report.watch.contains(&watched),
            "{watched:?} is not in {:?}",
            report.watch
        );
    }
    assert!(
        report.watch.iter().any(|path| path.ends_with("deeper/src")),
        "{:?}",
        report.watch
    );
    assert!(
        report.watch.iter().all(|path| path.exists()),
        "cargo would always run again: {:?}",
        report.watch
    );
}

#[test]
fn stale_prebuilt_code_is_refused_with_both_hashes() {
    let temp = with_prebuilt();
    let old = hash(temp.path());
    put(temp.path().join("deeper/src/lib.rs"), "// changed\n");
    let new = hash(temp.path());
    for mode in [Mode::Auto, Mode::Prebuilt] {
        let error = try_build(&options(temp.path()).mode(mode))
            .expect_err("stale")
            .to_string();
        assert!(error.contains(&old) && error.contains(&new), "{error}");
    }
}

/// Packing writes another `Cargo.toml`, without the paths of dependencies.
#[test]
fn a_package_takes_its_images_as_they_are() {
    let temp = with_prebuilt();
    let dev = temp.path().join("dev");
    let manifest =
        "[package]\nname = \"dev\"\nversion = \"0.1.0\"\n[dependencies]\nshared = \"=0.1.0\"\n";
    put(dev.join("Cargo.toml"), manifest);
    try_build(&options(temp.path())).expect_err("stale");
    let first = "# THIS FILE IS AUTOMATICALLY GENERATED BY CARGO\n#\n";
    put(dev.join("Cargo.toml"), &format!("{first}{manifest}"));
    try_build(&options(temp.path())).expect_err("another one's folder");
    fs::rename(temp.path().join("prebuilt"), dev.join("prebuilt")).expect("moved");
    let report = try_build(&options(temp.path())).expect("packaged");
    assert_eq!(report.images.len(), 1);

    put(dev.join("prebuilt/dev.ptx"), ".version 6.1\n");
    let error = try_build(&options(temp.path())).expect_err("damaged");
    assert!(error.to_string().contains("SHA-256"), "{error}");
}

#[test]
fn damaged_prebuilt_code_is_refused() {
    let temp = with_prebuilt();
    put(temp.path().join("prebuilt/dev.ptx"), ".version 6.1\n");
    let error = try_build(&options(temp.path())).expect_err("damaged");
    let BuildError::NoImage {
        miss: PrebuiltMiss::Damaged { file, .. },
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(file.ends_with("prebuilt/dev.ptx"));
}

#[test]
fn check_names_each_image_that_does_not_serve() {
    let temp = with_prebuilt();
    let folder = temp.path().join("prebuilt");
    let krate = DeviceCrate::read(&temp.path().join("dev")).expect("crate");
    let misses = prebuilt::check(&folder, &krate)
        .expect("check")
        .expect_err("no SPIR-V");
    assert_eq!(
        misses,
        [(Format::Spirv, PrebuiltMiss::NotListed(folder.clone()))]
    );
    prebuilt::write(
        &folder,
        &krate,
        Format::Spirv,
        &stored_image(Format::Spirv),
        None,
        "rustc x",
    )
    .expect("write");
    assert_eq!(prebuilt::check(&folder, &krate).expect("check"), Ok(()));
}

#[test]
fn the_same_draft_makes_changed_sources_those_of_the_stored_image() {
    let temp = with_prebuilt();
    let folder = temp.path().join("prebuilt");
    let krate = DeviceCrate::read(&temp.path().join("dev")).expect("crate");
    let renew = |draft: &str, compiler: &str| {
        prebuilt::renew(&folder, &krate, Format::Spirv, draft, compiler).expect("renew")
    };
    assert!(!renew("a", "rustc x"), "nothing is stored");
    prebuilt::write(
        &folder,
        &krate,
        Format::Spirv,
        &stored_image(Format::Spirv),
        None,
        "rustc x",
    )
    .expect("write");
    assert!(renew("a", "rustc x"), "made from these sources");

    put(temp.path().join("dev/src/lib.rs"), "// Changed.\n");
    assert!(!renew("b", "rustc x"), "other code");
    assert!(!renew("a", "rustc y"), "another compiler");
    assert!(prebuilt::check(&folder, &krate).expect("check").is_err());
    assert!(renew("a", "rustc x"));
    let source = krate.source_hash().expect("hash");
    let taken = prebuilt::take(&folder, krate.name(), Format::Spirv, &source).expect("take");
    let same = stored::restore(Format::Spirv, stored_image(Format::Spirv)).expect("a module");
    assert_eq!(taken, Ok(same), "the same image for the changed sources");

    put(folder.join("dev.spv.rel"), "damaged");
    assert!(!renew("a", "rustc x"), "what is stored is not what was");
}

#[test]
fn mode_build_does_not_look_at_prebuilt_code() {
    let temp = with_prebuilt();
    let error = try_build(&options(temp.path()).mode(Mode::Build)).expect_err("no toolchain");
    assert!(
        matches!(
            &error,
            BuildError::NoImage {
                miss: PrebuiltMiss::NotAllowed,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn without_formats_nothing_is_needed() {
    let temp = workspace();
    fs::remove_dir_all(temp.path().join("shared")).expect("remove");
    let report = try_build(&options(temp.path()).formats([])).expect("host only");
    assert!(report.images.is_empty() && !report.nested);
    let module = fs::read_to_string(temp.path().join("out/warpheap_module.rs")).expect("module");
    assert_eq!(module, "(\"dev\", &[])\n");
}

#[test]
fn the_nested_build_does_nothing() {
    let temp = workspace();
    let mut options = options(temp.path());
    options.nested = true;
    let report = try_build(&options).expect("nested");
    assert!(report.nested && report.images.is_empty() && report.watch.is_empty());
    assert_eq!(
        fs::read_dir(temp.path().join("out")).expect("out").count(),
        0
    );
}

#[test]
fn without_toolchain_the_error_says_what_to_install() {
    let temp = workspace();
    let error = try_build(&options(temp.path()).formats([Format::Spirv]))
        .expect_err("no toolchain")
        .to_string();
    for part in [
        "no prebuilt/manifest.json",
        "WARPHEAP_DEVICE_TOOLCHAIN is not set",
        "/nowhere/toolchain/rust-device-1.96.0",
        "no `rust-device` in /nowhere/rustup",
        "warpheap toolchain",
        "rustup toolchain install nightly-2026-04-11",
        "rust-src",
        "rustc-dev",
        "llvm-tools",
        "llvm-bitcode-linker",
        "rustc_codegen_spirv =0.10.0-alpha.1",
        "cargo feature `vulkan`",
    ] {
        assert!(error.contains(part), "`{part}` is not in:\n{error}");
    }
}
