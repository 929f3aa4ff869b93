//! Vectors that lanes own, one for each lane or one for lanes together.

use warpheap_rt::device::*;
use warpheap_rt::sync::Group;

/// Lane `i` appends `100 * i + k` to vector `i` for each `k` below `i`.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn fill_vectors<A: DeviceAlloc>(
    heap: Heap<A>,
    vectors: &mut [HeapVec<u32>],
) -> Result<(), AllocError> {
    let lane = thread::index();
    if (lane as usize) < vectors.len() {
        // SAFETY: the lane has it alone, and puts it back below.
        let mut vector = unsafe { core::ptr::read(&vectors[lane as usize]) };
        let mut result = Ok(());
        for k in 0..lane {
            let pushed = vector.push(heap, lane * 100 + k);
            if pushed.is_err() {
                result = pushed;
            }
        }
        vectors[lane as usize] = vector;
        return result;
    }
    Ok(())
}

/// An element: its key, and what tells it from others with the same key.
pub type Element = [u32; 2];

/// What is answered where there is no element.
pub const NOTHING: Element = [0xdead_beef, 1];

/// What an action on a lane's vector does, with its two numbers `a` and `b`.
pub mod action {
    /// Append `[a, b]`.
    pub const PUSH: u32 = 0;
    /// Put `[b, a]` in front of element `a`.
    pub const INSERT: u32 = 1;
    /// Take element `a` out.
    pub const REMOVE: u32 = 2;
    /// The same, and put the last one in its place.
    pub const SWAP_REMOVE: u32 = 3;
    /// Append `a % 64` elements of the slice, from `b % 8` on; all of them for 63.
    pub const EXTEND_FROM_SLICE: u32 = 4;
    /// Append the elements of the lane's other vector.
    pub const EXTEND_FROM_VEC: u32 = 5;
    /// The same, which the other one loses.
    pub const APPEND: u32 = 6;
    /// Take the elements from `a` to `b` out; the answer is the sum of their keys, weighed by their order.
    pub const DRAIN: u32 = 7;
    /// Keep the elements whose keys are no multiple of `a % 8 + 1`.
    pub const RETAIN: u32 = 8;
    /// Keep `a` elements.
    pub const TRUNCATE: u32 = 9;
    /// Make the block as small as can be.
    pub const SHRINK_TO_FIT: u32 = 10;
    /// Sort by key, and by what is beside it.
    pub const SORT: u32 = 11;
    /// Make room for `a % 100` elements.
    pub const RESERVE: u32 = 12;
    /// Exchange the elements `a` and `b`.
    pub const SWAP: u32 = 13;
    /// The sum of all keys, weighed by their order, through a cursor.
    pub const SUM: u32 = 14;
    /// Exchange the lane's vectors.
    pub const EXCHANGE: u32 = 15;
    /// Take the last element out.
    pub const POP: u32 = 16;
    /// Remove all.
    pub const CLEAR: u32 = 17;
    /// How many there are.
    pub const COUNT: u32 = 18;
}

/// An action and its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct VecAction {
    /// One of [`action`].
    pub kind: u32,
    /// A number.
    pub a: u32,
    /// Another one.
    pub b: u32,
}

/// What came of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct VecAnswer {
    /// 0, or the code of the error.
    pub code: u32,
    /// The answer, if there is one.
    pub found: Element,
    /// Elements of the vector afterwards.
    pub len: u32,
    /// Elements that there is room for.
    pub capacity: u32,
}

/// Lane `i` does the `each` actions from `i * each` on with vector `i` and its other one, and leaves the answers.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn act_on_vectors<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<Element>,
    other: &mut HeapVec<Element>,
    each: u32,
    actions: &[VecAction],
    slice: &[Element],
    answers: &mut [VecAnswer],
) {
    let first = thread::index() * each;
    for i in first..first + each {
        let action = actions[i as usize];
        let mut found = NOTHING;
        let result = act(heap, vector, other, action, slice, &mut found);
        answers[i as usize] = VecAnswer {
            code: match result {
                Ok(()) => 0,
                Err(error) => error.code(),
            },
            found,
            len: vector.len(),
            capacity: vector.capacity(),
        };
    }
}

