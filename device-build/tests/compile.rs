//! Real compilations with a device toolchain. Without one they say that they were skipped, or fail if
//! `WARPHEAP_REQUIRE_TOOLCHAIN=1`. The first takes a minute (`core` for each target), later ones seconds.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use warpheap_build::{
    ALLOCATORS, BuildError, DeviceCrate, Format, ImageSource, LintKind, MODULE_FILE, Options,
    Toolchain, compile_ptx, compile_spirv, lint_spirv, prebuilt, toolchain, try_build,
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

/// Where build scripts and `cargo xtask kernels` compile images, so that `core` is compiled once for them and for all tests.
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

/// What a workspace may ask for so that its own tests compile fast, for one crate and for all. `core` is one of these, and
/// is compiled once more, which takes a minute for SPIR-V.
const FOR_ONE: &str = "[profile.release.package.profiled]\nopt-level = 0\ndebug-assertions = true\ncodegen-units = 16\n";
const FOR_ALL: &str = "[profile.release]\nopt-level = 1\noverflow-checks = true\n\
    [profile.release.package.\"*\"]\nopt-level = 1\ndebug = true\n";

#[test]
fn profiles_of_the_users_workspace_do_not_reach_images() {
    for (format, kernel, for_all) in [
        (Format::Ptx, PTX_KERNEL, FOR_ALL),
        (Format::Spirv, SPIRV_KERNEL, ""),
    ] {
        let Some(toolchain) = device_toolchain(format) else {
            return;
        };
        let compiled = [String::new(), format!("{FOR_ONE}{for_all}")].map(|profiles| {
            let temp = TempDir::new().expect("temporary folder");
            let krate = device_crate(&temp, "profiled", &format!("{PANIC}{kernel}"));
            let manifest = krate.dir().join("Cargo.toml");
            let text = fs::read_to_string(&manifest).expect("manifest") + &profiles;
            fs::write(&manifest, text).expect("manifest");
            match format {
                Format::Ptx => compile_ptx(&krate, &toolchain).map(String::into_bytes),
                _ => compile_spirv(&krate, &toolchain),
            }
            .expect("an image")
        });
        assert!(compiled[0] == compiled[1], "{format}");
    }
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

/// A crate all of whose kernels are for some allocators: the images of the other allocators, and that of the other kernels,
/// have none, and are left out. The expansion of `#[kernel(allocators = …)]` has such a `cfg` at each entry.
#[test]
fn images_without_kernels_are_left_out_of_a_divided_crate() {
    if Format::ALL
        .iter()
        .any(|&format| device_toolchain(format).is_none())
    {
        return;
    }
    let temp = TempDir::new().expect("temporary folder");
    let source = format!(
        "{PANIC}#[cfg(warpheap_image = \"Bump\")]\npub mod bump {{{PTX_KERNEL}{SPIRV_KERNEL}}}\n"
    );
    let dir = device_crate(&temp, "divided", &source).dir().to_owned();
    let manifest = dir.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("manifest")
        + "[package.metadata.warpheap]\nimages = \"by-allocator\"\n";
    fs::write(&manifest, text).expect("manifest");
    // Those of most allocators are there, so that this takes seconds.
    let prebuilt = dir.join("prebuilt");
    for image in DeviceCrate::read(&dir).expect("crate").images() {
        if !["divided", "divided.Bump", "divided.Gallatin"].contains(&image.image_name().as_str()) {
            for format in Format::ALL {
                prebuilt::write(&prebuilt, &image, format, b"image", None, "rustc x")
                    .expect("write");
            }
        }
    }
    let out = temp.path().join("out");
    fs::create_dir(&out).expect("folder");
    let options = Options::new(&dir, &out)
        .formats(Format::ALL)
        .target_dir(shared_target());
    let report = try_build(&options).expect("images");
    let compiled: Vec<_> = report
        .images
        .iter()
        .filter(|(_, _, from)| matches!(from, ImageSource::Compiled(_)))
        .map(|(name, format, _)| (name.as_str(), *format))
        .collect();
    assert_eq!(compiled, Format::ALL.map(|format| ("divided.Bump", format)));
    let with_images = ALLOCATORS.len() - 1;
    assert_eq!(report.images.len(), Format::ALL.len() * with_images);
    let module = fs::read_to_string(out.join(MODULE_FILE)).expect("module");
    assert!(
        module.starts_with("(\"divided\", &[(\"Bump\", Some("),
        "{module}"
    );
    assert!(!module.contains("Gallatin"), "{module}");
}

/// A user's build: cargo runs a build script, which runs cargo, which builds this very crate again for
/// the nested build script.
#[test]
fn a_build_script_embeds_both_images() {
    if Format::ALL
        .iter()
        .any(|&format| device_toolchain(format).is_none())
    {
        return;
    }
    let temp = TempDir::new().expect("temporary folder");
    let this = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = temp.path().join("user");
    let source = format!(
        "{PANIC}{PTX_KERNEL}{SPIRV_KERNEL}\n#[cfg(not(any(target_arch = \"nvptx64\", target_arch = \"spirv\")))]\n\
         pub static IMAGES: (&str, &[(&str, Option<&[u8]>, Option<&[u8]>)]) =\n    \
         include!(concat!(env!(\"OUT_DIR\"), \"/warpheap_module.rs\"));\n"
    );
    let main = "fn main() {\n    let (name, images) = user::IMAGES;\n    \
         let gzip = |packed: Option<&[u8]>| packed.map(|p| p.starts_with(&[0x1f, 0x8b]));\n    \
         for (of, ptx, spirv) in images { println!(\"{name} {of:?} {:?} {:?}\", gzip(*ptx), gzip(*spirv)); }\n}\n";
    fs::create_dir_all(dir.join("src")).expect("folder");
    let manifest = format!(
        "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[features]\ncuda = []\nvulkan = []\n\
         [build-dependencies]\nwarpheap-build = {{ path = {:?} }}\n[workspace]\n",
        this.display().to_string()
    );
    fs::write(dir.join("Cargo.toml"), manifest).expect("manifest");
    fs::write(
        dir.join("build.rs"),
        "fn main() { warpheap_build::build() }\n",
    )
    .expect("build script");
    fs::write(dir.join("src/lib.rs"), source).expect("source");
    fs::write(dir.join("src/main.rs"), main).expect("source");
    // The versions that are in use here, so that nothing has to be fetched.
    fs::copy(this.join("../Cargo.lock"), dir.join("Cargo.lock")).expect("lock file");

    let run = |features: &str, kernels: &str| {
        let output = Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--features", features, "--target-dir"])
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("outer"))
            .current_dir(&dir)
            .env("CARGO_TARGET_DIR", target())
            .env("WARPHEAP_KERNELS", kernels)
            // What an outer build may set and the nested one must not see.
            .env("RUSTFLAGS", "-Copt-level=1")
            .output()
            .expect("cargo");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.success(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (ok, stdout, stderr) = run("cuda,vulkan", "build");
    assert!(
        ok && stdout == "user \"\" Some(true) Some(true)\n",
        "{stdout}{stderr}"
    );
    let (ok, stdout, stderr) = run("", "");
    assert!(ok && stdout.is_empty(), "{stdout}{stderr}");
    let (ok, _, stderr) = run("cuda", "prebuilt");
    assert!(
        !ok && stderr.contains("no usable prebuilt PTX for `user`"),
        "{stderr}"
    );
    let (ok, _, stderr) = run("cuda", "never");
    assert!(
        !ok && stderr.contains("WARPHEAP_KERNELS=`never` is not known"),
        "{stderr}"
    );
}
