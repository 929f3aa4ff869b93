//! Allocations in branches: lanes of a warp that allocate and free in different places of a kernel, through functions
//! that are called.

use crate::pattern::{fill, intact, words_of};
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// Index in `wrong`: elements or blocks that did not hold what was written to them.
pub const DAMAGED: usize = 0;
/// Index in `wrong`: vectors that are not as long as they should be.
pub const LENGTHS: usize = 1;
/// Number of `wrong`.
pub const WRONG: usize = 2;

/// How long a lane's vector becomes: at most `most`, with a power law. Half of the lanes have less than 4 elements,
/// one in 2^k more than 2^k.
#[inline(always)]
pub const fn length(seed: u32, lane: u32, most: u32) -> u32 {
    let drawn = hash(seed ^ lane);
    let zeros = drawn.leading_zeros();
    let bound = 4 << if zeros < 20 { zeros } else { 20 };
    let length = hash(drawn) % bound;
    if length < most { length } else { most }
}

/// Element `k` of a lane's vector.
#[inline(always)]
const fn element(lane: u32, k: u32) -> u32 {
    lane.wrapping_mul(0x9e37_79b1) ^ k
}

/// Pushes until the vector has `length` elements, in one of three ways: forward, forward with other elements, and
/// three forward and one back.
#[inline(always)]
fn push_all<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<u32>,
    lane: u32,
    length: u32,
    way: u32,
) -> Result<(), AllocError> {
    let mut result = Ok(());
    let mut steps = 0;
    while result.is_ok() && vector.len() < length {
        let element = written(lane, vector.len(), way);
        result = vector.push(heap, element);
        steps += 1;
        if way == 2 && result.is_ok() && steps % 3 == 0 {
            vector.truncate(vector.len() - 1);
        }
    }
    result
}

/// What a lane that goes this way writes as element `k`.
#[inline(always)]
const fn written(lane: u32, k: u32, way: u32) -> u32 {
    let element = element(lane, k);
    match way {
        0 => element,
        1 => !element,
        _ => element.wrapping_add(1),
    }
}

macro_rules! in_three_branches {
    () => {
        /// Each way is a branch of its own, with a call of its own where growing is a function.
        #[inline(always)]
        fn push_some_way<A: DeviceAlloc>(
            heap: Heap<A>,
            vector: &mut HeapVec<u32>,
            lane: u32,
            length: u32,
        ) -> Result<(), AllocError> {
            match lane % 3 {
                0 => push_all(heap, vector, lane, length, 0),
                1 => push_all(heap, vector, lane, length, 1),
                _ => push_all(heap, vector, lane, length, 2),
            }
        }
    };
}

warpheap_rt::__on_cuda! { in_three_branches! {} }
warpheap_rt::__on_host! { in_three_branches! {} }
warpheap_rt::__on_vulkan! {
    /// Everything is in place there, and three times the code of a vector's growth takes compilers minutes.
    #[inline(always)]
    fn push_some_way<A: DeviceAlloc>(
        heap: Heap<A>,
        vector: &mut HeapVec<u32>,
        lane: u32,
        length: u32,
    ) -> Result<(), AllocError> {
        push_all(heap, vector, lane, length, lane % 3)
    }
}

/// Each lane pushes to a vector of its own, in one of three ways. The vectors begin empty.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = all)]
pub fn push_in_branches<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<u32>,
    most: u32,
    seed: u32,
) -> Result<(), AllocError> {
    let lane = thread::index();
    push_some_way(heap, vector, lane, length(seed, lane, most))
}

/// After [`push_in_branches`]: each lane checks its vector and frees it.
#[kernel(allocators = all)]
pub fn free_in_branches<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<u32>,
    wrong: &[AtomicWord],
    most: u32,
    seed: u32,
) {
    let lane = thread::index();
    if wrong.len() == WRONG {
        if vector.len() != length(seed, lane, most) {
            wrong[LENGTHS].fetch_add(1);
        }
        let mut damaged = 0;
        let mut k = 0;
        while k < vector.len() {
            let written = written(lane, k, lane % 3);
            damaged += (vector.get_or(heap, k, !written) != written) as u32;
            k += 1;
        }
        if damaged != 0 {
            wrong[DAMAGED].fetch_add(damaged);
        }
        vector.free(heap);
    }
}

/// A block that a lane holds between launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Held {
    /// Where it is.
    pub granule: u32,
    /// Its bytes; zero for none.
    pub bytes: u32,
}

/// Each lane allocates a block, or checks and frees the one that it holds, or does neither, as `round` says.
///
/// # Errors
/// As malloc.
#[kernel(allocators = all, unsafe(slices))]
pub fn round_in_branches<A: DeviceAlloc>(
    heap: Heap<A>,
    held: &mut [Held],
    wrong: &[AtomicWord],
    round: u32,
    most: u32,
) -> Result<(), AllocError> {
    let lane = thread::index();
    let mut code = 0;
    if (lane as usize) < held.len() && wrong.len() == WRONG {
        let mine = held[lane as usize];
        let drawn = hash(lane ^ hash(round + 1));
        let mut next = mine;
        if mine.bytes == 0 {
            if drawn % 3 != 0 {
                let bytes = 1 + (drawn >> 8) % most;
                next = take(heap, lane, bytes);
                // No bytes: the error.
                if next.bytes == 0 {
                    code = next.granule;
                }
            }
        } else if drawn % 3 != 1 {
            if give(heap, lane, mine.granule, mine.bytes) != 0 {
                wrong[DAMAGED].fetch_add(1);
            }
            next.bytes = 0;
        }
        held[lane as usize] = next;
    }
    if code == 0 {
        Ok(())
    } else {
        Err(AllocError::from_code(code))
    }
}

/// A block with the lane's contents; without bytes, and an error's code in place of the granule, if there is none.
#[inline(never)]
fn take<A: DeviceAlloc>(heap: Heap<A>, lane: u32, bytes: u32) -> Held {
    match heap.malloc(layout::bytes(bytes as usize)) {
        Ok(ptr) => {
            let granule = ptr.granule();
            fill(heap, ptr, 0, words_of(bytes), lane);
            Held { granule, bytes }
        }
        Err(error) => Held {
            granule: error.code(),
            bytes: 0,
        },
    }
}

/// Frees a block; not zero if it has other contents than the lane's.
#[inline(never)]
fn give<A: DeviceAlloc>(heap: Heap<A>, lane: u32, granule: u32, bytes: u32) -> u32 {
    let ptr = DevicePtr::<u8>::from_granule(granule);
    let words = words_of(bytes);
    let damaged = !intact(heap, ptr, 0, words, words, lane);
    // SAFETY: the lane got the block with this layout, and forgets it.
    unsafe { heap.free(ptr, layout::bytes(bytes as usize)) };
    damaged as u32
}
