//! Lanes that carry out lists of mallocs, frees and reallocs.
//!
//! A program is a list of [`Op`]s for each lane. Blocks are named by [`Slot`]s, which stay in a
//! buffer between launches, so that another lane of another launch can check and free what one lane
//! allocated. Every block is filled when it is handed out and checked before it is given back.
//! Each action leaves an [`Outcome`] with the time at which it began and ended, from which the host
//! can tell which blocks were live together.

use crate::pattern::{fill, intact, words_of};
use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

/// Malloc into an empty slot.
pub const MALLOC: u32 = 0;
/// Calloc into an empty slot, and check that the words are zero.
pub const CALLOC: u32 = 1;
/// Malloc of an array of `size` elements of 64 bytes into an empty slot.
pub const ARRAY: u32 = 2;
/// Check and free what is in a slot.
pub const FREE: u32 = 3;
/// Resize what is in a slot to `size` bytes.
pub const REALLOC: u32 = 4;
/// Check the contents of a slot.
pub const CHECK: u32 = 5;
/// Relocate what is in a slot.
pub const MOVE: u32 = 6;
/// Begin a compaction of what is less than `size` percent in use, by the lane with the index `slot` of `align` lanes.
pub const BEGIN: u32 = 7;
/// End a compaction, by such a lane.
pub const END: u32 = 8;

/// Outcome: done.
pub const OK: u32 = 0;
/// Outcome: the block does not hold what was written to it. Codes below are those of `AllocError`.
pub const DAMAGED: u32 = 16;
/// Outcome: memory from calloc is not zero.
pub const NOT_ZERO: u32 = 17;
/// Outcome: the slot is empty, nothing was done.
pub const EMPTY: u32 = 18;
/// Outcome: the slot is taken, nothing was done.
pub const TAKEN: u32 = 19;

/// Outcome: the kernel is not compiled for actions of this kind.
pub const UNKNOWN: u32 = 20;

/// Bytes of an element of an [`ARRAY`].
pub const ELEMENT_BYTES: u32 = 64;

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Op {
    /// What to do: [`MALLOC`] and so on.
    pub kind: u32,
    /// The slot.
    pub slot: u32,
    /// Bytes (elements for an array).
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// A place for a block.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Slot {
    /// The block; null if there is none.
    pub ptr: DevicePtr<u8>,
    /// Bytes that were asked for.
    pub size: u32,
    /// Alignment that was asked for.
    pub align: u32,
    /// What the block is filled with.
    pub stamp: u32,
}

impl Slot {
    /// No block.
    pub const EMPTY: Slot = Slot {
        ptr: DevicePtr::NULL,
        size: 0,
        align: 0,
        stamp: 0,
    };
}

/// What came of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Outcome {
    /// [`OK`], the code of an `AllocError`, or one of this module's codes.
    pub code: u32,
    /// Granule of the slot's block afterwards; of [`BEGIN`] how many regions were marked.
    pub granule: u32,
    /// When the action began.
    pub begin: u32,
    /// When it had ended.
    pub end: u32,
}

/// Actions that a kernel is compiled for, a set of bits: [`MALLOC`], [`ARRAY`], [`FREE`].
const MALLOCS: u32 = 1;
/// [`CALLOC`].
const CALLOCS: u32 = 2;
/// [`REALLOC`].
const RESIZES: u32 = 4;
/// [`MOVE`], [`BEGIN`], [`END`].
const MOVES: u32 = 8;

/// Carries out a program: lane `i` takes the actions `starts[i]..starts[i + 1]`.
///
/// No two lanes use the same slot in one launch.
#[kernel(allocators = all, unsafe(slices))]
pub fn run_programs<A: DeviceAlloc>(
    heap: Heap<A>,
    ops: &[Op],
    starts: &[u32],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    let lane = thread::index() as usize;
    if lane + 1 < starts.len() {
        for i in starts[lane]..starts[lane + 1] {
            act::<A, { MALLOCS | CALLOCS | RESIZES | MOVES }>(
                heap, i as usize, ops, slots, outcomes, clock,
            );
        }
    }
}

