//! Flags for rustc's own `nvptx64-nvidia-cuda` target.

use crate::device_crate::DeviceCrate;

/// Flags for every crate. The driver compiles PTX for its own GPU, so the floor is the oldest
/// architecture with independent thread scheduling and `match.sync`, and the PTX version is the first
/// with `nanosleep`.
const FLAGS: [&str; 2] = ["-Ctarget-cpu=sm_70", "-Clink-arg=--target-feature=+ptx63"];
/// A panic can be reported nowhere, so it is a `trap` on the spot: no call, and no path of a source file
/// in the image.
const TRAP: [&str; 3] = [
    "-Zlocation-detail=none",
    "-Zunstable-options",
    "-Cpanic=immediate-abort",
];
/// With `alloc`, code that panics is the rule: it is reported, with the place in the source.
const ALLOC: [&str; 2] = ["--cfg=warpheap_alloc", "--check-cfg=cfg(warpheap_alloc)"];
/// Flags for the device crate, in which `#[kernel]` makes entry points. It may name the features itself.
pub(crate) const CRATE_FLAGS: [&str; 4] = [
    "-Zcrate-attr=feature(abi_ptx)",
    "-Zcrate-attr=feature(asm_experimental_arch)",
    "-Aduplicate_features",
    "-Aunused_features",
];
/// What is done to the text afterwards, so that an image from before it counts as another one.
const MENDS: [&str; 1] = ["own lane in the masks of functions and of entries that call"];
const CARGO_ARGS: [&str; 3] = ["--target", "nvptx64-nvidia-cuda", "-Zbuild-std=core"];
const ALLOC_CARGO_ARGS: [&str; 3] = ["--target", "nvptx64-nvidia-cuda", "-Zbuild-std=core,alloc"];

/// Flags for every crate that `krate` is compiled with.
pub(crate) fn target_flags(krate: &DeviceCrate) -> Vec<&'static str> {
    let others: &[_] = match krate.uses_alloc() {
        true => &ALLOC,
        false => &TRAP,
    };
    [&FLAGS, others].concat()
}

/// What cargo needs to compile `krate`.
pub(crate) fn cargo_args(krate: &DeviceCrate) -> [&'static str; 3] {
    match krate.uses_alloc() {
        true => ALLOC_CARGO_ARGS,
        false => CARGO_ARGS,
    }
}

/// What decides, beside the sources, how the image comes out.
pub(crate) fn flags(krate: &DeviceCrate) -> impl Iterator<Item = &'static str> {
    let flags = target_flags(krate).into_iter().chain(CRATE_FLAGS);
    flags.chain(cargo_args(krate)).chain(MENDS)
}