/// Not inlined into a loop: each action is there once.
#[inline]
fn act<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<Element>,
    other: &mut HeapVec<Element>,
    VecAction { kind, a, b }: VecAction,
    slice: &[Element],
    found: &mut Element,
) -> Result<(), AllocError> {
    let mut result = Ok(());
    if kind == action::PUSH {
        result = vector.push(heap, [a, b]);
    } else if kind == action::INSERT {
        result = vector.insert(heap, a, [b, a]);
    } else if kind == action::REMOVE {
        *found = vector.remove_or(heap, a, NOTHING);
    } else if kind == action::SWAP_REMOVE {
        *found = vector.swap_remove_or(heap, a, NOTHING);
    } else if kind == action::EXTEND_FROM_SLICE {
        if a % 64 == 63 {
            result = vector.extend_from_slice(heap, slice);
        } else {
            result = vector.extend_from_part(heap, slice, b % 8, b % 8 + a % 64);
        }
    } else if kind == action::EXTEND_FROM_VEC {
        result = vector.extend_from_vec(heap, other);
    } else if kind == action::APPEND {
        result = vector.append(heap, other);
    } else if kind == action::DRAIN {
        let mut sum = 0u32;
        let removed = vector.drain(heap, a, b, |[key, _]| sum = weighed(sum, key));
        *found = [sum, removed];
    } else if kind == action::RETAIN {
        let divisor = a % 8 + 1;
        vector.retain(heap, move |[key, _]| key % divisor != 0);
    } else if kind == action::TRUNCATE {
        vector.truncate(a);
    } else if kind == action::SHRINK_TO_FIT {
        result = vector.shrink_to_fit(heap);
    } else if kind == action::SORT {
        vector.sort_unstable_by(heap, is_before);
    } else if kind == action::RESERVE {
        result = vector.reserve(heap, a % 100);
    } else if kind == action::SWAP {
        *found = [vector.swap(heap, a, b) as u32, 0];
    } else if kind == action::SUM {
        let (mut sum, mut cursor) = (0u32, vector.iter());
        while !cursor.is_done() {
            let [key, _] = cursor.next_or(heap, NOTHING);
            sum = weighed(sum, key);
        }
        *found = [sum, 0];
    } else if kind == action::EXCHANGE {
        core::mem::swap(vector, other);
    } else if kind == action::POP {
        *found = vector.pop_or(heap, NOTHING);
    } else if kind == action::CLEAR {
        vector.clear();
    }
    result
}

/// The sum of keys so far, each weighed by how many come behind it.
#[inline(always)]
pub fn weighed(sum: u32, key: u32) -> u32 {
    sum.wrapping_mul(3).wrapping_add(key)
}

/// Whether one element comes before another one: by the key, then by what is beside it.
#[inline(always)]
pub fn is_before(a: &Element, b: &Element) -> bool {
    (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
}

/// Lane `i` appends `values[starts[i]..starts[i + 1]]` to its vectors, as they are and in pairs with their order.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn load_vectors<A: DeviceAlloc>(
    heap: Heap<A>,
    numbers: &mut HeapVec<u32>,
    signed: &mut HeapVec<i32>,
    elements: &mut HeapVec<Element>,
    values: &[u32],
    starts: &[u32],
) -> Result<(), AllocError> {
    let lane = thread::index() as usize;
    for i in starts[lane]..starts[lane + 1] {
        let value = values[i as usize];
        numbers.push(heap, value)?;
        signed.push(heap, value as i32)?;
        elements.push(heap, [value, i])?;
    }
    Ok(())
}

/// Each lane sorts its own vector of numbers, and one of numbers with a sign by how large they are.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn sort_vectors<A: DeviceAlloc>(
    heap: Heap<A>,
    numbers: &mut HeapVec<u32>,
    signed: &mut HeapVec<i32>,
) {
    numbers.sort_unstable(heap);
    signed.sort_unstable_by_key(heap, |value| value.unsigned_abs());
}

