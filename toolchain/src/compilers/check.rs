//! Whether what is installed makes device code: it has to compile a small kernel for both targets.

use crate::error::{Result, message};
use crate::sh;
use std::path::Path;
use std::thread::{self, Builder};
use std::time::Instant;
use warpheap_build::{DeviceCrate, Format, Toolchain, compile_ptx, compile_spirv, toolchain};

/// A kernel that needs nothing but the compilers, so that a failure is theirs.
const KERNEL: &str = r#"#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn twice(words: *mut u32, i: u32) {
    // SAFETY: whoever launches it gives words enough.
    unsafe { *words.add(i as usize) *= 2 }
}

#[cfg(target_arch = "spirv")]
#[rust_gpu::spirv_v0_10(compute(threads(64)))]
pub fn twice(
    #[rust_gpu::spirv_v0_10(local_invocation_index)] i: u32,
    #[rust_gpu::spirv_v0_10(storage_buffer, descriptor_set = 0, binding = 0)] words: &mut [u32],
) {
    words[i as usize] *= 2;
}
"#;

/// A workspace of its own, since it lies within another one.
const MANIFEST: &str = "[package]\nname = \"toolchain-check\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";

/// Says which toolchains there are and compiles the kernel with those that are used, for both
/// targets at the same time, in the folder `target`.
///
/// # Errors
/// When no toolchain makes PTX or none makes SPIR-V, or one that should fails to.
pub fn report(target: &Path) -> Result {
    let report = toolchain::Search::from_env().report();
    println!("{report}");
    let krate = kernel_crate(target)?;
    let outcomes = thread::scope(|scope| {
        let krate = &krate;
        let begin = |format| {
            let toolchain = report.first(format)?;
            let compile = move || compile(krate, format, toolchain);
            // Where the system gives no thread, here.
            let thread = Builder::new().spawn_scoped(scope, compile);
            Some(thread.map_err(|_| compile()))
        };
        Format::ALL.map(begin).map(|started| match started? {
            Ok(thread) => {
                let joined = thread.join();
                Some(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            }
            Err(compiled) => Some(compiled),
        })
    });
    let mut gaps = Vec::new();
    for (format, outcome) in Format::ALL.into_iter().zip(outcomes) {
        match outcome {
            Some(outcome) => outcome?,
            None => gaps.push(format.to_string()),
        }
    }
    if gaps.is_empty() {
        return Ok(());
    }
    message(format!(
        "no toolchain makes {}; what to do stands above",
        gaps.join(" or ")
    ))
}

fn compile(krate: &DeviceCrate, format: Format, toolchain: &Toolchain) -> Result {
    let begin = Instant::now();
    let bytes = match format {
        Format::Ptx => compile_ptx(krate, toolchain)?.len(),
        Format::Spirv => compile_spirv(krate, toolchain)?.len(),
    };
    println!(
        "a small kernel compiles to {format}: {bytes} bytes in {} s",
        begin.elapsed().as_secs()
    );
    Ok(())
}

/// The kernel as a crate that is compiled in the folder `target`.
fn kernel_crate(target: &Path) -> Result<DeviceCrate> {
    let dir = target.join("toolchain-check");
    sh::make_dir(&dir.join("src"))?;
    sh::write(&dir.join("Cargo.toml"), MANIFEST)?;
    sh::write(&dir.join("src/lib.rs"), KERNEL)?;
    Ok(DeviceCrate::read(&dir)?.with_target_dir(target))
}
