//! `cargo xtask cuda-stub`: a `libcuda.a` to link `examples/raw` against where no CUDA toolkit is installed.
//!
//! That project launches kernels through `cust`, which links the driver's library. (The library's own backend does not: it loads it.)
//! `-lcuda` finds it as `target/cuda-stub/lib64/libcuda.a` when `CUDA_LIBRARY_PATH` names
//! `target/cuda-stub`. It is no dead stub: every `cu…` symbol is a jump that loads the driver's own
//! `libcuda.so.1` on the first call. So a program that is linked to it starts on a machine
//! without a driver (each call then returns `CUDA_ERROR_STUB_LIBRARY`, 34) and uses the real driver
//! where there is one, and nothing has to be installed or put on a library path.

mod source;

use crate::workspace;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpheap_toolchain::error::{Result, message};
use warpheap_toolchain::{cargo, sh};

/// The project that is linked against it.
const USER: &str = "examples/raw/Cargo.toml";

/// Arguments of `cargo xtask cuda-stub`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder that gets `lib64/libcuda.a` [default: target/cuda-stub of the workspace]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// When `cust_raw` is not among the dependencies of `examples/raw`, the machine is not x86-64 or the C compiler fails.
pub fn run(args: &Args) -> Result {
    let out = args.out.clone().unwrap_or_else(default_dir);
    let built = make(&out)?;
    println!(
        "{} {}",
        if built { "made" } else { "up to date:" },
        out.join("lib64/libcuda.a").display()
    );
    if out != default_dir() {
        println!("to link against it: CUDA_LIBRARY_PATH={}", out.display());
    }
    Ok(())
}

/// The folder that `.cargo/config.toml` names in `CUDA_LIBRARY_PATH`.
pub fn default_dir() -> PathBuf {
    workspace::root().join("target/cuda-stub")
}

/// Makes the library unless it is there already and made from the same symbols; says whether it was
/// built.
///
/// # Errors
/// As [`run`].
pub fn make(out: &Path) -> Result<bool> {
    if !cfg!(target_arch = "x86_64") {
        return message(
            "the CUDA stub is written in x86-64 assembly; on this machine set CUDA_LIBRARY_PATH to a \
             folder whose lib64/ has a libcuda.so (the `stubs` of a CUDA toolkit)",
        );
    }
    let metadata = cargo::metadata(&workspace::root().join(USER))?;
    let bindings = workspace::package_dir(&metadata, "cust_raw")?.join("src/cuda.rs");
    let symbols = source::symbols(&sh::read(&bindings)?);
    if symbols.is_empty() {
        return message(format!(
            "{} declares no cu… function: the layout of cust_raw has changed, `xtask/src/cuda_stub` must follow",
            bindings.display()
        ));
    }
    archive(&symbols, out)
}

/// Compiles the library for these symbols into `out/lib64`.
fn archive(symbols: &[String], out: &Path) -> Result<bool> {
    let (lib_dir, c_file) = (out.join("lib64"), out.join("cuda.c"));
    let library = lib_dir.join("libcuda.a");
    let text = source::c_source(symbols);
    if library.is_file() && std::fs::read_to_string(&c_file).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    sh::make_dir(&lib_dir)?;
    // An archive is added to, not replaced, by `ar`; and the source is written last, because it is
    // what says that the library is current.
    sh::remove(&library)?;
    let fresh = out.join("new.c");
    sh::write(&fresh, &text)?;
    let object = out.join("cuda.o");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    sh::quiet(
        cc.args(["-c", "-O2", "-fPIC", "-Wall", "-Werror", "-o"])
            .arg(&object)
            .arg(&fresh),
    )?;
    sh::quiet(Command::new("ar").arg("rcs").arg(&library).arg(&object))?;
    std::fs::rename(&fresh, &c_file).map_err(|e| sh::file("rename", &fresh, e))?;
    Ok(true)
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;

    /// Calls through the jumps with more arguments than registers hold, integers and floats mixed.
    const CALLER: &str = r#"
#include <stdio.h>
int cuMixed(long, double, int, double, long, double, long, double, long, double, long, double,
            long, double, int, double);
int cuOther(void);
int cuGetErrorString(int, const char **);
int main(void) {
    const char *text = "untouched";
    for (int round = 0; round < 2; round++)
        printf("%d ", cuMixed(1, 2.0, 3, 4.0, 5, 6.0, 7, 8.0, 9, 10.0, 11, 12.0, 13, 14.0, 15, 16.0));
    int status = cuGetErrorString(34, &text);
    printf("%d %d %s\n", cuOther(), status, text);
}
"#;
    /// Stands for the driver; it lacks `cuOther`, and loading it spoils the registers that hold
    /// floating-point arguments (loading anything spoils the others).
    const DRIVER: &str = r#"
__attribute__((constructor)) static void spoil(void) {
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n pcmpeqd %%xmm1, %%xmm1\n pcmpeqd %%xmm2, %%xmm2\n"
                     "pcmpeqd %%xmm3, %%xmm3\n pcmpeqd %%xmm4, %%xmm4\n pcmpeqd %%xmm5, %%xmm5\n"
                     "pcmpeqd %%xmm6, %%xmm6\n pcmpeqd %%xmm7, %%xmm7\n" :: :
                     "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
}
int cuMixed(long a, double b, int c, double d, long e, double f, long g, double h, long i, double j,
            long k, double l, long m, double n, int o, double p) {
    const double have[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p};
    int same = 0;
    for (int at = 0; at < 16; at++) same += have[at] == at + 1;
    return 1000 + same;
}
int cuGetErrorString(int code, const char **text) { *text = "from the driver"; return code; }
"#;

    fn cc(args: &[&str]) {
        sh::quiet(Command::new("cc").args(args)).unwrap();
    }

    #[test]
    fn a_program_starts_without_a_driver_and_calls_the_one_it_finds() {
        let dir = std::env::temp_dir().join(format!("xtask-cuda-stub-{}", std::process::id()));
        sh::remove(&dir).unwrap();
        let at = |name: &str| dir.join(name).to_str().unwrap().to_string();
        let symbols = ["cuMixed", "cuOther", "cuGetErrorString"].map(String::from);
        assert!(archive(&symbols, &dir).unwrap());
        assert!(
            !archive(&symbols, &dir).unwrap(),
            "the second time there is nothing to do"
        );

        sh::write(&dir.join("caller.c"), CALLER).unwrap();
        sh::write(&dir.join("driver.c"), DRIVER).unwrap();
        cc(&[
            "-o",
            &at("caller"),
            &at("caller.c"),
            "-L",
            &at("lib64"),
            "-Wl,-Bdynamic",
            "-lcuda",
        ]);
        let libraries = |folder: &str| {
            let mut program = Command::new(at("caller"));
            sh::quiet(program.env("LD_LIBRARY_PATH", folder)).unwrap()
        };
        // The machine that runs this test may have a driver; an empty file of that name hides it.
        sh::make_dir(&dir.join("none")).unwrap();
        sh::write(&dir.join("none/libcuda.so.1"), "").unwrap();
        let without = libraries(&at("none"));
        sh::make_dir(&dir.join("fake")).unwrap();
        cc(&[
            "-shared",
            "-fPIC",
            "-o",
            &at("fake/libcuda.so.1"),
            &at("driver.c"),
        ]);
        let with = libraries(&at("fake"));
        sh::remove(&dir).unwrap();

        assert_eq!(
            without,
            "34 34 34 0 no NVIDIA driver: libcuda.so.1 cannot be loaded\n"
        );
        assert_eq!(with, "1016 1016 500 34 from the driver\n");
    }
}
