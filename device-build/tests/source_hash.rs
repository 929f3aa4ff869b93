//! What changes the source hash of a device crate, and what does not.

mod common;

use std::fs;

use common::{hash, put, workspace};
use warpheap_build::{DeviceCrate, source_hash};

#[test]
fn the_hash_does_not_depend_on_the_place() {
    let (one, two) = (workspace(), workspace());
    put(two.path().join("Cargo.lock"), "# only here\n");
    assert_eq!(hash(one.path()), hash(two.path()));
    assert_eq!(hash(one.path()).len(), 64);
}

#[test]
fn the_hash_does_not_depend_on_line_ends() {
    let (one, two) = (workspace(), workspace());
    put(two.path().join("shared/src/lib.rs"), "// shared\r\n");
    assert_eq!(hash(one.path()), hash(two.path()));
    put(two.path().join("shared/src/lib.rs"), "// shared\r");
    assert_ne!(hash(one.path()), hash(two.path()));
}

#[test]
fn the_hash_sees_every_source_that_goes_into_the_image() {
    for file in [
        "dev/src/lib.rs",
        "dev/src/inner/mod.rs",
        "dev/src/new.rs",
        "shared/src/lib.rs",
        "deeper/src/lib.rs",
    ] {
        let temp = workspace();
        let before = hash(temp.path());
        put(temp.path().join(file), "// changed\n");
        assert_ne!(before, hash(temp.path()), "{file}");
    }
    for file in ["dev/Cargo.toml", "deeper/Cargo.toml"] {
        let temp = workspace();
        let before = hash(temp.path());
        let text = fs::read_to_string(temp.path().join(file)).expect("text");
        put(temp.path().join(file), &text.replace("0.1.0", "0.2.0"));
        assert_ne!(before, hash(temp.path()), "{file}");
    }
}

#[test]
fn the_hash_sees_a_file_that_moves() {
    let temp = workspace();
    let before = hash(temp.path());
    fs::rename(
        temp.path().join("dev/src/inner/mod.rs"),
        temp.path().join("dev/src/inner.rs"),
    )
    .expect("rename");
    assert_ne!(before, hash(temp.path()));
}

#[test]
fn the_hash_does_not_see_what_stays_on_the_host() {
    let temp = workspace();
    let before = hash(temp.path());
    for file in [
        "host/src/lib.rs",
        "dev/build.rs",
        "dev/src/main.rs",
        "dev/src/bin/tool.rs",
        "dev/src/notes.txt",
        "dev/tests/t.rs",
    ] {
        put(temp.path().join(file), "// changed\n");
        assert_eq!(before, hash(temp.path()), "{file}");
    }
}

#[test]
fn what_a_crate_declares_as_host_only_is_not_hashed() {
    let temp = workspace();
    let manifest = temp.path().join("shared/Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("text");
    let declare = |list: &str| {
        put(
            manifest.clone(),
            &format!("{text}\n[package.metadata.warpheap]\nhost-only = {list}\n"),
        );
    };
    put(temp.path().join("shared/src/host/mod.rs"), "// one\n");
    put(temp.path().join("shared/src/arch/host.rs"), "// one\n");
    declare("[\"src/host\", \"src/arch/host.rs\"]");
    let before = hash(temp.path());
    for file in ["host/mod.rs", "host/new.rs", "arch/host.rs"] {
        put(temp.path().join("shared/src").join(file), "// two\n");
        assert_eq!(before, hash(temp.path()), "{file}");
    }
    put(temp.path().join("shared/src/arch/mod.rs"), "// new\n");
    assert_ne!(before, hash(temp.path()));

    for (list, complaint) in [("[\"src/hots\"]", "not there"), ("\"src/host\"", "no list")] {
        declare(list);
        let error = source_hash(&temp.path().join("dev"))
            .expect_err(list)
            .to_string();
        assert!(
            error.contains("host-only") && error.contains(complaint),
            "{error}"
        );
    }
}

#[test]
fn features_change_the_hash() {
    let temp = workspace();
    let krate = DeviceCrate::read(&temp.path().join("dev")).expect("crate");
    let plain = krate.source_hash().expect("hash");
    let with = |features: &[&str]| {
        let features = features.iter().map(|f| (*f).to_owned());
        krate
            .clone()
            .with_features(features)
            .source_hash()
            .expect("hash")
    };
    assert_ne!(plain, with(&["a"]));
    assert_eq!(with(&["a", "b"]), with(&["b", "a", "b"]));
}

#[test]
fn a_missing_dependency_names_its_manifest() {
    let temp = workspace();
    fs::remove_dir_all(temp.path().join("deeper")).expect("remove");
    let error = source_hash(&temp.path().join("dev"))
        .expect_err("the crate is incomplete")
        .to_string();
    assert!(
        error.contains("deeper") && error.contains("Cargo.toml"),
        "{error}"
    );
}
