//! Kernels that use a heap rightly and wrongly. Each lane takes one step; where lanes have to come one after the other, there are
//! several launches.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

warpheap_rt::device_module!(allocators = [Checked<WarpHeap>, Checked<ScatterAlloc>]);

pub mod asks;
pub mod churn;
pub mod cost;

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Step {
    /// The slot in which the handle stands; [`NONE`] for a lane that does nothing.
    pub slot: u32,
    /// Bytes of the layout; of a write the word, from the first one of the block.
    pub size: u32,
    /// Its alignment; of a write the value; of a realloc, where the alignment is 16, the new size.
    pub other: u32,
}

/// No slot.
pub const NONE: u32 = u32::MAX;

impl Step {
    /// Of a lane that does nothing.
    pub const IDLE: Step = Step {
        slot: NONE,
        size: 0,
        other: 0,
    };

    #[inline(always)]
    fn layout(self) -> Layout {
        layout::aligned(self.size as usize, self.other as usize)
    }
}

/// The lane's step.
#[inline(always)]
fn mine(steps: &[Step]) -> Step {
    let lane = thread::index() as usize;
    match lane < steps.len() {
        true => steps[lane],
        false => Step::IDLE,
    }
}

#[inline(always)]
fn handle(slots: &[AtomicWord], step: Step) -> DevicePtr<u8> {
    DevicePtr::from_granule(slots[step.slot as usize].load())
}

/// The line of the malloc in [`mallocs`].
pub const MALLOC_LINE: u32 = line!() + 15;

/// Lanes allocate. The calls pass the emulator by, which has checks of its own.
///
/// # Errors
/// As `malloc`.
#[kernel(allocators = listed)]
pub fn mallocs<A: DeviceAlloc>(
    heap: Heap<A>,
    steps: &[Step],
    slots: &[AtomicWord],
) -> Result<(), AllocError> {
    let step = mine(steps);
    if step.slot != NONE {
        // SAFETY: the heap finds out what is wrong with its use.
        let ptr = unsafe { heap.allocator() }.malloc(step.layout())?;
        slots[step.slot as usize].store(ptr.granule());
    }
    Ok(())
}

/// The line of the free in [`frees`].
pub const FREE_LINE: u32 = line!() + 11;

/// Lanes free, whatever stands in the slots.
///
/// # Safety
/// There is none: the heap finds out.
#[kernel(allocators = listed)]
pub unsafe fn frees<A: DeviceAlloc>(heap: Heap<A>, steps: &[Step], slots: &[AtomicWord]) {
    let step = mine(steps);
    if step.slot != NONE {
        // SAFETY: as in `mallocs`.
        unsafe { heap.allocator().free(handle(slots, step), step.layout()) };
    }
}

/// Lanes resize.
///
/// # Safety
/// There is none.
///
/// # Errors
/// As `realloc`.
#[kernel(allocators = listed)]
pub unsafe fn reallocs<A: DeviceAlloc>(
    heap: Heap<A>,
    steps: &[Step],
    slots: &[AtomicWord],
) -> Result<(), AllocError> {
    let step = mine(steps);
    if step.slot != NONE {
        let ptr = handle(slots, step);
        let old = layout::bytes(step.size as usize);
        // SAFETY: the heap finds out.
        let moved = unsafe { heap.allocator().realloc(ptr, old, step.other as usize) }?;
        slots[step.slot as usize].store(moved.granule());
    }
    Ok(())
}

/// Lanes write one word each, inside their blocks or not.
///
/// # Safety
/// The words lie in the heap.
#[kernel(allocators = listed)]
pub unsafe fn writes<A: DeviceAlloc>(heap: Heap<A>, steps: &[Step], slots: &[AtomicWord]) {
    let step = mine(steps);
    if step.slot != NONE {
        let word = heap
            .word_of(handle(slots, step))
            .wrapping_add(step.size as i32 as usize);
        // SAFETY: the caller's promise.
        unsafe { heap.words() }.store(word, step.other);
    }
}

/// The calls that lanes make together: one block for a warp, one for a workgroup, one of zeros for each; all are freed.
///
/// # Errors
/// As `malloc`.
#[kernel(allocators = listed)]
pub fn together<A: DeviceAlloc>(heap: Heap<A>, wrong: &mut u32) -> Result<(), AllocError> {
    let layout = layout::bytes(40);
    // SAFETY: all lanes are here, and the blocks are freed once.
    unsafe {
        let own = heap.calloc(layout)?;
        let mut word = 0;
        while word < 10 {
            *wrong += heap.words().read(heap.word_of(own) + word);
            heap.words().write(heap.word_of(own) + word, u32::MAX);
            word += 1;
        }
        let shared = heap.malloc_shared(layout)?;
        heap.words().store(heap.word_of(shared) + 9, 0);
        heap.free_warp(own, layout);
        let block = heap.malloc_block(layout)?;
        heap.words().store(heap.word_of(block) + 9, 7);
        thread::block_barrier();
        // One lane for all that share it.
        let first = heap.words().fetch_add(heap.word_of(shared) + 9, 1) == 0;
        thread::block_barrier();
        if first {
            heap.free(shared, layout);
        }
        heap.free_block(block, layout);
    }
    Ok(())
}

/// Every block is freed, from a kernel.
#[kernel(allocators = [Checked<WarpHeap>, Limited<WarpHeap>, Traced<WarpHeap>])]
pub fn frees_all<A: Reset>(heap: Heap<A>) {
    // SAFETY: each lane once, and the launch does nothing else.
    unsafe { heap.reset(thread::index(), thread::count()) };
}
