//! What appending costs, and floors to hold it against: the same stores where room is had by one addition a warp.

use warpheap_rt::device::*;
use warpheap_rt::sync::Group;

/// Each lane appends `each` numbers to its own vector.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = [Bump, WarpHeap])]
pub fn push_own<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<u32>,
    each: u32,
) -> Result<(), AllocError> {
    for k in 0..each {
        vector.push(heap, k)?;
    }
    Ok(())
}

/// The floor of [`push_own`] without growth: each lane asks for a block once and writes `each` words of it.
///
/// # Errors
/// As `malloc`.
#[kernel(allocators = [Bump, WarpHeap])]
pub fn store_own<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<u32>,
    each: u32,
) -> Result<(), AllocError> {
    vector.reserve(heap, each)?;
    for k in 0..each {
        // There is room: it asks for no more.
        vector.push(heap, k)?;
    }
    Ok(())
}

/// The lanes of each group append `each` numbers to a vector that they have together, which is left with the number
/// of the lane that leads it.
///
/// # Errors
/// As `HeapVec::push_together`.
#[kernel(allocators = [Bump, WarpHeap])]
pub fn push_by_warps<A: DeviceAlloc>(
    heap: Heap<A>,
    vectors: Scatter<HeapVec<u32>>,
    each: u32,
) -> Result<(), AllocError> {
    let group = Group::here();
    let mut vector = HeapVec::new();
    let mut result = Ok(());
    let mut k = 0;
    while (k < each) & result.is_ok() {
        // SAFETY: all lanes of the group have this vector, and nobody else.
        result = unsafe { vector.push_together(heap, group, k) };
        k += 1;
    }
    if group.leads() {
        // SAFETY: this lane alone has the number.
        unsafe { vectors.write(thread::index(), vector) };
    }
    result
}

/// The floor of [`push_by_warps`]: each group makes room once.
///
/// # Errors
/// As `HeapVec::push_together`.
#[kernel(allocators = [Bump, WarpHeap])]
pub fn store_by_warps<A: DeviceAlloc>(
    heap: Heap<A>,
    vectors: Scatter<HeapVec<u32>>,
    each: u32,
) -> Result<(), AllocError> {
    let group = Group::here();
    let mut vector = HeapVec::new();
    // SAFETY: all lanes of the group have this vector, and nobody else.
    let mut result = unsafe { vector.reserve_together(heap, group, each * group.count()) };
    let mut k = 0;
    while (k < each) & result.is_ok() {
        // SAFETY: the same.
        result = unsafe { vector.push_together(heap, group, k) };
        k += 1;
    }
    if group.leads() {
        // SAFETY: this lane alone has the number.
        unsafe { vectors.write(thread::index(), vector) };
    }
    result
}

/// All lanes append `each` numbers to one vector.
///
/// # Errors
/// As `HeapSharedVec::push`.
#[kernel(allocators = [Bump, WarpHeap])]
pub fn push_to_one<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: HeapSharedVec<u32>,
    each: u32,
) -> Result<(), AllocError> {
    for k in 0..each {
        vector.push(heap, k)?;
    }
    Ok(())
}

/// The floor of [`push_to_one`]: the lanes that are together add to one word once, and each writes its number there.
#[kernel]
pub fn store_to_one(counter: &[AtomicWord], out: Scatter<u32>, each: u32) {
    for k in 0..each {
        let group = Group::here();
        let (first, _) = group.once(move || (counter[0].fetch_add(group.count()), 0));
        // SAFETY: no other lane was given this index.
        unsafe { out.write(first + group.rank(), k) };
    }
}
