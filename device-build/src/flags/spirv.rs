//! Flags for rust-gpu's code generator, and the target that it compiles for.

/// The target, as rust-gpu calls it.
pub(crate) const TARGET: &str = "spirv-unknown-vulkan1.2";

/// Flags for every crate, `core` included.
pub(crate) const FLAGS: [&str; 9] = [
    "-Csymbol-mangling-version=v0",
    "-Zcrate-attr=feature(register_tool)",
    "-Zcrate-attr=register_tool(rust_gpu)",
    "-Coverflow-checks=off",
    "-Cdebug-assertions=off",
    // The backend recognises calls and shapes that these optimisations of rustc's own would dissolve.
    "-Zinline-mir=off",
    "-Zmir-enable-passes=-GVN",
    "-Zshare-generics=off",
    // No Int64 and no Int8: some Vulkan devices have neither.
    "-Ctarget-feature=+GroupNonUniform,+GroupNonUniformVote,+GroupNonUniformArithmetic,\
     +GroupNonUniformBallot,+GroupNonUniformShuffle,+VulkanMemoryModelDeviceScope",
];
/// Flags for the device crate, in which `#[kernel]` makes entry points. It may name the feature itself.
pub(crate) const CRATE_FLAGS: [&str; 4] = [
    "-Zcrate-attr=feature(asm_experimental_arch)",
    "-Aduplicate_features",
    "-Aunused_features",
    // rustc leaves small functions to the crates that call them; nobody calls an entry point, so a
    // small kernel would be missing from the module without a word.
    "-Zcross-crate-inline-threshold=never",
];
pub(crate) const CARGO_ARGS: [&str; 3] = [
    "-Zjson-target-spec",
    "-Zbuild-std=core",
    "-Zbuild-std-features=compiler-builtins-mem",
];

/// How rustc learns of a target that it does not have built in.
pub(crate) const TARGET_SPEC: &str = r#"{
  "arch": "spirv",
  "llvm-target": "spirv-unknown-vulkan1.2",
  "env": "vulkan1.2",
  "metadata": { "description": null, "host_tools": null, "std": null, "tier": null },
  "data-layout": "e-m:e-p:32:32:32-i64:64-n8:16:32:64",
  "target-pointer-width": 32,
  "panic-strategy": "abort",
  "simd-types-indirect": false,
  "allows-weak-linkage": false,
  "dynamic-linking": true,
  "crt-static-allows-dylibs": true,
  "crt-static-respected": true,
  "crt-objects-fallback": "false",
  "dll-prefix": "",
  "dll-suffix": ".spv.json",
  "linker-flavor": "unix",
  "linker-is-gnu": false,
  "emit-debug-gdb-scripts": false,
  "main-needs-argc-argv": false
}
"#;

/// What decides, beside the sources, how the image comes out.
pub(crate) fn flags() -> impl Iterator<Item = &'static str> {
    FLAGS
        .into_iter()
        .chain(CRATE_FLAGS)
        .chain(CARGO_ARGS)
        .chain([TARGET_SPEC])
}
