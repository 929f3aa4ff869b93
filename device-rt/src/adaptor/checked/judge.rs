//! Whether the free of a block is right, and what is wrong if it is not.

use super::record::{self, FREED, Frame, GONE, LIVE, Leaving, PAD, Who};
use super::report::{self, Mistake};
use super::{Checked, Chooser};
use crate::arch::{Group, Words};
use core::alloc::Layout;
use warpheap_api::{DeviceAlloc, DevicePtr, HeapMemory, layout, select};

/// What lies where a block would be. It changes in branches, so there is no pointer in it: Vulkan has none that could.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) granule: u32,
    pub(super) epoch: u32,
    /// The four words in front, and those behind; zeros where there are none.
    pub(super) front: [u32; 4],
    pub(super) back: [u32; 4],
    /// Whether each has its right seal.
    pub(super) front_whole: bool,
    pub(super) back_whole: bool,
    /// What is wrong, [`report::RIGHT`] for nothing.
    pub(super) kind: u32,
    /// Whether the block is live and its size known: it can be taken back.
    pub(super) usable: bool,
    /// Whether another lane frees it at the same time, and has not yet written down who it is.
    pub(super) pending: bool,
    /// The first wrong word, from the first one of the block, and what it holds.
    pub(super) wrong: u32,
    pub(super) value: u32,
}

impl Found {
    /// No block.
    #[inline(always)]
    pub(super) fn nothing(epoch: u32, granule: u32) -> Self {
        Found {
            granule,
            epoch,
            front: [0; 4],
            back: [0; 4],
            front_whole: false,
            back_whole: false,
            kind: report::FOREIGN,
            usable: false,
            pending: false,
            wrong: 0,
            value: 0,
        }
    }

    /// Size and alignment by the record.
    #[inline(always)]
    pub(super) fn packed(self) -> [u32; 2] {
        [self.front[1], record::packed_of(self.front[0])]
    }
}

impl<A: DeviceAlloc<Memory = Words>, C: Chooser> Checked<A, C> {
    /// Looks at the block that is said to begin at a granule, with a layout. Nothing is changed.
    #[inline(always)]
    pub(super) fn look(self, granule: u32, given: Layout) -> Found {
        let region = self.region();
        let end = region.begin();
        let frame = Frame::new(self.memory(), region.epoch(), granule);
        let mut found = Found::nothing(frame.epoch, granule);
        if granule == 0 || granule >= end {
            return found;
        }
        found.front = frame.words.load4(frame.front());
        found.front_whole = frame.front_is_whole(found.front);
        let state = record::state_of(granule, frame.epoch, found.front[0]);
        let (own, asked) = (found.packed(), record::packed(given));
        let same = own[0] == asked[0] && own[1] == asked[1];
        // Where the record is not to be believed, the canary may still be where the caller says that the block ends.
        let size = match state != 0 && found.front_whole {
            true => record::unpacked(own),
            false => given,
        };
        let granules = layout::granules(size);
        if granules < end && granule < end - granules {
            found.back = frame.words.load4(frame.behind(size));
            found.back_whole = match state {
                FREED => frame.back_is_whole(FREED, found.back),
                _ => frame.back_is_whole(LIVE, found.back),
            };
            // Who takes a block back changes its state first, and then writes down who it is.
            found.pending = state == FREED && !found.back_whole;
        }
        let whole = found.front_whole || found.back_whole;
        if state == LIVE {
            found = self.judge_live(frame, found, size, same);
        } else if state == FREED && whole {
            found.kind = report::TWICE;
        } else if state == GONE && found.front_whole {
            found.kind = report::STALE;
        } else if state == 0 && found.back_whole {
            found.kind = report::BEFORE;
            found.wrong = 0u32.wrapping_sub(4);
            found.value = found.front[0];
        }
        found
    }

    /// The same of a record that says that the block is live.
    #[inline(always)]
    fn judge_live(self, frame: Frame, mut found: Found, size: Layout, same: bool) -> Found {
        // A record whose seal is broken is believed where all else agrees with it.
        let whole = found.front_whole || found.back_whole;
        found.usable = whole && same;
        if found.front_whole && !same {
            found.kind = report::LAYOUT;
        } else if !found.front_whole {
            if !whole && !same {
                return found;
            }
            found.kind = report::BEFORE;
            found.wrong = 0u32.wrapping_sub(1);
            found.value = found.front[3];
        } else {
            let pad = first_wrong_pad(frame, size);
            let behind = frame.behind(size);
            let whole = pad == behind && found.back_whole;
            found.kind = match whole {
                true => report::RIGHT,
                false => report::BEHIND,
            };
            if !whole {
                found.wrong = (pad - frame.first()) as u32;
                found.value = frame.words.load(pad);
            }
        }
        found
    }

    /// Collective: takes the block of each lane back, and tells what is wrong about it; what the inner allocator gets for it.
    /// Nothing for null.
    #[inline(always)]
    pub(super) fn take_back(
        self,
        group: Group,
        ptr: DevicePtr<u8>,
        given: Layout,
        who: Who,
    ) -> Leaving {
        let mut found = Found::nothing(self.region().epoch(), 0);
        if !ptr.is_null() {
            found = self.look(ptr.granule(), given);
            let frame = Frame::new(self.memory(), found.epoch, found.granule);
            if found.usable {
                let live = found.front[0];
                let freed = record::state_word(frame.granule, frame.epoch, FREED, live);
                let old = frame.words.compare_exchange(frame.front(), live, freed);
                if old != live {
                    found.usable = false;
                    found.kind = report::TWICE;
                    found.pending = true;
                }
            }
            if found.kind != report::RIGHT {
                self.tell(Mistake {
                    found,
                    call: report::FREE,
                    given,
                    who,
                });
            }
        }
        group.barrier();
        self.retire(group, found, given, who)
    }

    /// Whether a block can be resized. If not, what is wrong is told.
    #[inline(always)]
    pub(super) fn may_resize(self, ptr: DevicePtr<u8>, given: Layout, who: Who) -> bool {
        let found = self.look(ptr.granule(), given);
        if !found.usable {
            self.tell(Mistake {
                found,
                call: report::REALLOC,
                given,
                who,
            });
        }
        found.usable
    }
}

/// The first word between the end of a block's size and that of its last granule that is not as it was; the one behind the granule
/// if all are. Without a loop, after which lanes might not come together.
#[inline(always)]
fn first_wrong_pad(frame: Frame, size: Layout) -> usize {
    let behind = frame.behind(size);
    let own = record::own_words_of_last(size);
    let last = frame.words.load4(behind - 4);
    let wrong = |word: u32| (own <= word) & (last[word as usize] != PAD);
    let first = select(wrong(3), 3, 4);
    let first = select(wrong(2), 2, first);
    let first = select(wrong(1), 1, first);
    let first = select(wrong(0), 0, first);
    behind - 4 + first as usize
}
