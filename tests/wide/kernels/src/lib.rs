//! Kernels that use all of what a heap of larger granules gives: every word of each block, and containers.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

warpheap_rt::device_module!(allocators = [WarpHeap, WarpHeap32, WarpHeap64]);

/// A block that a lane has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Held {
    /// Where it is.
    pub ptr: DevicePtr<u8>,
    /// Its size in bytes; 0 for no block.
    pub bytes: u32,
    /// What its words have in common.
    pub stamp: u32,
}

impl Held {
    /// No block.
    pub const NONE: Held = Held {
        ptr: DevicePtr::NULL,
        bytes: 0,
        stamp: 0,
    };

    #[inline(always)]
    fn words(self) -> u32 {
        self.bytes / 4
    }

    #[inline(always)]
    fn layout(self) -> Layout {
        layout::bytes(self.bytes as usize)
    }
}

/// What word `index` of a block holds.
#[inline(always)]
fn word(held: Held, index: u32) -> u32 {
    held.stamp.wrapping_mul(0x9e37_79b9) ^ index
}

/// Every `step`-th word of a block, and the last one.
#[inline(always)]
fn write<A: DeviceAlloc>(heap: Heap<A>, held: Held, step: u32) {
    // SAFETY: the block is the lane's.
    let (words, first) = (unsafe { heap.words() }, heap.word_of(held.ptr));
    let last = held.words() - 1;
    let mut i = 0;
    while i < last {
        words.write(first + i as usize, word(held, i));
        i += step;
    }
    words.write(first + last as usize, word(held, last));
}

/// How many of every `step`-th word among the first `count` are not what was written.
#[inline(always)]
fn wrong<A: DeviceAlloc>(heap: Heap<A>, held: Held, count: u32, step: u32) -> u32 {
    // SAFETY: the block is the lane's.
    let (words, first) = (unsafe { heap.words() }, heap.word_of(held.ptr));
    let mut found = 0;
    let mut i = 0;
    while i < count {
        found += (words.read(first + i as usize) != word(held, i)) as u32;
        i += step;
    }
    found
}

/// Each lane without a block allocates one of the size that it says, and writes every `step`-th word of it.
///
/// # Errors
/// As `malloc`; the lane's size is 0 then.
#[kernel(allocators = listed)]
pub fn take<A: DeviceAlloc>(heap: Heap<A>, step: u32, held: &mut Held) -> Result<(), AllocError> {
    if held.ptr.is_null() & (held.bytes != 0) {
        match heap.malloc(held.layout()) {
            Ok(ptr) => held.ptr = ptr,
            Err(error) => {
                held.bytes = 0;
                return Err(error);
            }
        }
        write(heap, *held, step);
    }
    Ok(())
}

/// Counts the words of the lanes' blocks that are not what was written.
#[kernel(allocators = listed)]
pub fn check<A: DeviceAlloc>(heap: Heap<A>, step: u32, held: &[Held], found: &mut u32) {
    let held = held[thread::index() as usize];
    if !held.ptr.is_null() {
        *found += wrong(heap, held, held.words(), step);
        *found += wrong(heap, held, 1, 1);
    }
}

/// Each lane gives its block another size, counts the words that were lost, and writes all anew.
///
/// # Errors
/// As `realloc`; the lane's block is as it was then.
#[kernel(allocators = listed)]
pub fn resize<A: DeviceAlloc>(
    heap: Heap<A>,
    bytes: &[u32],
    held: &mut Held,
    found: &mut u32,
) -> Result<(), AllocError> {
    let bytes = bytes[thread::index() as usize];
    if !held.ptr.is_null() {
        let old = held.words();
        // SAFETY: the block is the lane's, and only the new handle is used afterwards.
        held.ptr = unsafe { heap.realloc(held.ptr, held.layout(), bytes as usize) }?;
        held.bytes = bytes;
        let kept = if old < held.words() {
            old
        } else {
            held.words()
        };
        *found += wrong(heap, *held, kept, 1);
        write(heap, *held, 1);
    }
    Ok(())
}

/// Each lane frees its block.
#[kernel(allocators = listed)]
pub fn give<A: DeviceAlloc>(heap: Heap<A>, held: &mut Held) {
    if !held.ptr.is_null() {
        // SAFETY: the block is the lane's, and of this size.
        unsafe { heap.free(held.ptr, held.layout()) };
        *held = Held::NONE;
    }
}

/// Each lane allocates a block of zeros and counts the words that are something else.
///
/// # Errors
/// As `calloc`.
#[kernel(allocators = listed)]
pub fn zeros<A: DeviceAlloc>(
    heap: Heap<A>,
    bytes: &[u32],
    found: &mut u32,
) -> Result<(), AllocError> {
    let bytes = bytes[thread::index() as usize];
    let layout = layout::bytes(bytes as usize);
    let ptr = heap.calloc(layout)?;
    // SAFETY: the block is the lane's.
    let (words, first) = (unsafe { heap.words() }, heap.word_of(ptr));
    for i in 0..bytes / 4 {
        *found += (words.read(first + i as usize) != 0) as u32;
    }
    // SAFETY: the block is the lane's, and of this size.
    unsafe { heap.free(ptr, layout) };
    Ok(())
}

/// A vector, a map and a list for each lane: what goes in comes out. Counts what does not.
///
/// # Errors
/// As `malloc`; what the lane has then stays in the heap.
#[kernel(allocators = listed)]
pub fn containers<A: DeviceAlloc>(
    heap: Heap<A>,
    number: u32,
    found: &mut u32,
) -> Result<(), AllocError> {
    let lane = thread::index();
    let mut vector = HeapVec::<u32>::new();
    let mut list = HeapList::<u32>::new();
    let mut map = HeapHashMap::<u32, u32>::none();
    map.init(heap, 2)?;
    for i in 0..number {
        vector.push(heap, lane ^ i)?;
        list.push(heap, i)?;
        map.insert(heap, i * 7, lane + i)?;
    }
    let mut sum = 0;
    for i in 0..number {
        *found += (vector.get_or(heap, i, u32::MAX) != lane ^ i) as u32;
        *found += (map.get_or(heap, i * 7, u32::MAX) != lane + i) as u32;
        sum += i;
    }
    let mut cursor = list.cursor(heap);
    let mut listed = 0;
    while !cursor.is_done() {
        listed += cursor.next_or(heap, 0);
    }
    *found += (listed != sum) as u32;
    vector.free(heap);
    list.free(heap);
    // SAFETY: the map is the lane's.
    unsafe { map.free_all(heap) };
    Ok(())
}
