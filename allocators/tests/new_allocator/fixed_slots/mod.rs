//! Slots of one size, with a bit for each that says whether it is taken.
//!
//! A request goes through the words of bits, from one that its lane's number names, and takes the first free slot that no other
//! lane takes before it. Slots lie at multiples of their size, so a slot has every alignment up to that.

use super::fail;
use crate::arch::{self, Words};
use crate::thread;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, header,
    layout,
};

/// First word of bits. A bit is set if its slot is taken, or does not exist.
pub(crate) const BITS_WORD: usize = header::HEADER_WORDS;
/// Parameter: granule of slot 0.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of slots, at least one.
pub(crate) const PARAM_SLOTS: usize = 1;
/// Parameter: two to this power granules are a slot.
pub(crate) const PARAM_SHIFT: usize = 2;
/// Bytes of the largest slots.
pub(crate) const MOST_BYTES: u32 = 4096;
/// So many slots a request may lose to other lanes.
const MOST_LOST: u32 = 1 << 16;

/// The allocator: what a lane knows of its heap.
#[derive(Clone, Copy)]
pub struct FixedSlots {
    words: Words,
    data: u32,
    bit_words: u32,
    shift: u32,
}

impl HeapHandle for FixedSlots {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        FixedSlots {
            words,
            data: params[PARAM_DATA],
            bit_words: (params[PARAM_SLOTS] + 31) >> 5,
            shift: params[PARAM_SHIFT],
        }
    }
}

impl FixedSlots {
    /// Whether a slot is large enough.
    #[inline(always)]
    fn fits(self, layout: Layout) -> bool {
        let slot = 1 << self.shift;
        (layout::granules(layout) <= slot) & (layout::align_granules(layout) <= slot)
    }

    /// A slot that was free and is the calling lane's now.
    #[inline(always)]
    fn take(self) -> Result<u32, AllocError> {
        // Lanes of a warp begin at different bits of one word, warps at different words.
        let turn = arch::lane() & 31;
        let mut at = (thread::index() >> 5) % self.bit_words;
        let (mut full, mut lost) = (0, 0);
        while full < self.bit_words {
            let word = BITS_WORD + at as usize;
            let free = !self.words.load(word);
            if free == 0 {
                at = (at + 1) % self.bit_words;
                full += 1;
            } else {
                let bit = (free.rotate_right(turn).trailing_zeros() + turn) & 31;
                if self.words.fetch_or(word, 1 << bit) & (1 << bit) == 0 {
                    return Ok(at * 32 + bit);
                }
                lost += 1;
                if lost == MOST_LOST {
                    return Err(AllocError::Contended);
                }
            }
        }
        Err(AllocError::Exhausted)
    }
}

// SAFETY: a slot belongs to whoever set its bit, which was clear before; slots lie side by side behind the bits.
unsafe impl DeviceAlloc for FixedSlots {
    type Memory = Words;
    const NAME: &'static str = "FixedSlots";
    const CAPS: Caps = Caps {
        frees: true,
        max_align: MOST_BYTES,
        max_size: MOST_BYTES as u64,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        if !self.fits(layout) {
            return fail(self.words, layout, AllocError::Unsupported);
        }
        match self.take() {
            Ok(slot) => {
                // What the slot's last owner did comes before what this lane does.
                self.words.acquire();
                Ok(DevicePtr::from_granule(self.data + (slot << self.shift)))
            }
            Err(cause) => fail(self.words, layout, cause),
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, _layout: Layout) {
        if !ptr.is_null() {
            let slot = (ptr.granule() - self.data) >> self.shift;
            // The other half: what this lane did comes before what the next owner does.
            self.words.release();
            let word = BITS_WORD + (slot >> 5) as usize;
            self.words.fetch_and(word, !(1 << (slot & 31)));
        }
    }

    /// Stays in place: every block is a slot.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let new = layout::aligned(new_size, old.align());
        match self.fits(new) {
            true => Ok(ptr),
            false => fail(self.words, new, AllocError::Unsupported),
        }
    }

    /// Every block is a slot.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        layout::with_granules(layout, 1 << self.shift)
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