/// [`run_programs`] for one action of each lane that has any, [`MALLOC`], [`ARRAY`], [`FREE`] or
/// [`CHECK`].
///
/// SwiftShader takes time exponential in the branches of a loop's body: for it a program is a launch
/// of one of these small kernels for each action, with no loop around an allocator's code.
#[kernel(allocators = all, unsafe(slices))]
pub fn step_mallocs<A: DeviceAlloc>(
    heap: Heap<A>,
    ops: &[Op],
    starts: &[u32],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    step::<A, MALLOCS>(heap, ops, starts, slots, outcomes, clock);
}

/// [`step_mallocs`] for actions [`CALLOC`] and [`CHECK`].
#[kernel(allocators = all, unsafe(slices))]
pub fn step_callocs<A: DeviceAlloc>(
    heap: Heap<A>,
    ops: &[Op],
    starts: &[u32],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    step::<A, CALLOCS>(heap, ops, starts, slots, outcomes, clock);
}

/// [`step_mallocs`] for actions [`REALLOC`] and [`CHECK`].
#[kernel(allocators = all, unsafe(slices))]
pub fn step_resizes<A: DeviceAlloc>(
    heap: Heap<A>,
    ops: &[Op],
    starts: &[u32],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    step::<A, RESIZES>(heap, ops, starts, slots, outcomes, clock);
}

/// [`step_mallocs`] for actions [`MOVE`], [`BEGIN`], [`END`] and [`CHECK`].
#[kernel(allocators = all, unsafe(slices))]
pub fn step_moves<A: DeviceAlloc>(
    heap: Heap<A>,
    ops: &[Op],
    starts: &[u32],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    step::<A, MOVES>(heap, ops, starts, slots, outcomes, clock);
}

/// [`step_mallocs`] on a counting heap.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn step_counted<A: DeviceAlloc>(
    heap: Heap<A>,
    ops: &[Op],
    starts: &[u32],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    step::<A, MALLOCS>(heap, ops, starts, slots, outcomes, clock);
}

/// Carries out the calling lane's first action, of one of these kinds.
#[inline(always)]
fn step<A: DeviceAlloc, const KINDS: u32>(
    heap: Heap<A>,
    ops: &[Op],
    starts: &[u32],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    let lane = thread::index() as usize;
    if lane + 1 < starts.len() && starts[lane] < starts[lane + 1] {
        act::<A, KINDS>(heap, starts[lane] as usize, ops, slots, outcomes, clock);
    }
}

/// Carries out action `i`, of one of these kinds.
#[inline(always)]
fn act<A: DeviceAlloc, const KINDS: u32>(
    heap: Heap<A>,
    i: usize,
    ops: &[Op],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    let op = ops[i];
    let mut before = Slot::EMPTY;
    if op.kind < BEGIN {
        before = slots[op.slot as usize];
    }
    let begin = clock[0].fetch_add(1);
    let mut after = before;
    let mut code = if before.ptr.is_null() { EMPTY } else { TAKEN };
    let mut marked = None;
    if KINDS & MOVES != 0 && op.kind >= BEGIN {
        code = OK;
        if op.kind == BEGIN {
            marked = Some(heap.begin_compaction(op.size, op.slot, op.align));
        } else {
            heap.end_compaction(op.slot, op.align);
        }
    } else if op.kind <= ARRAY {
        if code == EMPTY {
            after.size = op.size;
            after.align = op.align;
            // The clock never stands still: no other block has this stamp.
            after.stamp = begin;
            if op.kind == ARRAY {
                after.size = op.size.wrapping_mul(ELEMENT_BYTES);
                after.align = 16;
            }
            code = obtain::<A, KINDS>(heap, op, &mut after.ptr);
            if code == OK {
                fill(heap, after.ptr, 0, words_of(after.size), after.stamp);
            }
        }
    } else if code == TAKEN {
        code = if op.kind == CHECK { OK } else { UNKNOWN };
        if !whole(heap, before) {
            code = DAMAGED;
        } else if KINDS & MALLOCS != 0 && op.kind == FREE {
            // SAFETY: the slot holds a live block with this layout, and no other lane uses the
            // slot.
            unsafe { heap.free(before.ptr, layout_of(before)) };
            after.ptr = DevicePtr::NULL;
            code = OK;
        } else if KINDS & RESIZES != 0 && op.kind == REALLOC {
            code = resize(heap, before, op.size, &mut after.ptr);
            if code == OK {
                after.size = op.size;
                after.stamp = begin;
                fill(heap, after.ptr, 0, words_of(after.size), after.stamp);
            }
        } else if KINDS & MOVES != 0 && op.kind == MOVE {
            // SAFETY: as for a free; the slot gets the new handle.
            after.ptr = unsafe { heap.relocate(before.ptr, layout_of(before)) };
            code = if whole(heap, after) { OK } else { DAMAGED };
        }
    }
    if op.kind < BEGIN {
        slots[op.slot as usize] = after;
    }
    outcomes[i] = Outcome {
        code,
        granule: marked.unwrap_or(after.ptr.granule()),
        begin,
        end: clock[0].fetch_add(1),
    };
}

