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

/// This crate, compiled where build scripts compile images.
fn this_crate() -> DeviceCrate {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let this = DeviceCrate::read(here).expect("a crate");
    this.with_target_dir(here.join("../../target/device"))
}

#[test]
fn they_compile_for_cuda() {
    let Some(toolchain) = device_toolchain(Format::Ptx) else {
        return;
    };
    let text = compile_ptx(&this_crate(), &toolchain).expect("PTX");
    for kernel in ["squares__WarpHeap_l1", "divisors__", "count_lanes_l1"] {
        assert!(text.contains(kernel), "no {kernel}");
    }
}

#[test]
fn they_compile_for_vulkan() {
    let Some(toolchain) = device_toolchain(Format::Spirv) else {
        return;
    };
    compile_spirv(&this_crate(), &toolchain).expect("SPIR-V");
}
