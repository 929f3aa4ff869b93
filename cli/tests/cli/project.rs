//! Compilers and images of a user's project. That kernels compile is tested where the builder is.

use super::{Outcome, program};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A new project in an empty folder, which goes at the end.
struct Project(PathBuf);

impl Project {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir();
        let folder = folder.join(format!("warpheap-project-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let made = run(
            &folder,
            &["new", "mine", "--path", &checkout.to_string_lossy()],
        );
        assert_eq!(made.code, Some(0), "{}", made.err);
        Project(folder)
    }

    fn run(&self, args: &[&str]) -> Outcome {
        run(&self.0.join("mine"), args)
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the program in a folder, on a machine without compilers for device code.
fn run(folder: &Path, args: &[&str]) -> Outcome {
    let mut command = Command::new(program());
    command.args(args).current_dir(folder);
    command.env("WARPHEAP_DEVICE_TOOLCHAIN", "/nowhere");
    let output = command.output().expect("the program runs");
    Outcome {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("output is text"),
        err: String::from_utf8(output.stderr).expect("errors are text"),
    }
}

#[test]
fn missing_images_are_named_with_the_command_that_makes_them() {
    let outcome = Project::new("check").run(&["kernels", "--check"]);
    assert_eq!(outcome.code, Some(1));
    for part in ["PTX of mine: ", "SPIR-V of mine: ", "has no entry for it"] {
        assert!(outcome.err.contains(part), "no {part} in: {}", outcome.err);
    }
    assert!(
        outcome.err.contains("do: warpheap kernels, and commit"),
        "{}",
        outcome.err
    );
}

#[test]
fn images_are_not_made_without_a_compiler_and_the_error_says_which_command_makes_one() {
    let project = Project::new("make");
    let outcome = project.run(&["kernels"]);
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.err.contains("the prebuilt kernels need PTX"),
        "{}",
        outcome.err
    );
    assert!(!project.0.join("mine/prebuilt").exists());
    let outcome = project.run(&["kernels", "no-such-crate"]);
    assert!(
        outcome.err.contains("`no-such-crate`") && outcome.err.contains("there are mine"),
        "{}",
        outcome.err
    );
}

#[test]
fn a_folder_without_kernels_is_told_what_to_do() {
    let project = Project::new("none");
    let outcome = run(&project.0, &["kernels"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.contains("Cargo.toml"), "{}", outcome.err);
}

#[test]
fn a_machine_without_compilers_fails_the_check_of_them() {
    let folder = std::env::temp_dir();
    let outcome = run(&folder, &["toolchain", "--check"]);
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.out.contains("/nowhere/bin/rustc is not there"),
        "{}",
        outcome.out
    );
    assert!(
        outcome.err.contains("no toolchain makes PTX or SPIR-V"),
        "{}",
        outcome.err
    );
}