/// The layout of a slot's block.
#[inline(always)]
fn layout_of(slot: Slot) -> Layout {
    layout::aligned(slot.size as usize, slot.align as usize)
}

/// Whether a slot's block holds what was written to it.
#[inline(always)]
fn whole<A: DeviceAlloc>(heap: Heap<A>, slot: Slot) -> bool {
    let words = words_of(slot.size);
    intact(heap, slot.ptr, 0, words, words, slot.stamp)
}

/// Allocates for an action of these kinds; the code of what came of it.
#[inline(always)]
fn obtain<A: DeviceAlloc, const KINDS: u32>(heap: Heap<A>, op: Op, ptr: &mut DevicePtr<u8>) -> u32 {
    let mut code = UNKNOWN;
    let mut layout = layout::aligned(op.size as usize, op.align as usize);
    if KINDS & CALLOCS != 0 && op.kind == CALLOC {
        code = match heap.calloc(layout) {
            Ok(block) => {
                *ptr = block;
                zero(heap, block, words_of(op.size))
            }
            Err(error) => error.code(),
        };
    }
    if KINDS & MALLOCS != 0 && op.kind != CALLOC {
        if op.kind == ARRAY {
            layout = layout::array::<[u32; 16]>(op.size);
        }
        code = match heap.malloc(layout) {
            Ok(block) => {
                *ptr = block;
                OK
            }
            Err(error) => error.code(),
        };
    }
    code
}

/// Whether the words of a block are zero: [`OK`] or [`NOT_ZERO`].
#[inline(always)]
fn zero<A: DeviceAlloc>(heap: Heap<A>, ptr: DevicePtr<u8>, words: u32) -> u32 {
    let mut union = 0;
    let mut i = 0;
    while i < words {
        // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
        union |= unsafe { heap.words() }.read(heap.word_of(ptr) + i as usize);
        i += 1;
    }
    if union == 0 { OK } else { NOT_ZERO }
}

/// Resizes a slot's block, and checks that what was kept, or all of it after an error, is intact.
#[inline(always)]
fn resize<A: DeviceAlloc>(heap: Heap<A>, slot: Slot, size: u32, ptr: &mut DevicePtr<u8>) -> u32 {
    let words = words_of(slot.size);
    // SAFETY: the slot holds a live block with this layout, and no other lane uses the slot.
    match unsafe { heap.realloc(slot.ptr, layout_of(slot), size as usize) } {
        Ok(block) => {
            *ptr = block;
            let mut kept = words_of(size);
            if kept > words {
                kept = words;
            }
            if intact(heap, block, 0, kept, words, slot.stamp) {
                OK
            } else {
                DAMAGED
            }
        }
        Err(error) => {
            if whole(heap, slot) {
                error.code()
            } else {
                DAMAGED
            }
        }
    }
}
