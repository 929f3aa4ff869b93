//! `cargo xtask test`: everything that can be tested on this machine, from a bare Debian up.

use crate::error::{Result, message};
use crate::workspace::{self, ALL_BACKENDS, PROFILE};
use crate::{cuda_stub, debian};
use std::path::Path;
use std::time::{Duration, Instant};

/// What the Vulkan tests need: the loader, SwiftShader, the validation layer, `spirv-val`.
const VULKAN_PACKAGES: [&str; 4] = [
    "libvulkan1",
    "chromium-common",
    "vulkan-validationlayers",
    "spirv-tools",
];

/// SwiftShader's driver description, as Debian's `chromium-common` installs it.
const SWIFTSHADER: &str = "/usr/lib/chromium/vk_swiftshader_icd.json";

/// The variables that tell Vulkan's loader which drivers to use: the present name and the older one.
const DRIVER_VARIABLES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Arguments of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Install nothing; say what is missing instead
    #[arg(long)]
    no_install: bool,
    /// Do without Vulkan: its tests skip themselves if there is no device
    #[arg(long)]
    skip_vulkan: bool,
    /// Test on the Vulkan devices of this machine instead of SwiftShader
    #[arg(long, conflicts_with = "skip_vulkan")]
    system_vulkan: bool,
    /// Passed on to `cargo test`, such as the name of a test
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// When a step fails; the steps after a failed set-up are not run, the other ones are.
pub fn run(args: &Args) -> Result {
    let mut steps = Steps::default();
    let ready = steps.run("set-up", || set_up(args));
    if ready {
        let variables = vulkan_variables(args, |name| std::env::var_os(name).is_some());
        for (name, value) in &variables {
            eprintln!("{name}={value}");
        }
        let cargo = |what: &[&str]| {
            let mut command = workspace::cargo();
            command.args([
                "test",
                "--workspace",
                "--profile",
                PROFILE,
                "--features",
                ALL_BACKENDS,
            ]);
            command.args(what).args(&args.rest);
            command.envs(variables.iter().copied());
            crate::sh::run(&mut command)
        };
        if steps.run("compile", || cargo(&["--all-targets", "--no-run"])) {
            steps.run("tests", || cargo(&["--all-targets", "--no-fail-fast"]));
            steps.run("documentation tests", || {
                cargo(&["--doc", "--no-fail-fast"])
            });
        }
        // What is passed on is meant for the workspace.
        if args.rest.is_empty() {
            steps.run("tests in the model of memory", || modelled(&variables));
            for project in OUTSIDE {
                steps.run(project, || outside(project));
            }
        }
    }
    print!("{}", steps.table());
    match steps.failed() {
        0 => Ok(()),
        failed => message(format!("{failed} of {} steps failed", steps.done.len())),
    }
}

/// Programs whose explored schedules run once more in the emulator's model of memory: tests of the containers, and of
/// arenas. The other allocators and the main jobs have tests of their own there.
const EXPLORED: [&str; 10] = [
    "fdg",
    "list",
    "maps",
    "nested",
    "owned_maps",
    "owners",
    "queue",
    "sets",
    "shared_vec",
    "string",
];

/// Runs them.
fn modelled(variables: &[(&'static str, &'static str)]) -> Result {
    let mut command = workspace::cargo();
    // The whole workspace, so that nothing is compiled with other features than before.
    command.args(["test", "--workspace", "--profile", PROFILE]);
    command.args(["--features", ALL_BACKENDS, "--no-fail-fast"]);
    for test in EXPLORED {
        command.args(["--test", test]);
    }
    command.args(["--", "explored", "linearisable"]);
    command.envs(variables.iter().copied());
    crate::sh::run(command.env("WARPHEAP_RACES", "1"))
}

/// The projects that are outside the workspace: a user's, the litmus tests, and the idioms under loom.
const OUTSIDE: [&str; 3] = ["tests/outside", "tests/litmus", "tests/idioms"];

/// Tests one of them, where it uses devices, in the emulator.
fn outside(project: &str) -> Result {
    let mut command = workspace::cargo();
    command.current_dir(workspace::root().join(project));
    // One folder for all: what they share is compiled once.
    command.env("CARGO_TARGET_DIR", workspace::root().join("target/outside"));
    crate::sh::run(command.args(["test", "--locked", "--profile", PROFILE]))
}

