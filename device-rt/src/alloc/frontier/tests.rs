//! Lanes that meet others at the word again and again.

use super::*;
use crate::alloc::{Bump, DirectOutput, bump, direct};
use crate::arch::simt::{BlockEvent, LaneInfo, LaneSlot, Simt, set_current};
use core::panic::Location;
use core::sync::atomic::{AtomicU32, Ordering};
use std::cell::Cell;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::{DeviceAlloc, HeapHandle, HeapParams, LaneMask, header, layout};

fn with_limit(limit: u32) -> Frontier {
    Frontier {
        word: 0,
        limit,
        origin: 0,
    }
}

#[test]
fn additions_of_all_lanes_stay_within_32_bits() {
    for limit in [1, 1000, 1 << 26, 1 << 31, 3 << 30, u32::MAX] {
        let added = with_limit(limit).most_added(1) as u64 * MOST_LANES as u64;
        assert!(limit as u64 + added <= u32::MAX as u64, "{limit}");
    }
    assert!(MOST_SUMMED as u64 * 64 <= u32::MAX as u64);
    let most = with_limit(0).most_added(64);
    assert!(most < MOST_SUMMED, "what is cut off is not added");
}

#[test]
fn units_are_aligned_in_the_count_of_their_origin() {
    let frontier = Frontier {
        origin: 5,
        ..with_limit(100)
    };
    for next in 0..50 {
        for align in [1, 2, 8, 64] {
            let first = frontier.aligned(next, align);
            assert!(first >= next && first < next + align);
            assert_eq!((first + 5) % align, 0);
        }
    }
}

/// Units of the heaps here.
const LIMIT: u32 = 1 << 20;

/// What the others do, each time before the lane comes to the word.
#[derive(Clone, Copy)]
enum Others {
    /// One of them takes a unit.
    Take,
    /// One of them has carried the word beyond the limit, and is not on yet to put it back.
    Hesitate,
}

/// The lane alone in its warp, and others elsewhere, for so many of its accesses.
struct Meeting {
    word: *mut u32,
    others: Others,
    left: Cell<u32>,
    /// Where the word is put back to.
    base: Cell<u32>,
}

impl Simt for Meeting {
    fn active(&self, _: &LaneInfo, _: &'static Location<'static>) -> LaneMask {
        LaneMask::only(0)
    }
    fn match_any(&self, _: &LaneInfo, mask: LaneMask, _: u32) -> LaneMask {
        mask
    }
    fn ballot(&self, _: &LaneInfo, mask: LaneMask, vote: bool) -> LaneMask {
        if vote { mask } else { LaneMask::EMPTY }
    }
    fn shuffle(&self, _: &LaneInfo, _: LaneMask, value: u32, _: u32) -> u32 {
        value
    }
    fn barrier(&self, _: &LaneInfo, _: LaneMask) {}
    fn block_barrier(&self, _: &LaneInfo) {}
    fn block_broadcast(&self, _: &LaneInfo, value: u32, _: u32) -> u32 {
        value
    }
    fn schedule(&self, _: &LaneInfo) {
        // SAFETY: a word of the test's heap, which outlives the meeting.
        let word = unsafe { AtomicU32::from_ptr(self.word) };
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        match self.others {
            Others::Take if left != 0 => {
                word.fetch_add(1, Ordering::Relaxed);
            }
            Others::Hesitate if left == 1 => word.store(self.base.get(), Ordering::Relaxed),
            _ => {}
        }
    }
    fn block_memory(&self, _: &LaneInfo, _: u32, _: usize) -> *mut u32 {
        core::ptr::null_mut()
    }
    fn outside(&self, _: &LaneInfo, _: usize, word: usize, _: usize) -> ! {
        panic!("word {word} is outside")
    }
    fn on_block(&self, _: &LaneInfo, _: usize, _: (u64, u64), _: BlockEvent) {}
    fn on_reset(&self, _: usize) {}
}

/// A lane's request of so many bytes of a heap whose word is `at`, while others are there for so many accesses.
fn meets<A: DeviceAlloc<Memory = Words> + HeapHandle<Memory = Words>>(
    params: HeapParams,
    at: usize,
    bytes: usize,
    others: Others,
    left: u32,
) -> Result<u32, AllocError> {
    let mut memory = vec![0u32; header::HEADER_WORDS + 4];
    let base = 1000;
    memory[at] = match others {
        Others::Take => base,
        Others::Hesitate => LIMIT + 77,
    };
    let address = memory.as_mut_ptr();
    let meeting = Meeting {
        word: address.wrapping_add(at),
        others,
        left: Cell::new(left),
        base: Cell::new(base),
    };
    let slot = LaneSlot {
        info: LaneInfo {
            grid_dim: 1,
            block_dim: 1,
            block: 0,
            thread: 0,
            lane: 0,
            width: 1,
            processor: 0,
        },
        schedules: true,
        tracks_blocks: false,
        simt: &meeting,
    };
    // SAFETY: memory, meeting and slot outlive what follows; blocks are not accessed.
    let block = unsafe {
        let words = Words::from_address(address as u64, memory.len() as u64);
        set_current(&slot);
        let block = A::attach(words, params).malloc(layout::bytes(bytes));
        set_current(core::ptr::null());
        block
    };
    block.map(|block| block.granule())
}

/// However often others are faster, and however long they leave the word beyond the limit.
#[test]
fn a_lane_is_served_where_there_is_room() {
    let (mut bumps, mut places) = ([0; HEAP_PARAMS], [0; HEAP_PARAMS]);
    bumps[bump::PARAM_LIMIT] = LIMIT;
    places[direct::PARAM_PLACES] = LIMIT;
    places[direct::PARAM_SHIFT] = 2;
    for (others, left) in [(Others::Take, 20_000), (Others::Hesitate, MOST_LOOKS - 1)] {
        for units in [1, 50_000usize] {
            let got = meets::<Bump>(bumps, bump::WORD_NEXT, units * 16, others, left);
            assert!(got.is_ok_and(|got| got >= 1000), "{got:?}");
            let at = direct::WORD_NEXT;
            let got = meets::<DirectOutput>(places, at, units * 64, others, left);
            assert!(got.is_ok_and(|got| got >= 4000), "{got:?}");
        }
    }
}

/// Nor is it served where there is none.
#[test]
fn a_lane_fails_where_there_is_no_room() {
    let mut bumps = [0; HEAP_PARAMS];
    bumps[bump::PARAM_LIMIT] = LIMIT;
    let room = LIMIT - 1000;
    for (asks, left, fits) in [(room, 0, true), (room + 1, 0, false), (room, 1, false)] {
        let bytes = asks as usize * 16;
        let got = meets::<Bump>(bumps, bump::WORD_NEXT, bytes, Others::Take, left);
        let expected = if fits {
            Ok(1000)
        } else {
            Err(AllocError::Exhausted)
        };
        assert_eq!(got, expected);
    }
}
