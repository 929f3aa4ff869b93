//! Compiles the kernels of this crate, or takes the prebuilt ones.
fn main() {
    warpheap_build::build();
}
