//! Real compilations with a device toolchain. Without one they say that they were skipped, or fail if
//! `WARPHEAP_REQUIRE_TOOLCHAIN=1`. The first takes a minute (`core` for each target), later ones seconds.

mod build_scripts;
#[path = "../common/stored.rs"]
mod images;
mod profiles;

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use warpheap_build::{
    BuildError, DeviceCrate, Format, LintKind, Toolchain, compile_ptx, compile_spirv, lint_spirv,
    prebuilt, toolchain,
};

const PANIC: &str = "#![cfg_attr(any(target_arch = \"nvptx64\", target_arch = \"spirv\"), no_std)]\n\
    #[cfg(any(target_arch = \"nvptx64\", target_arch = \"spirv\"))]\n\
    #[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n";

const PTX_KERNEL: &str = r#"
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn twice(words: *mut u32, i: u32) {
    // SAFETY: whoever launches it gives words enough.
    unsafe { *words.add(i as usize) *= 2 }
}
"#;

const SPIRV_KERNEL: &str = r#"
#[cfg(target_arch = "spirv")]
#[rust_gpu::spirv_v0_10(compute(threads(64)))]
pub fn twice(
    #[rust_gpu::spirv_v0_10(local_invocation_index)] i: u32,
    #[rust_gpu::spirv_v0_10(storage_buffer, descriptor_set = 0, binding = 0)] words: &mut [u32],
) {
    words[i as usize] *= 2;
}
"#;

/// A vector that holds its heap, and changes in a loop. Line 3 of this text is the store.
const HELD_SLICE: &str = r#"pub struct Held<'a> { words: &'a mut [u32], at: u32 }
impl Held<'_> { fn push(&mut self, value: u32) {
    self.words[self.at as usize] = value; self.at += 1;
} }
#[cfg(target_arch = "spirv")]
#[rust_gpu::spirv_v0_10(compute(threads(64)))]
pub fn swaps(
    #[rust_gpu::spirv_v0_10(local_invocation_index)] n: u32,
    #[rust_gpu::spirv_v0_10(storage_buffer, descriptor_set = 0, binding = 0)] one: &mut [u32],
    #[rust_gpu::spirv_v0_10(storage_buffer, descriptor_set = 0, binding = 1)] two: &mut [u32],
) {
    let mut held = Held { words: one, at: 0 };
    let mut spare = Held { words: two, at: n };
    let mut i = 0;
    while i < n {
        held.push(i);
        if held.at > 7 { core::mem::swap(&mut held, &mut spare); }
        i += 1;
    }
}
"#;

fn device_toolchain(format: Format) -> Option<Toolchain> {
    match toolchain::find(format) {
        Ok(toolchain) => Some(toolchain),
        Err(error) if env::var_os("WARPHEAP_REQUIRE_TOOLCHAIN").is_some() => panic!("{error}"),
        Err(error) => {
            // Not `eprintln!`, whose text the test harness keeps to itself when a test passes.
            let _ = writeln!(
                std::io::stderr(),
                "\nSKIPPED: no {format} was compiled in this test.\n{error}\n"
            );
            None
        }
    }
}

fn device_crate(temp: &TempDir, name: &str, source: &str) -> DeviceCrate {
    let dir = temp.path().join(name);
    fs::create_dir_all(dir.join("src")).expect("folder");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n"
    );
    fs::write(dir.join("Cargo.toml"), manifest).expect("manifest");
    fs::write(dir.join("src/lib.rs"), source).expect("source");
    DeviceCrate::read(&dir)
        .expect("crate")
        .with_target_dir(shared_target())
}

/// Where build scripts and `warpheap kernels` compile images, so that `core` is compiled once for them and for all tests.
fn shared_target() -> PathBuf {
    target().join("device")
}

/// The target folder of the workspace.
fn target() -> &'static Path {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    temporary.parent().expect("it lies in the target folder")
}

#[test]
fn ptx_is_the_same_wherever_it_is_compiled() {
    let Some(toolchain) = device_toolchain(Format::Ptx) else {
        return;
    };
    let source = format!("{PANIC}{PTX_KERNEL}");
    let compiled = [(); 2].map(|()| {
        let temp = TempDir::new().expect("temporary folder");
        compile_ptx(&device_crate(&temp, "ptx-crate", &source), &toolchain).expect("PTX")
    });
    assert_eq!(compiled[0], compiled[1]);
    for part in [".target sm_70", ".visible .entry twice("] {
        assert!(
            compiled[0].contains(part),
            "`{part}` is not in:\n{}",
            compiled[0]
        );
    }
    assert!(!compiled[0].contains("//"), "{}", compiled[0]);
}

/// A kernel with a `Vec`, whose panics leave their file's name.
const ALLOC_KERNEL: &str = r#"#![cfg_attr(target_arch = "nvptx64", no_std)]
extern crate alloc;
#[cfg(target_arch = "nvptx64")]
mod device {
    use core::alloc::{GlobalAlloc, Layout};
    #[unsafe(no_mangle)]
    static mut FILE: *const str = "";
    #[panic_handler]
    fn panic(info: &core::panic::PanicInfo) -> ! {
        // SAFETY: nobody reads it.
        unsafe { FILE = info.location().map_or("", |place| place.file()) };
        loop {}
    }
    struct None;
    // SAFETY: it never gives anything.
    unsafe impl GlobalAlloc for None {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 { core::ptr::null_mut() }
        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }
    #[global_allocator]
    static NONE: None = None;
    #[unsafe(no_mangle)]
    pub unsafe extern "ptx-kernel" fn pushes(words: *mut u32, i: u32) {
        let mut list = alloc::vec::Vec::new();
        for k in 0..i { list.push(k); }
        // SAFETY: whoever launches it gives words enough.
        unsafe { *words = list[i as usize / 2] }
    }
}
"#;

