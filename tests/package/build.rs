//! Compiles the kernels of this crate.
fn main() {
    warpheap_build::build();
}
