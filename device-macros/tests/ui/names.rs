//! Names of the user's that entries and launch functions have for themselves.

use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[kernel]
pub fn report(args: &[u32], lane: &mut u32, config: u32, pool: PerLane<u32>) {
    *lane = args.len() as u32 + config + pool.len();
}

#[kernel]
pub fn args(report: &mut u32, outcome: u32, at: &u32, copy0: PerLane<u32>) {
    *report = outcome + *at + copy0.len();
}

#[kernel(allocators = [WarpHeap])]
pub fn lane<A: DeviceAlloc>(heap: Heap<A>, pool: &mut u32, config: u32) -> Result<(), AllocError> {
    let got = heap.malloc(Layout::new::<u32>())?;
    *pool = config;
    // SAFETY: the lane's own.
    unsafe { heap.free(got, Layout::new::<u32>()) };
    Ok(())
}

#[kernel]
pub fn outcome(elements0: &mut u32) {
    *elements0 = 1;
}

#[kernel(allocators = [WarpHeap])]
pub fn r#loop<A: DeviceAlloc>(r#move: Heap<A>, r#in: &mut HeapVec<u32>) -> Result<(), AllocError> {
    r#in.push(r#move, 1)
}

fn main() {}