/// Groups of lanes build vectors together: `vectors.len()` of them, each group one after the other. Vector `v` gets
/// `rounds[v]` elements of each lane: `[v, round << 8 | rank]`, and is sorted, the last one first. In `counts` is how
/// many lanes made it, and the code of the error.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn push_in_groups<A: DeviceAlloc>(
    heap: Heap<A>,
    vectors: Scatter<HeapVec<Element>>,
    counts: Scatter<Element>,
    rounds: &[u32],
    next: &[AtomicWord],
) {
    let group = Group::here();
    let mut going = true;
    while going {
        let (v, _) = group.once(|| (next[0].fetch_add(1), 0));
        going = (v as usize) < rounds.len();
        if going {
            let mut vector = HeapVec::new();
            let (mut round, mut code) = (0, 0);
            while (round < rounds[v as usize]) & (code == 0) {
                let element = [v, round << 8 | group.rank()];
                // SAFETY: all lanes of the group have this vector, and nobody else.
                match unsafe { vector.push_together(heap, group, element) } {
                    Ok(()) => round += 1,
                    Err(error) => code = error.code(),
                }
            }
            // SAFETY: the same.
            unsafe { vector.sort_unstable_by_key_together(heap, group, |element| !element[1]) };
            if group.leads() {
                // SAFETY: this lane alone got the number, and the others use the vector no more.
                unsafe {
                    vectors.write(v, vector);
                    counts.write(v, [group.count(), code]);
                }
            }
            group.barrier();
        }
    }
}

/// Groups of lanes sort vectors together, one after the other, the least element first.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn sort_in_groups<A: DeviceAlloc>(
    heap: Heap<A>,
    vectors: &[HeapVec<Element>],
    next: &[AtomicWord],
) {
    let group = Group::here();
    let mut going = true;
    while going {
        let (v, _) = group.once(|| (next[0].fetch_add(1), 0));
        going = (v as usize) < vectors.len();
        if going {
            // SAFETY: this group alone got the number, and all of its lanes are here.
            unsafe { vectors[v as usize].sort_unstable_by_together(heap, group, is_before) };
        }
    }
}

/// Block `b` sorts vector `b`, the greatest element first.
#[kernel(allocators = [RandomWalkMalloc])]
pub fn sort_in_blocks<A: DeviceAlloc>(heap: Heap<A>, vectors: &[HeapVec<u32>]) {
    let block = thread::block_index() as usize;
    if block < vectors.len() {
        // SAFETY: the block alone has this vector, and all of its lanes are here.
        unsafe { vectors[block].sort_unstable_by_key_together(heap, WholeBlock, |key| !*key) };
    }
}

/// What the lane with this index in its block appends in a round.
#[inline(always)]
pub fn scattered(round: u32, index: u32) -> u32 {
    (round << 16 | index).wrapping_mul(0x9e37_79b1)
}

/// Block `b` builds vector `b` of `rounds` elements of each lane, which are [`scattered`], and sorts it.
/// With `free` it gives it back.
///
/// # Errors
/// As `HeapVec::push_together`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn push_in_blocks<A: DeviceAlloc>(
    heap: Heap<A>,
    vectors: Scatter<HeapVec<u32>>,
    rounds: u32,
    free: bool,
) -> Result<(), AllocError> {
    let mut vector = HeapVec::new();
    let mut result = Ok(());
    let mut round = 0;
    while (round < rounds) & result.is_ok() {
        let value = scattered(round, thread::index_in_block());
        // SAFETY: all lanes of the block have this vector, and nobody else.
        result = unsafe { vector.push_together(heap, WholeBlock, value) };
        round += 1;
    }
    if free {
        // SAFETY: the same.
        unsafe { vector.free_together(heap, WholeBlock) };
    } else {
        // SAFETY: the same.
        unsafe { vector.sort_unstable_together(heap, WholeBlock) };
    }
    if thread::index_in_block() == 0 {
        // SAFETY: this lane alone writes it, and the others use the vector no more.
        unsafe { vectors.write(thread::block_index(), vector) };
    }
    result
}
