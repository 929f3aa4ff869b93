//! The memory of a heap, as the words that every target can address.

use crate::DevicePtr;
use core::alloc::Layout;

/// The words of a heap, as an allocator and a container see them.
///
/// A word is 32 bits; indices count words from the start of the heap. Atomic operations are
/// *relaxed*, at device scope; order comes from the two fences, because on GPUs a fence and a relaxed
/// operation cost less than an ordered operation (and on PTX the latter would be ordered with the whole
/// system). [`release_sub`](Self::release_sub) alone is ordered itself.
///
/// Indices must lie inside the heap. The emulator reports an access outside it with kernel, block,
/// warp and lane; on a device such an access is undefined. So who has a value of such a type has promised to keep to
/// that: kernels get one by an `unsafe` call alone, `Heap::words`.
///
/// # Safety
/// What is written is what is read afterwards, and every operation is what its documentation says. There are
/// no values of the type that safe code can make.
pub unsafe trait HeapMemory: Copy + 'static {
    /// Number of words of the heap.
    fn len(self) -> usize;

    /// Whether the heap has no words.
    #[inline(always)]
    fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// A granule of the heap has 16 bytes, times two to this power: the unit that handles count. See
    /// [`DeviceAlloc::GRANULE_SHIFT`](crate::DeviceAlloc::GRANULE_SHIFT).
    #[inline(always)]
    fn granule_shift(self) -> u32 {
        0
    }

    /// Index of the first word behind a handle. The null handle has none: what this gives for it lies outside the heap.
    #[inline(always)]
    fn word_of<T>(self, ptr: DevicePtr<T>) -> usize {
        ptr.granule() as usize * (DevicePtr::GRANULE_WORDS << self.granule_shift())
    }

    /// Plain read: for data that no other lane writes at the same time.
    fn read(self, word: usize) -> u32;
    /// Plain write: for data that no other lane reads or writes at the same time.
    fn write(self, word: usize, value: u32);
    /// Four plain writes, to the words from `word` on; `word` is a multiple of four. One request, where a device has that.
    #[inline(always)]
    fn write4(self, word: usize, values: [u32; 4]) {
        self.write(word, values[0]);
        self.write(word + 1, values[1]);
        self.write(word + 2, values[2]);
        self.write(word + 3, values[3]);
    }

    /// Atomic load.
    fn load(self, word: usize) -> u32;
    /// Four atomic loads, of the words from `word` on, in any order; `word` is a multiple of four. One request, where a
    /// device has that.
    #[inline(always)]
    fn load4(self, word: usize) -> [u32; 4] {
        [
            self.load(word),
            self.load(word + 1),
            self.load(word + 2),
            self.load(word + 3),
        ]
    }
    /// [`load`](Self::load), and an [`acquire`](Self::acquire) for this word: what the lane that wrote it did before its
    /// [`release`](Self::release) is known. Costs less than the two where a device has loads that are ordered.
    #[inline(always)]
    fn load_acquire(self, word: usize) -> u32 {
        let value = self.load(word);
        self.acquire();
        value
    }
    /// [`load4`](Self::load4), and an [`acquire`](Self::acquire) for each of the four words.
    #[inline(always)]
    fn load4_acquire(self, word: usize) -> [u32; 4] {
        let values = self.load4(word);
        self.acquire();
        values
    }
    /// Load of a word that lanes may be changing, for hints: the value may be an old one, from a
    /// cache that is nearer than the one that atomics meet in.
    #[inline(always)]
    fn glance(self, word: usize) -> u32 {
        self.load(word)
    }
    /// Atomic store.
    fn store(self, word: usize, value: u32);
    /// Four atomic stores, to the words from `word` on, in any order; `word` is a multiple of four. One request, where a
    /// device has that.
    #[inline(always)]
    fn store4(self, word: usize, values: [u32; 4]) {
        self.store(word, values[0]);
        self.store(word + 1, values[1]);
        self.store(word + 2, values[2]);
        self.store(word + 3, values[3]);
    }
    /// Atomic addition (wrapping); returns the old value.
    fn fetch_add(self, word: usize, value: u32) -> u32;
    /// Atomic subtraction (wrapping); returns the old value.
    fn fetch_sub(self, word: usize, value: u32) -> u32;
    /// [`fetch_sub`](Self::fetch_sub) behind a [`release`](Self::release) that covers the subtraction itself, too: for
    /// a count of owners that lies in what its last owner frees.
    fn release_sub(self, word: usize, value: u32) -> u32;
    /// Atomic bitwise and; returns the old value.
    fn fetch_and(self, word: usize, value: u32) -> u32;
    /// Atomic bitwise or; returns the old value.
    fn fetch_or(self, word: usize, value: u32) -> u32;
    /// Atomic maximum of unsigned values; returns the old value.
    fn fetch_max(self, word: usize, value: u32) -> u32;
    /// Atomic exchange; returns the old value.
    fn exchange(self, word: usize, value: u32) -> u32;
    /// Atomic compare-and-swap; returns the old value, which equals `current` on success.
    fn compare_exchange(self, word: usize, current: u32, new: u32) -> u32;

    /// Release fence at device scope: what this lane wrote before is visible to whoever reads an
    /// atomic that this lane writes after, and then calls [`acquire`](Self::acquire).
    fn release(self);
    /// Acquire fence at device scope, the other half of [`release`](Self::release).
    fn acquire(self);

    /// Warp-collective: one of the lanes that reached this call together makes the `call`, and each of them gets
    /// its answer.
    fn once_for_group(self, call: impl FnOnce() -> (u32, u32)) -> (u32, u32);

    /// Index of the calling lane inside its block (workgroup).
    fn index_in_block(self) -> u32;
    /// Block-collective: waits until all lanes of the block are here, and orders their memory
    /// accesses among themselves. *Every* lane of the block must reach the call.
    fn block_barrier(self);
    /// Block-collective: the `value` of the lane whose index in the block is `source`, the same
    /// for all lanes; what that lane did before is visible to all of them afterwards. As with
    /// [`block_barrier`](Self::block_barrier), every lane of the block must reach the call.
    fn block_broadcast(self, value: u32, source: u32) -> u32;

    /// Tells an emulator that a block was handed out; nothing elsewhere.
    #[inline(always)]
    fn note_malloc(self, _ptr: DevicePtr<u8>, _layout: Layout) {}
    /// Tells an emulator that a block of zeros was handed out; nothing elsewhere.
    #[inline(always)]
    fn note_calloc(self, _ptr: DevicePtr<u8>, _layout: Layout) {}
    /// Tells an emulator that a block is about to be freed; nothing elsewhere.
    #[inline(always)]
    fn note_free(self, _ptr: DevicePtr<u8>, _layout: Layout) {}
    /// Tells an emulator that a block is about to be moved or resized, which ends with [`note_moved`](Self::note_moved) by the
    /// same lane; nothing elsewhere.
    #[inline(always)]
    fn note_moving(self, _ptr: DevicePtr<u8>, _layout: Layout) {}
    /// Tells an emulator where the block is now and how large; nothing elsewhere.
    #[inline(always)]
    fn note_moved(self, _ptr: DevicePtr<u8>, _layout: Layout) {}
    /// Tells an emulator that all blocks are freed at once; nothing elsewhere.
    #[inline(always)]
    fn note_reset(self) {}
}
