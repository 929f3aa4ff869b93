//! Compiles the kernels of this crate for the GPUs whose features are on.
fn main() {
    warpheap_build::build();
}
