//! Kernels of every shape that a kernel can have. What they show does not depend on the allocator, so they are compiled
//! for few that compilers take little time for.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap_rt::arch;
use warpheap_rt::device::*;

warpheap_rt::device_module!(allocators = [Bump, RandomWalkMalloc]);

#[cfg(not(target_arch = "spirv"))]
pub mod elements;
pub mod names;
pub mod shared;

/// What these kernels fail with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, KernelError)]
#[repr(u32)]
pub enum Trouble {
    /// The lane was asked to fail.
    Asked = 7,
    /// It was asked to in another way.
    Otherwise,
}

/// The list of each lane grows by as many elements as its number in `wanted` says: `first`, `first + 1`, … The list is
/// the buffer's own element, so what a lane has when it fails is not lost.
///
/// # Errors
/// As `HeapVec::push`; [`Trouble`] for 1,000 or 1,001 elements, after 3 of them.
#[kernel(allocators = listed)]
pub fn grow<A: DeviceAlloc>(
    heap: Heap<A>,
    list: &mut HeapVec<u32>,
    wanted: &[u32],
    sum: &mut u32,
    first: u32,
) -> Result<(), Failure<Trouble>> {
    let count = wanted[thread::index() as usize];
    for k in 0..count {
        if (count >= 1000) & (k == 3) {
            let trouble = if count == 1000 {
                Trouble::Asked
            } else {
                Trouble::Otherwise
            };
            return Err(trouble.into());
        }
        list.push(heap, first + k)?;
        *sum += first + k;
    }
    Ok(())
}

/// The list of each lane gets one element, and then a lane that is asked to panics.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn push_and_panic<A: DeviceAlloc>(
    heap: Heap<A>,
    list: &mut HeapVec<u32>,
    panics: &[u32],
) -> Result<(), AllocError> {
    list.push(heap, 1)?;
    assert!(panics[thread::index() as usize] == 0, "asked to");
    Ok(())
}

/// The list in the vector of each lane gets one element, and then a lane that is asked to panics in the midst of that.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn change_and_panic<A: DeviceAlloc>(
    heap: Heap<A>,
    lists: &mut HeapVec<HeapVec<u32>>,
    panics: &[u32],
) -> Result<(), AllocError> {
    if lists.is_empty() {
        lists.push(heap, HeapVec::new())?;
    }
    let i = thread::index();
    lists.with_mut(heap, 0, Ok(()), move |list| {
        list.push(heap, i)?;
        assert!(panics[i as usize] == 0, "asked to");
        Ok(())
    })
}

/// What is in the first list of each lane: its length, or `u32::MAX` if there is none.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn first_lengths<A: DeviceAlloc>(
    heap: Heap<A>,
    lists: &[HeapVec<HeapVec<u32>>],
    length: &mut u32,
) {
    let i = thread::index() as usize;
    *length = u32::MAX;
    if i < lists.len() {
        *length = lists[i].with(heap, 0, u32::MAX, |list| list.len());
    }
}

/// Each lane has the double of its value and gives it to the others of its block. All lanes run, since all take part
/// in the broadcast: `sums` has the double of the block's first value, or 1 if that lies beyond the end.
#[kernel]
pub fn doubled(mut values: PerLane<u32>, mut sums: PerLane<u32>) {
    let mut own = 1;
    if let Some(i) = values.lane_index() {
        own = values.replace(i, 0) * 2;
        values[i] += own;
    }
    // SAFETY: all lanes are here.
    let first = unsafe { arch::block_broadcast(own, 0) };
    if let Some(i) = sums.lane_index() {
        sums[i] = first;
    }
}

/// More words than there is room for among the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Weights {
    /// A factor for each rest of a lane's number.
    pub factors: [u32; 40],
    /// What is added.
    pub sum: u32,
}

/// Each lane weighs its number.
#[kernel]
pub fn weigh(weights: &Weights, weight: &mut u32) {
    let i = thread::index();
    *weight = i * weights.factors[(i % 40) as usize] + weights.sum;
}

