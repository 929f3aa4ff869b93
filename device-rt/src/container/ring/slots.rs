//! What lanes do at the slots of their positions.

use super::claims::Claim;
use super::{BUSY, HEAD, MARKS, PASSED, READY, Ring, USED, WRITTEN, ahead, lap, slot};
use crate::arch;
use crate::sync::Team;
use warpheap_api::{HeapData, HeapMemory};

/// Looks at a slot that is not ready. In the emulator, where schedules leave lanes alone for as long as they like, few: so that
/// tests see positions that are lost.
const LOOKS: u32 = if cfg!(any(target_arch = "nvptx64", target_arch = "spirv")) {
    64
} else {
    2
};
/// Nanoseconds between two of them.
const PAUSE: u32 = 100;

impl<T: HeapData + Copy, M: HeapMemory> Ring<T, M> {
    /// Collective over the team's group: members that claimed a position put their element into its slot. False if the lane
    /// claimed none, or lost it; then nothing has been pushed.
    #[inline(always)]
    pub fn put(self, team: Team, claim: Claim, value: T) -> bool {
        let words = self.words;
        let position = claim.position;
        let slot = slot::<T>(self.at, self.log2, position);
        let lap = lap(self.log2, position);
        // A load first, since a change of a word that is not in the cache takes longer.
        let mut state = words.load(slot) & !(BUSY | WRITTEN);
        let (mut looks, mut mine, mut lost) = (0, false, !claim.claimed);
        while !mine & !lost {
            lost = (ahead(state & !MARKS, lap) >= 0) | (looks == LOOKS);
            if !lost {
                let found = words.compare_exchange(slot, state, lap | BUSY);
                mine = found == state;
                state = found & !(BUSY | WRITTEN);
                if !mine & (found != state) {
                    arch::pause(PAUSE);
                }
            }
            looks += 1;
        }
        if mine {
            // Who popped the slot's last element has read it, and who passed it over has moved the head.
            words.acquire();
            lost = (state & PASSED != 0) && (ahead(words.load(self.at + HEAD), position) > 0);
            if !lost {
                value.put(words, slot + 1);
            }
            words.release();
            if !lost {
                // Not by an `or`: who pops would find the element there for a moment where the slot was passed over.
                let written = lap | BUSY | WRITTEN;
                lost = words.compare_exchange(slot, lap | BUSY, written) != lap | BUSY;
            }
            if lost {
                // Whoever was to pop it may have gone. So it was never there.
                words.store(slot, lap | PASSED);
            }
        }
        let done = mine & !lost;
        let number = team.ballot(done).count();
        if team.leads() {
            if number != 0 {
                words.fetch_add(self.at + READY, number);
            }
            if number < claim.some {
                words.fetch_sub(self.at + USED, claim.some - number);
            }
        }
        done
    }

    /// Collective over the team's group: members that claimed a position take the element of its slot. False if the lane claimed
    /// none, or passes the slot over; then `value` is as it was.
    #[inline(always)]
    pub fn take(self, team: Team, claim: Claim, value: &mut T) -> bool {
        let words = self.words;
        let slot = slot::<T>(self.at, self.log2, claim.position);
        let lap = lap(self.log2, claim.position);
        let (mut looks, mut there, mut passed) = (0, false, !claim.claimed);
        while !there & !passed {
            let last = looks == LOOKS;
            let state = if last {
                // Who pushes there and sees the mark knows of the head.
                words.release();
                words.fetch_or(slot, PASSED)
            } else {
                words.load(slot)
            };
            let ahead = ahead(state & !MARKS, lap);
            there = (ahead == 0) & (state & WRITTEN != 0);
            // A later lap's, or this one's whose element was never there.
            passed = last | (ahead > 0) | ((ahead == 0) & (state & BUSY == 0));
            if !there & !passed {
                arch::pause(PAUSE);
            }
            looks += 1;
        }
        let number = team.ballot(there).count();
        if team.leads() {
            // Beside what follows, which takes as long.
            if number != 0 {
                words.fetch_sub(self.at + USED, number);
            }
            if number < claim.some {
                words.fetch_add(self.at + READY, claim.some - number);
            }
        }
        if there {
            words.acquire();
            *value = T::get(words, slot + 1);
        }
        words.release();
        // What the leader counted members know: else one might find no room where it made some.
        team.group().barrier();
        if there {
            words.fetch_and(slot, !(BUSY | WRITTEN));
        }
        there
    }
}
