//! rustc as cargo runs it for tests: this program, with the name of rustc and its arguments.
//!
//! Kernels on the host are most of what is compiled, and consist of functions that are to be inlined always. Where nothing is
//! optimised, their copies are most of the compiler's work. Here they are called instead: the compiler takes a sixth of the
//! time, and tests take about as long as before.
//! (This is no shell script: some shells drop variables whose names have a `-`, such as cargo's for programs.)

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What leaves out the passes that inline. A crate that is optimised would lose all others, too.
const WITHOUT_PASSES: &str = "-Cno-prepopulate-passes";

/// What cargo is to be told to run rustc by; nothing if it runs another program already.
pub fn wrapper() -> Option<PathBuf> {
    let taken = ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];
    match taken.iter().any(|name| std::env::var_os(name).is_some()) {
        true => None,
        false => std::env::current_exe().ok(),
    }
}

/// Runs rustc if cargo called this program for that.
pub fn run_if_meant(mut args: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let rustc = args.nth(1).filter(|program| is_rustc(program))?;
    let args: Vec<OsString> = args.collect();
    let mut command = Command::new(&rustc);
    if has_no_optimisation(&args) {
        command.arg(WITHOUT_PASSES);
    }
    Some(match command.args(&args).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            code.map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            eprintln!("error: {} does not start: {error}", rustc.display());
            ExitCode::FAILURE
        }
    })
}

fn is_rustc(program: &OsStr) -> bool {
    Path::new(program).file_stem() == Some(OsStr::new("rustc"))
}

/// Whether rustc is to compile something, without optimisation: cargo names every other level.
fn has_no_optimisation(args: &[OsString]) -> bool {
    let any = |what: &str| args.iter().any(|arg| arg.to_string_lossy().contains(what));
    any("--crate-name") && !any("opt-level")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn crates_without_optimisation_are_told_apart() {
        assert!(has_no_optimisation(&args("--crate-name a src/lib.rs")));
        for other in [
            "--crate-name a -C opt-level=3",
            "--crate-name a -Copt-level=1",
            "-vV",
        ] {
            assert!(!has_no_optimisation(&args(other)), "{other}");
        }
    }

    #[test]
    fn commands_of_ours_are_not_rustc() {
        for line in ["xtask test", "xtask", "xtask --help"] {
            assert!(run_if_meant(args(line).into_iter()).is_none(), "{line}");
        }
        assert!(is_rustc(OsStr::new("/bin/rustc")) && is_rustc(OsStr::new("rustc.exe")));
    }
}
