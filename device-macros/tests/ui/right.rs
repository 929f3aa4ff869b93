// A user's crate knows nothing of device targets; an expansion that names them would warn there.
#![deny(unexpected_cfgs)]

use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[derive(Clone, Copy, HeapData)]
#[repr(C)]
pub struct Pair {
    first: u32,
    second: f32,
}

#[derive(Clone, Copy, HeapData)]
#[repr(transparent)]
pub struct Wrapped(Pair);

#[kernel(unsafe(slices))]
pub fn plain(pairs: &[Pair], out: &mut [Wrapped], counts: &[AtomicWord], add: f32) {
    let i = thread::index() as usize;
    if i < out.len() && i < pairs.len() {
        counts[i].fetch_add(1);
        let Pair { first, second } = pairs[i];
        out[i] = Wrapped(Pair { first, second: second + add });
    }
}

#[kernel(allocators = [Bump, Counted<ScatterAlloc>], unsafe(slices))]
pub fn listed<A: DeviceAlloc>(heap: Heap<A>, out: &mut [HeapVec<u32>]) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < out.len() {
        return out[i].push(heap, 1);
    }
    Ok(())
}

#[kernel(allocators = all)]
pub fn every<A: DeviceAlloc>(heap: Heap<A>, at: DevicePtr<u32>) {
    // SAFETY: never launched here.
    unsafe { heap.atomic_add(at, 1) };
}

#[kernel(allocators = Counted<all>)]
pub fn every_counted<A: DeviceAlloc>(heap: Heap<A>, at: DevicePtr<u32>) {
    // SAFETY: never launched here.
    unsafe { heap.atomic_add(at, 1) };
}

#[kernel(allocators = [all, Counted<WarpHeap>, Limited<Bump>])]
pub fn every_and_more<A: DeviceAlloc>(heap: Heap<A>, at: DevicePtr<u32>) {
    // SAFETY: never launched here.
    unsafe { heap.atomic_add(at, 1) };
}

#[kernel(allocators = [Counted<all>, Traced<Counted<WarpHeap>>])]
pub fn every_counted_and_more<A: DeviceAlloc>(heap: Heap<A>, at: DevicePtr<u32>) {
    // SAFETY: never launched here.
    unsafe { heap.atomic_add(at, 1) };
}

fn takes<A: EveryAndMoreEntry>() {}

fn takes_counted<A: EveryCountedAndMoreEntry>() {}

fn main() {
    takes::<ScatterAlloc>();
    takes::<Counted<WarpHeap>>();
    takes::<Limited<Bump>>();
    takes_counted::<Counted<Bump>>();
    takes_counted::<Traced<Counted<WarpHeap>>>();
}
