//! The programs that tests lie in, and how cargo runs them.

use crate::workspace::{self, PROFILE};
use crate::{rustc, tested};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use warpheap_toolchain::error::{Error, Result};
use warpheap_toolchain::sh;

/// Programs that wait for minutes for a compiler of one thread, a driver's or cargo's.
const ON_ONE_PROCESSOR: [&str; 4] = ["compile", "maps", "ui", "vulkan"];

/// Programs whose explored schedules run once more in the emulator's model of memory: tests of the containers, and of
/// arenas. The other allocators and the main jobs have tests of their own there.
const EXPLORED: [&str; 11] = [
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
    "vec",
];

/// A user's program that is built with `WARPHEAP_CHECK=1`, by which its heaps find mistakes.
const CHECKED: &str = "tests/variable";

/// A project whose kernels plain cargo compiles.
const PLAIN: &str = "examples/raw";

/// The projects that are outside the workspace: a user's, one with a mistake, the documentation's blocks, the litmus tests, the idioms under loom, and
/// kernels that plain cargo compiles.
pub(super) const OUTSIDE: [&str; 6] = [
    "tests/outside",
    CHECKED,
    "tests/book",
    "tests/litmus",
    "tests/idioms",
    PLAIN,
];

/// How the host's part of the projects is compiled for their tests, whatever their own profiles say, so that the crates they share are
/// compiled once. (What they compile for GPUs is not concerned: another cargo does.)
const ALIKE: [&str; 4] = [
    "codegen-units=16",
    "debug=false",
    "lto=\"off\"",
    "panic=\"unwind\"",
];

/// The workspace's test programs by name; several may have the same.
pub(super) struct Programs {
    names: BTreeSet<String>,
}

impl Programs {
    /// Asks cargo.
    ///
    /// # Errors
    /// When cargo fails.
    pub(super) fn find() -> Result<Self> {
        let metadata = workspace::metadata()?;
        let members: BTreeSet<&str> = metadata["workspace_members"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|id| id.as_str())
            .collect();
        let names = workspace::packages(&metadata)
            .filter(|package| {
                package["id"]
                    .as_str()
                    .is_some_and(|id| members.contains(id))
            })
            .flat_map(|package| package["targets"].as_array().into_iter().flatten())
            .filter(|target| target["kind"][0] == "test")
            .filter_map(|target| target["name"].as_str().map(str::to_owned))
            .collect();
        Ok(Programs { names })
    }

    /// What cargo is told to run [those that are slow on one processor](ON_ONE_PROCESSOR).
    pub(super) fn on_one_processor(&self) -> Vec<&str> {
        let mut args = vec!["--no-fail-fast"];
        args.extend(ON_ONE_PROCESSOR.iter().flat_map(|name| ["--test", name]));
        args
    }

    /// What cargo is told to run all others, and what else has tests.
    pub(super) fn others(&self) -> Vec<&str> {
        let mut args = vec!["--no-fail-fast", "--lib", "--bins", "--examples"];
        let others = self.names.iter().map(String::as_str);
        let others = others.filter(|name| !ON_ONE_PROCESSOR.contains(name));
        args.extend(others.flat_map(|name| ["--test", name]));
        args
    }
}

/// How cargo runs tests: with which variables, and where the output goes.
pub(super) struct Cargo<'a> {
    variables: &'a [(&'static str, &'static str)],
    features: &'static str,
    log: Option<&'a Log>,
}

impl<'a> Cargo<'a> {
    /// With output to the terminal.
    pub(super) fn new(
        variables: &'a [(&'static str, &'static str)],
        features: &'static str,
    ) -> Self {
        Cargo {
            variables,
            features,
            log: None,
        }
    }

