//! Freed blocks that wait before the inner allocator gets them back: a ring of places, each the granule of a block, or 0.

use super::contents;
use super::judge::Found;
use super::record::{self, DEAD, FREED, Frame, GONE, Leaving, Who};
use super::region::Region;
use super::report::{self, Mistake};
use super::{Checked, Chooser};
use crate::arch::{self, Group, Words};
use crate::sync::{self, Granules};
use crate::thread;
use core::alloc::Layout;
use warpheap_api::{DeviceAlloc, DevicePtr, HeapMemory, layout, least, select};

impl<A: DeviceAlloc<Memory = Words>, C: Chooser> Checked<A, C> {
    /// Collective: what becomes of the block that each lane took back, if it did: it waits, unless it is too large; and who has
    /// waited longest leaves.
    #[inline(always)]
    pub(super) fn retire(self, group: Group, found: Found, layout: Layout, who: Who) -> Leaving {
        let words = self.memory();
        let frame = Frame::new(words, found.epoch, found.granule);
        let region = self.region();
        let places = region.places();
        let short = layout::granules(layout) <= region.largest();
        let waits = found.usable & short & (places != 0);
        let coming = group.ballot(waits);
        if coming.is_empty() {
            return match found.usable {
                true => self.gone(frame, found.front[0], found.packed(), false),
                false => Leaving::NONE,
            };
        }
        let first = region.come(group, coming);
        // Atomic, since a lane that frees a block, too, may be reading.
        let mut inside = filled(region, frame, layout);
        inside.number = select(waits, inside.number, 0);
        sync::fill::<true>(words, group, inside, DEAD);
        let first = group.broadcast(first);
        let mut longest = 0;
        if waits {
            let asked = select(found.back_whole, found.back[1], 0);
            frame.put_behind(layout, FREED, [asked, who.block, who.at]);
            if !found.front_whole {
                frame.seal_front([found.front[0], found.front[1], found.front[2]]);
            }
            words.release();
            let place = first.wrapping_add(coming.rank(arch::lane()));
            longest = words.exchange(region.place(place, places), frame.granule);
            words.acquire();
        }
        let leaving = self.leaves(group, longest, who);
        match found.usable & !waits {
            true => self.gone(frame, found.front[0], found.packed(), false),
            false => leaving,
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
                words.acquire();
                let group = Group::here();
                let leaving = self.leaves(group, granule, Who::here(0));
                // SAFETY: the inner block of a record that was found whole and that this lane alone took back, or null.
                unsafe { self.inner.free(leaving.begin, leaving.layout()) };
                region.leave(group, leaving.waited);
            }
            i += 1;
        }
    }

    /// Collective: the block at each lane's granule leaves the quarantine, taken from its place by this lane; what was written to it
    /// meanwhile is told. Nothing for 0.
    #[inline(always)]
    fn leaves(self, group: Group, granule: u32, who: Who) -> Leaving {
        let words = self.memory();
        let region = self.region();
        let frame = Frame::new(words, region.epoch(), granule);
        let mut found = Found::nothing(frame.epoch, granule);
        let mut inside = Granules {
            first: granule,
            number: 0,
        };
        if granule != 0 {
            found.kind = report::AFTER;
            found.front = words.load4(frame.front());
            found.wrong = 0u32.wrapping_sub(4);
            found.value = found.front[0];
            let state = record::state_of(granule, frame.epoch, found.front[0]);
            found.front_whole = state == FREED && frame.front_is_whole(found.front);
            if found.front_whole {
                let layout = record::unpacked(found.packed());
                found.back = words.load4(frame.behind(layout));
                found.back_whole = frame.back_is_whole(FREED, found.back);
                inside = filled(region, frame, layout);
            }
        }
        let changed = contents::first_changed(words, group, inside);
        if granule == 0 {
            return Leaving::NONE;
        }
        let packed = found.packed();
        let layout = record::unpacked(packed);
        if found.front_whole {
            if changed < 4 * inside.number {
                found.wrong = changed;
                found.value = words.load(frame.first() + changed as usize);
            } else if !found.back_whole {
                found.wrong = (frame.behind(layout) - frame.first()) as u32;
                found.value = found.back[0];
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
            // Nobody knows where it ends: it stays, and waits no more.
            false => Leaving {
                waited: true,
                ..Leaving::NONE
            },
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

/// The granules of a freed block that are filled.
#[inline(always)]
fn filled(region: Region, frame: Frame, layout: Layout) -> Granules {
    Granules {
        first: frame.granule,
        number: least(layout::granules(layout), region.filled()),
    }
}