/// Makes the machine ready: packages for Vulkan, the CUDA stub.
fn set_up(args: &Args) -> Result {
    if !args.skip_vulkan {
        if args.system_vulkan || drivers_chosen(|name| std::env::var_os(name).is_some()) {
            eprintln!("Vulkan: the drivers of this machine, as its loader finds them");
        } else if debian::present() || !Path::new(SWIFTSHADER).is_file() {
            let why = "Testing Vulkan without a GPU (see --skip-vulkan and --system-vulkan)";
            debian::ensure(&VULKAN_PACKAGES, why, !args.no_install)?;
        }
    }
    cuda_stub::make(&cuda_stub::default_dir()).map(drop)
}

fn drivers_chosen(is_set: impl Fn(&str) -> bool) -> bool {
    DRIVER_VARIABLES.iter().any(|name| is_set(name))
}

/// What the tests get to know: which driver to use, and that a missing device is a failure.
fn vulkan_variables(
    args: &Args,
    is_set: impl Fn(&str) -> bool,
) -> Vec<(&'static str, &'static str)> {
    let mut variables = Vec::new();
    if args.skip_vulkan {
        return variables;
    }
    variables.push(("WARPHEAP_REQUIRE_VULKAN", "1"));
    if !args.system_vulkan && !drivers_chosen(is_set) {
        variables.extend(DRIVER_VARIABLES.map(|name| (name, SWIFTSHADER)));
    }
    variables
}

/// What was run, how long it took and how it went.
#[derive(Default)]
struct Steps {
    done: Vec<(&'static str, Duration, bool)>,
}

impl Steps {
    /// Runs one step, prints its error if it fails, and says whether it went well.
    fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result) -> bool {
        eprintln!("== {name}");
        let begin = Instant::now();
        let outcome = step();
        if let Err(error) = &outcome {
            eprintln!("error: {error}");
        }
        self.done.push((name, begin.elapsed(), outcome.is_ok()));
        outcome.is_ok()
    }

    fn failed(&self) -> usize {
        self.done.iter().filter(|(_, _, good)| !good).count()
    }

    fn table(&self) -> String {
        let line = |name: &str, time: Duration, word: &str| {
            format!("{name:<22}{:>8.1} s  {word}\n", time.as_secs_f64())
        };
        let mut text = String::from("\n");
        for (name, time, good) in &self.done {
            text += &line(name, *time, if *good { "ok" } else { "FAILED" });
        }
        let all = self.done.iter().map(|(_, time, _)| *time).sum();
        text + &line(
            "total",
            all,
            if self.failed() == 0 { "ok" } else { "FAILED" },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(skip_vulkan: bool, system_vulkan: bool) -> Args {
        Args {
            no_install: true,
            skip_vulkan,
            system_vulkan,
            rest: Vec::new(),
        }
    }

    #[test]
    fn swiftshader_is_used_unless_something_else_is_wanted() {
        let plain = vulkan_variables(&args(false, false), |_| false);
        assert!(plain.contains(&("VK_DRIVER_FILES", SWIFTSHADER)));
        assert!(plain.contains(&("VK_ICD_FILENAMES", SWIFTSHADER)));
        let only_required = [("WARPHEAP_REQUIRE_VULKAN", "1")];
        assert_eq!(
            vulkan_variables(&args(false, false), |name| name == "VK_ICD_FILENAMES"),
            only_required
        );
        assert_eq!(
            vulkan_variables(&args(false, true), |_| false),
            only_required
        );
        assert_eq!(vulkan_variables(&args(true, false), |_| false), []);
    }

    #[test]
    fn the_table_has_every_step_and_a_total() {
        let mut steps = Steps::default();
        assert!(steps.run("one", || Ok(())));
        assert!(!steps.run("two", || message("broken")));
        assert!(steps.run("three", || Ok(())));
        assert_eq!(steps.failed(), 1);
        let table = steps.table();
        let words: Vec<_> = table
            .lines()
            .filter_map(|line| line.split_whitespace().last())
            .collect();
        assert_eq!(words, ["ok", "FAILED", "ok", "FAILED"]);
    }
}
