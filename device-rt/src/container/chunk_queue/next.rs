//! How a full ring gets a next one.

use super::{HeapChunkQueue, MOST, TAIL};
use crate::container::block::word_of;
use crate::container::ring::{BROUGHT, NEXT, Ring, ring_layout, slots_log2};
use crate::sync::Team;
use crate::{Heap, arch};
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, select};

/// Rounds that a lane waits for who brings the next ring, and one more for so many slots of it; then it brings one itself.
const PATIENCE: u32 = 64;
const SLOTS_A_ROUND_LOG2: u32 = 6;

impl<T: HeapData + Copy> HeapChunkQueue<T> {
    /// Collective over the group of `late`, lanes that found no room in the ring: they bring the next one, or go on to it if it
    /// is there, or wait.
    #[inline(always)]
    pub(super) fn go_on<A: DeviceAlloc>(
        &self,
        heap: Heap<A>,
        at: usize,
        ring: Ring<T, A::Memory>,
        handle: u32,
        late: Team,
        waited: u32,
    ) -> Step {
        let words = heap.memory();
        // Of nobody but itself a lane with room learns something: there may be none without.
        let source = select(
            late.members().contains(arch::lane()),
            late.leader(),
            arch::lane(),
        );
        let (mut next, mut failed, mut brought, mut log2) = (0, 0, 0, 0);
        if late.leads() {
            next = words.load(ring.at + NEXT);
            let patience = PATIENCE + (2 << slots_log2(ring.log2()) >> SLOTS_A_ROUND_LOG2);
            let mut brings = (next == 0)
                && ((waited >= patience)
                    || ((words.load(ring.at + BROUGHT) == 0)
                        && (words.exchange(ring.at + BROUGHT, 1) == 0)));
            // Twice as many, or as many, if the heap has not more.
            let most = words.load(at + MOST);
            let largest = const { in_usize(A::CAPS.max_size) };
            let twice =
                (ring.log2() < most) && (ring_layout::<T>(ring.log2() + 1).size() <= largest);
            log2 = ring.log2() + twice as u32;
            while brings {
                match heap.malloc_rarely(ring_layout::<T>(log2)) {
                    Ok(block) => {
                        brought = block.granule() + 1;
                        brings = false;
                    }
                    Err(error) => {
                        failed = error.code();
                        brings = log2 > ring.log2();
                        if brings & (failed == AllocError::Unsupported.code()) {
                            words.store(at + MOST, ring.log2());
                        }
                        log2 = ring.log2();
                    }
                }
            }
            if brought != 0 {
                failed = 0;
            } else if failed != 0 {
                // Somebody else may have more luck.
                words.store(ring.at + BROUGHT, 0);
            }
        }
        // The block that the leader got is the members' to clear.
        late.group().barrier();
        brought = late.group().shuffle(brought, source);
        log2 = late.group().shuffle(log2, source);
        if brought != 0 {
            Ring::<T, A::Memory>::clear(
                words,
                word_of(words, brought),
                log2,
                late.rank(),
                late.count(),
            );
        }
        late.group().barrier();
        if late.leads() {
            if brought != 0 {
                words.release();
                next = words.compare_exchange(ring.at + NEXT, 0, brought);
                if next == 0 {
                    next = brought;
                } else {
                    // SAFETY: the ring was got with this layout, and nobody else knows it.
                    unsafe {
                        heap.free_rarely(
                            DevicePtr::from_granule(brought - 1),
                            ring_layout::<T>(log2),
                        )
                    };
                }
            }
            if next != 0 {
                words.acquire();
                words.release();
                // Behind the link, so that whoever finds the ring closed finds the next one.
                ring.close();
                words.compare_exchange(at + TAIL, handle, next);
            }
        }
        Step {
            went_on: late.group().shuffle(next, source) != 0,
            failed: late.group().shuffle(failed, source),
        }
    }
}

/// What came of lanes that found no room.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// Whether there is a next ring.
    pub went_on: bool,
    /// The error of the heap, or 0.
    pub failed: u32,
}

/// Number of bytes, of which more than there are addresses are none. For constants: not all devices have numbers of 64 bits.
const fn in_usize(bytes: u64) -> usize {
    if bytes > usize::MAX as u64 {
        usize::MAX
    } else {
        bytes as usize
    }
}