/// Lane `i` moves element `i` of `from` to the place that `places` says.
///
/// # Safety
/// No two of the places are the same.
#[kernel]
pub unsafe fn permute(from: &[[u32; 2]], places: &[u32], to: Scatter<[u32; 2]>) {
    let i = thread::index() as usize;
    if (i < places.len()) & (i < from.len()) {
        // SAFETY: the caller's promise.
        unsafe { to.write(places[i], from[i]) };
    }
}

/// Each lane copies its list from one heap to another, and frees it there.
///
/// # Errors
/// As `HeapVec::push`; the list is then in both, shorter in the second.
///
/// # Safety
/// Lists of `old` are of the heap `from`, those of `new` of the heap `to`.
#[kernel(A = [RandomWalkMalloc], B = [Bump, RandomWalkMalloc])]
pub unsafe fn rehome<A: DeviceAlloc, B: DeviceAlloc>(
    from: Heap<A>,
    to: Heap<B>,
    old: &mut HeapVec<u32>,
) -> Result<(), AllocError> {
    let mut new = HeapVec::new();
    for k in 0..old.len() {
        let pushed = new.push(to, old.get_or(from, k, 0));
        if let Err(error) = pushed {
            new.free(to);
            return Err(error);
        }
    }
    old.free(from);
    *old = new;
    Ok(())
}

/// Adds up the list of each lane, in a heap of this allocator alone.
#[kernel]
pub fn add_up(heap: Heap<RandomWalkMalloc>, list: &mut HeapVec<u32>, sum: &mut u32) {
    *sum = 0;
    for k in 0..list.len() {
        *sum += list.get_or(heap, k, 0);
    }
    list.free(heap);
}

/// A box that lies in a box: `kept` has a box with a list.
pub type Nested = HeapBox<HeapVec<u32>>;

/// Each lane fills the list in its box, which it makes if there is none; or takes all of it apart, and says what was in it.
///
/// # Errors
/// As `HeapVec::push`; then the box has what was pushed before.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn boxes<A: DeviceAlloc>(
    heap: Heap<A>,
    kept: &mut Nested,
    sum: &mut u32,
    empty: bool,
) -> Result<(), AllocError> {
    if empty {
        let kept = core::mem::take(kept);
        let mut list = kept.into_inner_or(heap, HeapVec::new());
        for k in 0..list.len() {
            *sum += list.get_or(heap, k, 0);
        }
        list.free(heap);
        return Ok(());
    }
    if kept.is_none() {
        *kept = HeapBox::new(heap, HeapVec::new())?;
    }
    let i = thread::index();
    kept.with_mut(heap, Ok(()), |list| list.push(heap, i))
}

/// Lanes change words together: a sum that goes down, the least and the greatest of their numbers, bits that go, and a
/// word that each leaves its number in and adds what it finds there.
#[kernel]
pub fn together(words: &[AtomicWord]) {
    let i = thread::index();
    if words.len() >= 6 {
        words[0].fetch_sub(i);
        words[1].fetch_min(i + 3);
        words[2].fetch_max(i + 3);
        words[3].fetch_and(!(1 << (i % 32)));
        words[5].fetch_add(words[4].exchange(i + 1));
    }
}

/// Writes down what it was given.
#[kernel]
pub fn scalars(mut out: PerLane<u32>, yes: bool, no: bool, pair: [i32; 2], size: usize, real: f32) {
    if let Some(i) = out.lane_index() {
        out[i] = match i.get() {
            0 => yes as u32 + 2 * no as u32,
            1 => pair[0] as u32,
            2 => pair[1] as u32,
            3 => size as u32,
            _ => real.to_bits(),
        };
    }
}

/// The size of the whole block that a request of so many bytes takes, of any of the library's allocators.
#[kernel(allocators = all)]
pub fn round_up<A: DeviceAlloc>(heap: Heap<A>, bytes: &[u32], align: u32, whole: &mut u32) {
    let i = thread::index() as usize;
    if i < bytes.len() {
        *whole = heap
            .rounded(layout::aligned(bytes[i] as usize, align as usize))
            .size() as u32;
    }
}
