//! `cargo xtask test`: everything that can be tested on this machine, from a bare Debian up.

mod programs;
mod steps;

use crate::vulkan::{DRIVER_VARIABLES, SWIFTSHADER, drivers_chosen};
use crate::workspace::{ALL_BACKENDS, BACKENDS_AND_MPI};
use crate::{cuda_stub, malloc, package};
use programs::{Cargo, Log, OUTSIDE, Programs};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use steps::Steps;
use warpheap_toolchain::error::Result;
use warpheap_toolchain::{debian, sh};

/// What the Vulkan tests need: the loader, SwiftShader, the validation layer, `spirv-val`.
const VULKAN_PACKAGES: [&str; 4] = [
    "libvulkan1",
    "chromium-common",
    "vulkan-validationlayers",
    "spirv-tools",
];

/// What jobs of several processes need: `mpirun`, the library, and libclang, with which its bindings are made.
const MPI_PACKAGES: [&str; 3] = ["openmpi-bin", "libopenmpi-dev", "libclang-dev"];

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
    /// Install what testing needs, and test nothing
    #[arg(long, conflicts_with_all = ["no_install", "rest"])]
    set_up: bool,
    /// Do without MPI: jobs have one process
    #[arg(long)]
    skip_mpi: bool,
    /// Passed on to `cargo test`, such as the name of a test
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// When a step fails; the steps after a failed set-up are not run, the other ones are.
pub fn run(args: &Args) -> Result {
    let mut steps = Steps::begin();
    if steps.run("set-up", || set_up(args)) && !args.set_up {
        let mut variables = vulkan_variables(args, |name| std::env::var_os(name).is_some());
        if !args.skip_mpi {
            variables.push(("WARPHEAP_REQUIRE_MPI", "1"));
        }
        for (name, value) in &variables {
            eprintln!("{name}={value}");
        }
        let features = match args.skip_mpi {
            true => ALL_BACKENDS,
            false => BACKENDS_AND_MPI,
        };
        let cargo = Cargo::new(&variables, features);
        // What is passed on is meant for the workspace.
        if args.rest.is_empty() {
            let vulkan = (!args.skip_vulkan).then_some(&*variables);
            everything(&cargo, vulkan, &mut steps)?;
        } else {
            let rest: Vec<&str> = args.rest.iter().map(String::as_str).collect();
            let with_rest = |first: &[&'static str]| [first, &rest].concat();
            steps.run("tests", || {
                cargo.workspace(&with_rest(&["--all-targets", "--no-fail-fast"]))
            });
            steps.run("documentation tests", || {
                cargo.workspace(&with_rest(&["--doc", "--no-fail-fast"]))
            });
        }
    }
    print!("{}", steps.table());
    steps.outcome()
}

/// Tests that are run by whoever has time first.
#[derive(Clone, Copy)]
enum Shared {
    /// Of a project outside the workspace.
    Project(&'static str),
    /// Of the memory model.
    Modelled,
    /// In the documentation.
    Documentation,
}

/// Those of the workspace.
const OF_WORKSPACE: [Shared; 2] = [Shared::Modelled, Shared::Documentation];

impl Shared {
    fn name(self) -> &'static str {
        match self {
            Shared::Project(project) => project,
            Shared::Modelled => "tests in the model of memory",
            Shared::Documentation => "documentation tests",
        }
    }

    /// Runs them.
    ///
    /// # Errors
    /// When one fails.
    fn run(self, cargo: &Cargo) -> Result {
        match self {
            Shared::Project(project) => cargo.outside(project),
            Shared::Modelled => cargo.modelled(),
            Shared::Documentation => cargo.workspace(&["--doc", "--no-fail-fast"]),
        }
    }
}

/// All tests, those that leave processors idle beside the others.
fn everything(
    cargo: &Cargo,
    vulkan: Option<&[(&'static str, &'static str)]>,
    steps: &mut Steps,
) -> Result {
    let compiled = steps.run("compile", || {
        cargo.workspace(&["--all-targets", "--no-run"])
    });
    let programs = Programs::find()?;
    let log = Log::make()?;
    eprintln!(
        "What is written beside the tests is in {}, and comes last",
        log.path().display()
    );
    // Who has done its own takes the next one of these; the shortest come last.
    let shared = OUTSIDE.map(Shared::Project).into_iter();
    let shared = Mutex::new(shared.chain(compiled.then_some(OF_WORKSPACE).into_iter().flatten()));
    let take_turns = |cargo: &Cargo, steps: &mut Steps| {
        loop {
            let next = shared.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(next) = next else { return };
            steps.run(next.name(), || next.run(cargo));
        }
    };
    let beside = std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let cargo = cargo.with_log(&log);
            let mut steps = Steps::begin();
            if compiled {
                steps.run("tests on one processor", || {
                    cargo.workspace(&programs.on_one_processor())
                });
            }
            take_turns(&cargo, &mut steps);
            steps
        });
        if compiled {
            steps.run("tests", || cargo.workspace(&programs.others()));
        }
        steps.run("packages", || package::test(vulkan, cargo.features()));
        take_turns(cargo, steps);
        beside.join()
    });
    print!("{}", log.text()?);
    match beside {
        Ok(beside) => {
            steps.extend(beside);
            Ok(())
        }
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Makes the machine ready: packages for Vulkan and MPI, a malloc for a compiler, what `examples/raw` is linked against.
fn set_up(args: &Args) -> Result {
    if !args.skip_vulkan {
        if args.system_vulkan || drivers_chosen(|name| std::env::var_os(name).is_some()) {
            eprintln!("Vulkan: the drivers of this machine, as its loader finds them");
        } else if debian::present() || !Path::new(SWIFTSHADER).is_file() {
            let why = "Testing Vulkan without a GPU (see --skip-vulkan and --system-vulkan)";
            debian::ensure(&VULKAN_PACKAGES, why, !args.no_install)?;
        }
    }
    if !args.skip_mpi {
        let here = ["mpirun", "mpicc"]
            .into_iter()
            .all(|name| sh::which(name).is_some());
        if debian::present() || !here {
            let why = "Testing jobs of several processes (see --skip-mpi)";
            debian::ensure(&MPI_PACKAGES, why, !args.no_install)?;
        }
    }
    malloc::set_up(!args.no_install);
    cuda_stub::make(&cuda_stub::default_dir()).map(drop)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn args(skip_vulkan: bool, system_vulkan: bool) -> Args {
        Args {
            no_install: true,
            skip_vulkan,
            system_vulkan,
            set_up: false,
            skip_mpi: false,
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
}
