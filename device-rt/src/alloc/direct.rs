//! The output buffer of the hash join that the random walk is measured against: a counter that hands out
//! places of equal size, one addition for each lane.
//!
//! Pham and others, *Dynamic Buffer Management in Massively Parallel Systems: A Case on GPUs*, §VI, after the
//! "direct output buffer" of Rui and Tu's join: pages are never freed, so getting one is adding one to a
//! counter.
//! A request of more than a place takes as many, side by side.

use super::fail;
use crate::arch::{self, Words};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, header,
    layout, least, select,
};

/// Word of the counter: the next place.
pub(crate) const WORD_NEXT: usize = header::HEADER_WORDS;
/// Parameter: granule of place 0, a multiple of a place.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of places.
pub(crate) const PARAM_PLACES: usize = 1;
/// Parameter: two to this power granules are a place.
pub(crate) const PARAM_SHIFT: usize = 2;
/// The least that `PARAM_SHIFT` can be: with 32 bytes a place 64 GiB have 2^31 of them, and as many numbers
/// are left for the additions of lanes that find the heap full.
pub(crate) const LEAST_SHIFT: u32 = 1;
/// Requests of more places than this go through a compare-and-swap, so that the additions under way at
/// any time, by a million lanes at most, stay below that room.
const MOST_ADDED: u32 = 1 << 11;
/// Granules of the largest request.
const MOST_GRANULES: u32 = u32::MAX - 0xffff;
/// Greatest alignment. Not read from `CAPS` on the device, whose 64-bit size Vulkan may not have.
const MAX_ALIGN: u32 = 1 << 16;
/// Compare-and-swap attempts before a request that goes that way gives up.
const ATTEMPTS: u32 = 4096;
/// In place of a place: none.
const NONE: u32 = u32::MAX;

/// The join's output counter.
#[derive(Clone, Copy)]
pub struct DirectOutput {
    words: Words,
    data: u32,
    places: u32,
    shift: u32,
}

impl HeapHandle for DirectOutput {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        DirectOutput {
            words,
            data: params[PARAM_DATA],
            places: params[PARAM_PLACES],
            shift: params[PARAM_SHIFT],
        }
    }
}

impl DirectOutput {
    /// The first place from `next` on that is aligned to `align` places.
    #[inline(always)]
    fn aligned(self, next: u32, align: u32) -> u32 {
        let first = self.data >> self.shift;
        ((next + first + (align - 1)) & !(align - 1)) - first
    }

    /// Adds to the counter; the old value, or [`NONE`] if that is more than there is.
    #[inline(always)]
    fn add(self, asked: u32) -> u32 {
        let base = self.words.fetch_add(WORD_NEXT, asked);
        let beyond = base > self.places;
        let short = !beyond & (asked > self.places - least(base, self.places));
        if short {
            // Only one lane can have carried the counter beyond the end. Until it puts it back to where it
            // was, and with it all additions that came later, nobody takes anything.
            self.words.store(WORD_NEXT, base);
        }
        select(beyond | short, NONE, base)
    }

    /// Moves the counter by a compare-and-swap, checking before moving.
    #[inline(always)]
    fn claim_checked(self, count: u32, align: u32) -> Place {
        let mut place = Place {
            first: 0,
            code: AllocError::Contended.code(),
        };
        let mut open = true;
        let mut attempt = 0;
        while open & (attempt < ATTEMPTS) {
            attempt += 1;
            let next = self.words.load(WORD_NEXT);
            // Beyond the end it is about to be put back.
            if next <= self.places {
                let start = self.aligned(next, align);
                if (start > self.places) | (count > self.places - least(start, self.places)) {
                    place.code = AllocError::Exhausted.code();
                    open = false;
                } else {
                    let new = start + count;
                    if self.words.compare_exchange(WORD_NEXT, next, new) == next {
                        place = Place {
                            first: start,
                            code: 0,
                        };
                        open = false;
                    }
                }
            }
        }
        place
    }
}

/// What a lane got: the first of its places, or an error's code.
#[derive(Clone, Copy)]
struct Place {
    first: u32,
    code: u32,
}

// SAFETY: what is handed out lies between two values that the counter had at or below the number of places,
// and it falls only from beyond that, back to the last such value; so every place is handed out once.
unsafe impl DeviceAlloc for DirectOutput {
    type Memory = Words;
    const NAME: &'static str = "DirectOutput";
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
        let possible = (granules <= MOST_GRANULES) & (layout.align() <= MAX_ALIGN as usize);
        let rest = granules & ((1 << self.shift) - 1);
        let count = (granules >> self.shift) + (rest != 0) as u32;
        let align = layout::align_granules(layout) >> self.shift;
        let align = select(align == 0, 1, align);
        let lanes = arch::active();
        // Room to align within.
        let asked = count + (align - 1);
        let small = possible & (asked <= MOST_ADDED);
        let mut base = NONE;
        if small {
            base = self.add(asked);
        }
        // A lane that carried the counter beyond the end has put it back before others of its warp look at it.
        arch::warp_barrier(lanes);
        let mut place = Place {
            first: 0,
            code: AllocError::Unsupported.code(),
        };
        if base != NONE {
            place = Place {
                first: self.aligned(base, align),
                code: 0,
            };
        } else if possible {
            place = self.claim_checked(count, align);
        }
        if place.code == 0 {
            Ok(DevicePtr::from_granule(
                self.data + (place.first << self.shift),
            ))
        } else {
            fail(self.words, AllocError::from_code(place.code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, _ptr: DevicePtr<u8>, _layout: Layout) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_additions_stay_below_the_room_behind_the_last_place() {
        let places = (u32::MAX as u64) >> LEAST_SHIFT;
        // A million lanes at a time.
        assert!((MOST_ADDED as u64) << 20 <= u32::MAX as u64 - places);
    }
}
