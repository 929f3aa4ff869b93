//! What the tests of the examples share: a test for each backend, and the program run as a user runs it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
pub use warpheap::BackendKind;
use warpheap::backends;

/// Declares a test for each of the backends `host`, `vulkan` and `cuda` that is named and compiled in.
///
/// `on_backends!(runs_on: host, cuda)` calls `runs_on(backend)` on those that have a device.
#[macro_export]
macro_rules! on_backends {
    (@host $runs_on:ident) => {
        #[cfg(feature = "host")]
        #[test]
        fn on_the_host() {
            $crate::on(env!("CARGO_PKG_NAME"), $crate::BackendKind::Host, $runs_on);
        }
    };
    (@vulkan $runs_on:ident) => {
        #[cfg(feature = "vulkan")]
        #[test]
        fn on_vulkan() {
            $crate::on(env!("CARGO_PKG_NAME"), $crate::BackendKind::Vulkan, $runs_on);
        }
    };
    (@cuda $runs_on:ident) => {
        #[cfg(feature = "cuda")]
        #[test]
        fn on_cuda() {
            $crate::on(env!("CARGO_PKG_NAME"), $crate::BackendKind::Cuda, $runs_on);
        }
    };
    ($runs_on:ident: $($backend:ident),+) => {
        $($crate::on_backends!(@$backend $runs_on);)+
    };
}

/// Calls `test` if the backend has a device.
///
/// # Panics
/// If it has none and `WARPHEAP_REQUIRE_` with its name is 1.
pub fn on(example: &str, backend: BackendKind, test: impl FnOnce(BackendKind)) {
    if present(example, backend) {
        test(backend);
    }
}

/// Whether a backend has a device; if it has none and needs none, that is said aloud.
fn present(example: &str, backend: BackendKind) -> bool {
    match backends::devices(backend) {
        Ok(found) => !found.is_empty(),
        Err(error) => {
            let required = format!("WARPHEAP_REQUIRE_{}", backend.name().to_uppercase());
            let required = std::env::var_os(required).is_some_and(|value| value == "1");
            assert!(!required, "{error}");
            eprintln!("SKIPPED: {example} on {backend}: {error}");
            false
        }
    }
}

/// All cases, on Vulkan the first alone: its driver for CPUs compiles the kernels anew in each run of a program, which takes half a
/// minute.
pub fn cases<T>(backend: BackendKind, all: &[T]) -> &[T] {
    match backend {
        BackendKind::Vulkan => all.get(..1).unwrap_or(all),
        _ => all,
    }
}

/// What a program left behind.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it said of errors.
    pub err: String,
}

/// Runs `program`, which is `env!("CARGO_BIN_EXE_...")`, on a backend.
///
/// # Panics
/// If it does not start.
pub fn run(program: &str, backend: BackendKind, arguments: &[impl AsRef<OsStr>]) -> Outcome {
    outcome(
        Command::new(program)
            .args(arguments)
            .env("WARPHEAP_BACKEND", backend.name()),
    )
}

/// Runs a command to its end.
///
/// # Panics
/// If it does not start.
pub fn outcome(command: &mut Command) -> Outcome {
    let output = command.output().expect("the program starts");
    Outcome {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Outcome {
    /// What was printed, if the program ran on this backend and all went well.
    ///
    /// # Panics
    /// If not.
    #[track_caller]
    pub fn text(self, backend: BackendKind) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        assert!(self.out.contains(&format!("({backend})")), "{}", self.out);
        self.out
    }

    /// Checks that the program failed with one message that has this part.
    ///
    /// # Panics
    /// If not.
    #[track_caller]
    pub fn refused(&self, part: &str) {
        assert!(self.code.is_some_and(|code| code != 0), "{self:?}");
        let error = self.err.strip_prefix("error: ");
        assert!(error.is_some_and(|text| text.contains(part)), "{self:?}");
    }
}

/// Writes a file into a folder of temporary files, which is `env!("CARGO_TARGET_TMPDIR")`; its path.
///
/// # Panics
/// If it cannot be written.
pub fn file(folder: &str, name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = Path::new(folder).join(name);
    std::fs::write(&path, contents).expect("a temporary file");
    path.to_string_lossy().into_owned()
}
