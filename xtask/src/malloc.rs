//! Another malloc for the compiler of SPIR-V, which spends half of its time in that of the C library.

use std::process::Command;
use std::sync::OnceLock;
use warpheap_build::{Format, toolchain};
use warpheap_toolchain::debian;
use warpheap_toolchain::error::{Result, message};

/// What Debian calls the library's package.
const PACKAGE: &str = "libmimalloc2.0";

/// What the loader calls the library.
const LIBRARY: &str = "libmimalloc.so.2";

/// What tells the builder to start the compiler with a library.
const VARIABLE: &str = "WARPHEAP_SPIRV_PRELOAD";

/// Installs it where that is `allowed` and something compiles SPIR-V. It only saves time: without it the output says so, and
/// everything goes on.
pub fn set_up(allowed: bool) {
    if loads(LIBRARY) || toolchain::find(Format::Spirv).is_err() {
        return;
    }
    let installed = match debian::present() {
        true => debian::ensure(&[PACKAGE], "To compile SPIR-V in half the time", allowed),
        false => Ok(()),
    };
    if let Err(error) = installed.and_then(|()| tried()) {
        eprintln!(
            "SPIR-V is compiled with the C library's malloc, which takes twice as long: {error}"
        );
    }
}

/// An error if the library cannot be loaded.
fn tried() -> Result {
    match loads(LIBRARY) {
        true => Ok(()),
        false => message(format!("{LIBRARY} cannot be loaded")),
    }
}

/// The variable for programs that compile SPIR-V, if the library is here and nobody chose another one.
pub fn chosen() -> Option<(&'static str, &'static str)> {
    static HERE: OnceLock<bool> = OnceLock::new();
    let wanted = std::env::var_os(VARIABLE).is_none();
    (wanted && *HERE.get_or_init(|| loads(LIBRARY))).then_some((VARIABLE, LIBRARY))
}

/// Whether programs can be started with a library: the loader complains, and goes on without it.
fn loads(library: &str) -> bool {
    let tried = Command::new("true").env("LD_PRELOAD", library).output();
    tried.is_ok_and(|out| out.status.success() && out.stderr.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_does_not_load() {
        assert!(!loads("libno-such-library-here.so.1"));
    }
}
