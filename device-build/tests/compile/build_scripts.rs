//! What a build script does: compiles what is missing, and embeds it.

use crate::images::stored_image;
use crate::{
    PANIC, PTX_KERNEL, SPIRV_KERNEL, device_crate, device_toolchain, shared_target, target,
};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use warpheap_build::{
    ALLOCATORS, DeviceCrate, Format, ImageSource, MODULE_FILE, Options, prebuilt, try_build,
};

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
                prebuilt::write(
                    &prebuilt,
                    &image,
                    format,
                    &stored_image(format),
                    None,
                    "rustc x",
                )
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
