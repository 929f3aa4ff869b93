use warpheap_rt::device::*;

/// # Safety
/// None.
#[kernel(A = all, B = all)]
pub unsafe fn too_many<A: DeviceAlloc, B: DeviceAlloc>(from: Heap<A>, to: Heap<B>) {
    let _ = (from, to);
}

/// # Safety
/// None.
#[kernel(allocators = all)]
pub unsafe fn of_which<A: DeviceAlloc, B: DeviceAlloc>(from: Heap<A>, to: Heap<B>) {
    let _ = (from, to);
}

/// # Safety
/// None.
#[kernel(A = all)]
pub unsafe fn one_is_missing<A: DeviceAlloc, B: DeviceAlloc>(from: Heap<A>, to: Heap<B>) {
    let _ = (from, to);
}

#[kernel(B = all)]
pub fn no_such_parameter<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap;
}

fn main() {}
