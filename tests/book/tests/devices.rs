//! The kernels in the documentation compile for GPUs, where there is a device compiler.

use std::env;
use std::path::Path;
use warpheap_build::{DeviceCrate, Format, Toolchain, compile_ptx, compile_spirv, toolchain};

fn device_toolchain(format: Format) -> Option<Toolchain> {
    match toolchain::find(format) {
        Ok(toolchain) => Some(toolchain),
        Err(error) if env::var_os("WARPHEAP_REQUIRE_TOOLCHAIN").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// The images of this crate that are tried, compiled where build scripts compile images. Kernels for all allocators are the
/// same code for each, so two stand for all.
fn images() -> Vec<DeviceCrate> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let this = DeviceCrate::read(here).expect("a crate");
    let mut images = this
        .with_target_dir(here.join("../../target/device"))
        .images();
    images.retain(|image| {
        ["warpheap-book", "warpheap-book.WarpHeap", "warpheap-book.Gallatin"]
            .contains(&image.image_name().as_str())
    });
    assert_eq!(images.len(), 3);
    images
}

#[test]
fn they_compile_for_cuda() {
    let Some(toolchain) = device_toolchain(Format::Ptx) else {
        return;
    };
    let text: String = images()
        .iter()
        .map(|image| compile_ptx(image, &toolchain).expect("PTX"))
        .collect();
    for kernel in [
        "squares__WarpHeap_l1",
        "squares__Gallatin_l1",
        "divisors__",
        "count_lanes_l1",
    ] {
        assert!(text.contains(kernel), "no {kernel}");
    }
}

#[test]
fn they_compile_for_vulkan() {
    let Some(toolchain) = device_toolchain(Format::Spirv) else {
        return;
    };
    for image in images() {
        compile_spirv(&image, &toolchain).expect("SPIR-V");
    }
}
