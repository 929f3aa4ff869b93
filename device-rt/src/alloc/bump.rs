//! A pointer that only moves forward: the floor for every other allocator.
//!
//! `malloc` is one atomic addition per warp; `free` does nothing, and memory comes back when the
//! whole pool is reset.

use super::fail;
use crate::arch::{self, Words};
use crate::sync::prefix_sum;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, header,
    layout,
};

/// Word of the next free granule.
pub(crate) const WORD_NEXT: usize = header::HEADER_WORDS;
/// Granule at which a fresh heap begins to hand out.
pub(crate) const FIRST_GRANULE: u32 = (header::HEADER_WORDS as u32 + 4) / 4;
/// Parameter: the granule behind the last one.
pub(crate) const PARAM_LIMIT: usize = 0;
/// Most granules of a heap that are used: 48 GiB. The rest is room for the additions of warps that
/// find the heap full, so that the pointer cannot wrap before they take them back.
pub(crate) const MOST_GRANULES: u32 = 3 << 30;
/// Requests of a warp above this many granules (1 MiB) go one by one through a compare-and-swap, so
/// that the additions under way at any time stay below that room.
const MOST_ADDED: u32 = 1 << 16;
/// Greatest alignment. Not read from `CAPS` on the device, whose 64-bit size Vulkan may not have.
const MAX_ALIGN: u32 = 1 << 16;
/// Compare-and-swap attempts before a large request gives up.
const ATTEMPTS: u32 = 4096;

/// The bump allocator.
#[derive(Clone, Copy)]
pub struct Bump {
    words: Words,
    limit: u32,
}

impl HeapHandle for Bump {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        Bump {
            words,
            limit: params[PARAM_LIMIT],
        }
    }
}

impl Bump {
    /// Moves the pointer for one lane alone, checking before moving.
    #[inline(always)]
    fn claim_alone(self, granules: u32, align: u32) -> Result<DevicePtr<u8>, AllocError> {
        let mut attempt = 0;
        let mut next = self.words.load(WORD_NEXT);
        while attempt < ATTEMPTS {
            attempt += 1;
            if next > self.limit {
                // A warp is about to put the pointer back.
                next = self.words.load(WORD_NEXT);
                continue;
            }
            let start = next.wrapping_add(align - 1) & !(align - 1);
            if start < next || start > self.limit || granules > self.limit - start {
                return fail(self.words, AllocError::Exhausted);
            }
            let seen = self
                .words
                .compare_exchange(WORD_NEXT, next, start + granules);
            if seen == next {
                return Ok(DevicePtr::from_granule(start));
            }
            next = seen;
        }
        fail(self.words, AllocError::Contended)
    }
}

// SAFETY: what is handed out lies between two values that the pointer had at or below the limit, and it
// falls only from beyond the limit, back to the last such value; so every granule is handed out once.
unsafe impl DeviceAlloc for Bump {
    type Memory = Words;
    const NAME: &'static str = "Bump";
    const CAPS: Caps = Caps {
        frees: false,
        max_align: MAX_ALIGN,
        max_size: MOST_GRANULES as u64 * 16,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        if granules >= MOST_GRANULES || layout.align() > MAX_ALIGN as usize {
            return fail(self.words, AllocError::Unsupported);
        }
        // Room to align within.
        let asked = granules + (align - 1);
        let lanes = arch::active();
        // Large requests take part in the sum with nothing and go alone afterwards.
        let shared = if asked <= MOST_ADDED / 64 { asked } else { 0 };
        let sum = prefix_sum(lanes, shared);
        let leader = lanes.first();
        let mut base = 0;
        if arch::lane() == leader && sum.total != 0 {
            // Without a look at the pointer first: on a heap that is not full that would be a second
            // access to the word that all warps meet on.
            base = self.words.fetch_add(WORD_NEXT, sum.total);
            if base > self.limit {
                // Another warp has just carried the pointer beyond the limit, and puts it back to
                // where it was, this addition included.
                base = u32::MAX;
            } else if sum.total > self.limit - base {
                // Only one warp can have done so. Nobody takes anything before it is undone, and it
                // must be undone at once for all: if each warp took its own addition back, a third
                // one could be served from what is left between two of them.
                self.words.store(WORD_NEXT, base);
                base = u32::MAX;
            }
        }
        let base = arch::shuffle(lanes, base, leader);
        if shared == 0 || base == u32::MAX {
            return self.claim_alone(granules, align);
        }
        let start = (base + sum.before + (align - 1)) & !(align - 1);
        Ok(DevicePtr::from_granule(start))
    }

    #[inline(always)]
    unsafe fn free(self, _ptr: DevicePtr<u8>, _layout: Layout) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warps_additions_stay_below_the_room_behind_the_limit() {
        // 64 lanes of a warp, each adding at most MOST_ADDED / 64, and 16000 warps at a time.
        assert!((MOST_ADDED as u64) * 16000 <= u32::MAX as u64 - MOST_GRANULES as u64);
    }
}
