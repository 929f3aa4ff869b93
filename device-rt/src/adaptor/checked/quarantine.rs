//! Freed blocks that wait before the inner allocator gets them back: a ring of places, each the granule of a block, or 0.

use super::judge::Found;
use super::record::{self, DEAD, FILLED, FREED, Frame, GONE, Leaving, Who};
use super::report::{self, Mistake};
use super::{Checked, Chooser};
use crate::arch::Words;
use crate::thread;
use core::alloc::Layout;
use warpheap_api::{DeviceAlloc, DevicePtr, HeapMemory, layout};

impl<A: DeviceAlloc<Memory = Words>, C: Chooser> Checked<A, C> {
    /// What becomes of a block that this lane alone took back: it waits, unless it is too large; and who has waited longest leaves.
    #[inline(always)]
    pub(super) fn retire(self, found: Found, layout: Layout, who: Who) -> Leaving {
        let frame = Frame::new(self.memory(), found.epoch, found.granule);
        let region = self.region();
        let places = region.places();
        if places == 0 || layout::granules(layout) > region.largest() {
            return self.gone(frame, found.front[0], found.packed(), false);
        }
        let end = frame.first() + filled(layout);
        let mut word = frame.first();
        while word < end {
            // Atomic, since a lane that frees it, too, may be reading.
            frame.words.store(word, DEAD);
            word += 1;
        }
        let asked = match found.back_whole {
            true => found.back[1],
            false => 0,
        };
        frame.put_behind(layout, FREED, [asked, who.block, who.at]);
        if !found.front_whole {
            frame.seal_front([found.front[0], found.front[1], found.front[2]]);
        }
        let words = region.words();
        region.count_held(1);
        words.release();
        let place = region.place(region.next(), places);
        match words.exchange(place, frame.granule) {
            0 => Leaving::NONE,
            longest => self.leaves(longest, who),
        }
    }

    /// Gives everything that waits to the inner allocator. Lanes that come together begin at different places.
    #[inline(always)]
    pub(super) fn empty_quarantine(self) {
        let region = self.region();
        let (words, places) = (region.words(), region.places());
        let first = thread::index();
        let mut i = 0;
        while i < places {
            let place = region.place(first.wrapping_add(i), places);
            // A look first: most places are empty.
            if words.load(place) != 0 {
                let granule = words.exchange(place, 0);
                if granule != 0 {
                    let leaving = self.leaves(granule, Who::here(0));
                    // SAFETY: the inner block of a record that was found whole and that this lane alone took back, or null.
                    unsafe { self.inner.free(leaving.begin, leaving.layout()) };
                    if leaving.waited {
                        region.count_held(-1);
                    }
                }
            }
            i += 1;
        }
    }

    /// A block leaves the quarantine, taken from its place by this lane; what was written to it meanwhile is told.
    #[inline(always)]
    fn leaves(self, granule: u32, who: Who) -> Leaving {
        let region = self.region();
        region.words().acquire();
        let frame = Frame::new(self.memory(), region.epoch(), granule);
        let mut found = Found {
            granule,
            epoch: frame.epoch,
            front: frame.words.load4(frame.front()),
            back: [0; 4],
            front_whole: false,
            back_whole: false,
            kind: report::AFTER,
            usable: false,
            pending: false,
            wrong: 0u32.wrapping_sub(4),
            value: 0,
        };
        let state = record::state_of(granule, frame.epoch, found.front[0]);
        found.front_whole = state == FREED && frame.front_is_whole(found.front);
        found.value = found.front[0];
        let packed = found.packed();
        let layout = record::unpacked(packed);
        if found.front_whole {
            let behind = frame.behind(layout);
            found.back = frame.words.load4(behind);
            found.back_whole = frame.back_is_whole(FREED, found.back);
            let end = frame.first() + filled(layout);
            let mut word = frame.first();
            while word < end && frame.words.load(word) == DEAD {
                word += 1;
            }
            if word < end || !found.back_whole {
                let wrong = match word < end {
                    true => word,
                    false => behind,
                };
                found.wrong = (wrong - frame.first()) as u32;
                found.value = frame.words.load(wrong);
            } else {
                found.kind = report::RIGHT;
            }
        }
        if found.kind != report::RIGHT {
            self.tell(Mistake {
                found,
                call: report::LEAVE,
                given: layout,
                who,
            });
        }
        match found.front_whole {
            true => self.gone(frame, found.front[0], packed, true),
            // Nobody knows where it ends: it stays.
            false => {
                region.count_held(-1);
                Leaving::NONE
            }
        }
    }

    /// The inner allocator gets a block back.
    #[inline(always)]
    fn gone(self, frame: Frame, origin: u32, packed: [u32; 2], waited: bool) -> Leaving {
        let gone = record::state_word(frame.granule, frame.epoch, GONE, origin);
        frame.words.store(frame.front(), gone);
        let front = record::front_granules(record::unpacked(packed));
        Leaving {
            begin: DevicePtr::from_granule(frame.granule - front),
            packed,
            waited,
        }
    }
}

/// Words of a freed block that are filled.
#[inline(always)]
fn filled(layout: Layout) -> usize {
    let words = layout::granules(layout) as usize * DevicePtr::<u8>::GRANULE_WORDS;
    match words < FILLED {
        true => words,
        false => FILLED,
    }
}