#[test]
fn ptx_with_alloc_keeps_the_places_of_panics_and_is_the_same_wherever_it_is_compiled() {
    let Some(toolchain) = device_toolchain(Format::Ptx) else {
        return;
    };
    let compiled = [(); 2].map(|()| {
        let temp = TempDir::new().expect("temporary folder");
        let plain = device_crate(&temp, "alloc-crate", ALLOC_KERNEL);
        let manifest = plain.dir().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("manifest")
            + "[package.metadata.warpheap]\nalloc = true\n";
        fs::write(&manifest, text).expect("manifest");
        let krate = DeviceCrate::read(plain.dir()).expect("crate");
        compile_ptx(&krate.with_target_dir(shared_target()), &toolchain).expect("PTX")
    });
    assert_eq!(compiled[0], compiled[1]);
    for file in [
        "{115, 114, 99, 47, 108, 105, 98, 46, 114, 115",
        "{114, 117, 115, 116, 47",
    ] {
        // `src/lib.rs`, and `rust/…` of the library, as PTX writes them.
        assert!(compiled[0].contains(file), "{file}");
    }
    // What the linker would have to find elsewhere.
    assert!(!compiled[0].contains(".extern"), "{}", compiled[0]);
}

#[test]
fn spirv_is_the_same_wherever_it_is_compiled() {
    let Some(toolchain) = device_toolchain(Format::Spirv) else {
        return;
    };
    let source = format!("{PANIC}{SPIRV_KERNEL}");
    let compiled = [(); 2].map(|()| {
        let temp = TempDir::new().expect("temporary folder");
        compile_spirv(&device_crate(&temp, "spirv-crate", &source), &toolchain).expect("SPIR-V")
    });
    assert_eq!(compiled[0], compiled[1]);
    assert_eq!(lint_spirv(&compiled[0]), Ok(()));
    assert!(compiled[0].windows(6).any(|bytes| bytes == b"twice\0"));
}

#[test]
fn a_slice_held_across_a_loop_is_refused_with_its_line() {
    let Some(toolchain) = device_toolchain(Format::Spirv) else {
        return;
    };
    let temp = TempDir::new().expect("temporary folder");
    let krate = device_crate(&temp, "held", &format!("{PANIC}{HELD_SLICE}"));
    let error = compile_spirv(&krate, &toolchain)
        .expect_err("the module holds phis of a struct with a slice");
    let text = error.to_string();
    let BuildError::Lint { errors, .. } = error else {
        panic!("{text}")
    };
    assert!(
        matches!(&errors[0].kind, LintKind::PointerPhi { ty } if ty.contains("Held")),
        "{text}"
    );
    let store = PANIC.lines().count() + 3;
    assert!(
        text.contains(&format!("src/lib.rs:{store}: in `swaps`")),
        "{text}"
    );
}

#[test]
fn what_does_not_compile_shows_the_compilers_words() {
    let Some(toolchain) = device_toolchain(Format::Ptx) else {
        return;
    };
    let temp = TempDir::new().expect("temporary folder");
    let krate = device_crate(
        &temp,
        "broken",
        &format!("{PANIC}fn f() -> u32 {{ missing }}\n"),
    );
    let error = compile_ptx(&krate, &toolchain)
        .expect_err("a broken crate")
        .to_string();
    assert!(
        error.contains("cannot find value `missing`") && error.contains("src/lib.rs"),
        "{error}"
    );
    let krate = device_crate(&temp, "empty", PANIC);
    let error = compile_ptx(&krate, &toolchain)
        .expect_err("a crate without kernels")
        .to_string();
    assert!(error.contains("no entry point"), "{error}");
}

#[test]
fn an_image_is_not_stored_if_its_hash_would_miss_a_source() {
    let Some(toolchain) = device_toolchain(Format::Ptx) else {
        return;
    };
    let temp = TempDir::new().expect("temporary folder");
    let krate = device_crate(&temp, "declared", &format!("{PANIC}mod kernels;\n"));
    fs::write(krate.dir().join("src/kernels.rs"), PTX_KERNEL).expect("source");
    prebuilt::compile(&krate, Format::Ptx, &toolchain).expect("everything is hashed");

    let manifest = krate.dir().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("manifest")
        + "[package.metadata.warpheap]\nhost-only = [\"src/kernels.rs\"]\n";
    fs::write(&manifest, text).expect("manifest");
    let krate = DeviceCrate::read(krate.dir())
        .expect("crate")
        .with_target_dir(shared_target());
    let error = prebuilt::compile(&krate, Format::Ptx, &toolchain)
        .expect_err("the kernel is declared to be for the host only")
        .to_string();
    assert!(
        error.contains("src/kernels.rs") && error.contains("host-only"),
        "{error}"
    );
}