    /// The same with output to `log`.
    pub(super) fn with_log<'b>(&self, log: &'b Log) -> Cargo<'b>
    where
        'a: 'b,
    {
        Cargo {
            variables: self.variables,
            features: self.features,
            log: Some(log),
        }
    }

    /// The features that the workspace is tested with.
    pub(super) fn features(&self) -> &'static str {
        self.features
    }

    /// Tests of the workspace.
    ///
    /// # Errors
    /// When one fails.
    pub(super) fn workspace(&self, what: &[&str]) -> Result {
        self.run(self.test_workspace().args(what))
    }

    /// Those that explore schedules, in the model of memory.
    ///
    /// # Errors
    /// When one fails.
    pub(super) fn modelled(&self) -> Result {
        let mut command = self.test_workspace();
        command.arg("--no-fail-fast");
        for test in EXPLORED {
            command.args(["--test", test]);
        }
        command.args(["--", "explored", "linearisable"]);
        self.run(command.env("WARPHEAP_RACES", "1"))
    }

    /// Tests of a project that is outside the workspace; where it uses devices, in the emulator.
    ///
    /// # Errors
    /// When one fails.
    pub(super) fn outside(&self, project: &str) -> Result {
        let mut command = workspace::cargo();
        command.current_dir(workspace::root().join(project));
        // One folder for all: what they share is compiled once.
        let folder = workspace::root().join("target/outside");
        share_device_folder(&folder)?;
        command.env("CARGO_TARGET_DIR", folder);
        // For all crates: those of the library are of another workspace here. (What plain cargo makes of kernels for GPUs is
        // one project's test.)
        if let Some(program) = rustc::wrapper().filter(|_| project != PLAIN) {
            command.env("RUSTC_WRAPPER", program);
        }
        if project == CHECKED {
            command.env("WARPHEAP_CHECK", "1");
        }
        command.args(["test", "--locked", "--profile", PROFILE]);
        for setting in ALIKE {
            command.args(["--config", &format!("profile.{PROFILE}.{setting}")]);
        }
        self.run(&mut command)
    }

    fn test_workspace(&self) -> Command {
        let mut command = tested::cargo(self.features);
        command.envs(self.variables.iter().copied());
        command
    }

    fn run(&self, command: &mut Command) -> Result {
        if let Some(log) = self.log {
            command.stdout(log.end()?).stderr(log.end()?);
        }
        sh::run(command)
    }
}

/// Lets kernels of a target folder be compiled where those of the workspace are, which has `core` for GPUs: it takes a minute.
fn share_device_folder(folder: &Path) -> Result {
    sh::make_dir(folder)?;
    let (place, shared) = (
        folder.join("device"),
        workspace::root().join("target/device"),
    );
    if place.exists() || !shared.is_dir() {
        return Ok(());
    }
    // Where there are no links it is compiled once more.
    #[cfg(unix)]
    std::os::unix::fs::symlink(&shared, &place).map_err(|e| failed("make", place, e))?;
    Ok(())
}

/// Output of what runs beside other things, kept until it is over.
pub(super) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// An empty one in cargo's folder.
    ///
    /// # Errors
    /// When there can be none.
    pub(super) fn make() -> Result<Self> {
        Self::at(workspace::root().join("target/tests-beside.log"))
    }

    fn at(path: PathBuf) -> Result<Self> {
        // Programs append, so that none writes over what another one wrote.
        let file = match File::create(&path) {
            Ok(_) => File::options().append(true).open(&path),
            failed => failed,
        };
        match file {
            Ok(file) => Ok(Log { path, file }),
            Err(source) => Err(failed("make", path, source)),
        }
    }

    /// Where it lies, for who wants to look at it before it is complete.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a program may write.
    fn end(&self) -> Result<Stdio> {
        let end = self.file.try_clone().map(Stdio::from);
        end.map_err(|source| failed("write", self.path.clone(), source))
    }

    /// What was written.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn text(self) -> Result<String> {
        let bytes = std::fs::read(&self.path);
        let bytes = bytes.map_err(|source| failed("read", self.path, source))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn failed(what: &'static str, path: PathBuf, source: std::io::Error) -> Error {
    Error::File { what, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_program_is_run_once() {
        let programs = Programs::find().unwrap();
        for name in ON_ONE_PROCESSOR.iter().chain(&EXPLORED) {
            assert!(programs.names.contains(*name), "there is no `{name}`");
        }
        let tests = |args: &[&str]| -> Vec<String> {
            let pairs = args.windows(2).filter(|pair| pair[0] == "--test");
            pairs.map(|pair| pair[1].to_owned()).collect()
        };
        let mut both = tests(&programs.on_one_processor());
        both.extend(tests(&programs.others()));
        both.sort();
        assert!(both.iter().eq(&programs.names));
    }

    #[test]
    fn what_is_kept_comes_out_in_order() {
        let name = format!("warpheap-xtask-{}.log", std::process::id());
        let path = std::env::temp_dir().join(name);
        let log = Log::at(path.clone()).unwrap();
        let cargo = Cargo::new(&[], "");
        for word in ["one", "two"] {
            let cargo = cargo.with_log(&log);
            cargo.run(Command::new("echo").arg(word)).unwrap();
        }
        assert_eq!(log.text().unwrap(), "one\ntwo\n");
        std::fs::remove_file(path).unwrap();
    }
}
