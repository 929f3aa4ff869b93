//! A new allocator is a folder and a row: those of `docs/new-allocator.md` are put into a copy of the workspace, and the
//! conformance suite passes with it in the emulator.

mod copy;

use copy::Copy;
use std::path::Path;
use std::process::Command;

/// What the suite is compiled from: all else of the workspace is left out. Cargo wants to see the backends' manifests.
const NEEDED: [&str; 16] = [
    "Cargo.lock",
    "allocators/Cargo.toml",
    "allocators/src",
    "api",
    "backend-cuda",
    "backend-host",
    "backend-vulkan",
    "device-build",
    "device-macros",
    "device-rt",
    "kernels/Cargo.toml",
    "kernels/build.rs",
    "kernels/src",
    "ptx",
    "src",
    "tests",
];

/// The allocators that stay in `all` beside the new one: each takes the compiler as long as the new one does.
const KEPT: [&str; 2] = ["Bump", "WarpHeap"];

const ROW: &str = include_str!("row.txt");

/// The rows as a contributor changes them, with fewer that are in `all`.
fn rows(text: &str) -> String {
    let kept = |line: &str| {
        let name = line.trim_start().split(' ').next();
        KEPT.iter().any(|kept| name == Some(kept))
    };
    let line = |line: &str| match kept(line) {
        true => format!("{line}\n"),
        false => line.replace("in_all: true", "in_all: false") + "\n",
    };
    let text: String = text.lines().map(line).collect();
    let end = text
        .rfind("        }\n    };")
        .expect("the end of the rows");
    format!("{}{ROW}{}", &text[..end], &text[end..])
}

/// The workspace's manifest without members that are not needed: dependencies are members anyway.
fn manifest(text: &str) -> String {
    let begin = text.find("members = [").expect("the members");
    let end = begin + text[begin..].find("default-members").expect("the default");
    let rest = &text[end..];
    let rest = &rest[rest.find('\n').expect("a line")..];
    format!("{}members = [\"tests\"]{rest}", &text[..begin])
}

/// The page's blocks are compared with the files in `tests/book`; here is whether they leave something out.
#[test]
fn the_page_shows_the_files_whole() {
    let page = include_str!("../../../docs/new-allocator.md");
    let mut shown = page.lines();
    for file in [
        ROW,
        include_str!("fixed_slots/mod.rs"),
        include_str!("fixed_slots/host.rs"),
    ] {
        for line in file.lines().filter(|line| !line.is_empty()) {
            assert!(shown.any(|shown| shown == line), "not on the page: {line}");
        }
    }
}

#[test]
fn a_folder_and_a_row_are_enough() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().expect("the workspace's root");
    let mut copy = Copy::default();
    for needed in NEEDED {
        copy.add(&root.join(needed), needed);
    }
    copy.add(&root.join("Cargo.toml"), "Cargo.toml");
    copy.change("Cargo.toml", manifest);
    copy.change("allocators/src/rows.rs", rows);
    copy.add(
        &here.join("tests/new_allocator/fixed_slots"),
        "device-rt/src/alloc/fixed_slots",
    );
    // In the same place each time, so that only what has changed is compiled again.
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-allocator");
    copy.write(&place.join("workspace"));

    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(place.join("workspace"))
        .env("CARGO_TARGET_DIR", place.join("target"))
        .env("WARPHEAP_KERNELS", "prebuilt")
        .args([
            "test",
            "--package",
            "warpheap-tests",
            "--no-default-features",
        ])
        // Kernels count as they do on devices.
        .args(["--config", "profile.dev.overflow-checks=false"])
        .args(["--config", "profile.dev.debug=false"])
        .args(["--test", "host", "--test", "races", "--", "FixedSlots"]);
    let output = cargo.output().expect("cargo starts");
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let results = told.split("test result: ok. ").skip(1);
    let passed: Vec<u32> = results
        .filter_map(|rest| rest.split(' ').next()?.parse().ok())
        .collect();
    assert!(
        passed.len() == 2 && passed.iter().all(|&passed| passed > 0),
        "{told}"
    );
}
