//! Adding to values of one word, lanes of a warp together.

use super::words::{Typed, hash};
use super::{Before, HeapHashMap, leaf, slot};
use crate::{Heap, arch, sync};
use warpheap_api::{AllocError, DeviceAlloc, HeapData, HeapMemory, LaneMask, select};

impl<K: HeapData> HeapHashMap<K, u32> {
    /// Inserts a key with the value `n`, or adds `n` to its value, wrapping. It was absent for one of the
    /// lanes that bring a key first. Lanes of a warp that call it together with the same key do so by one
    /// addition.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn add<A: DeviceAlloc>(self, heap: Heap<A>, key: K, n: u32) -> Result<Before, AllocError> {
        let lanes = arch::active();
        let lane = arch::lane();
        // Those with the same hash; of these, who has the key of the first. Others go alone.
        let alike = arch::match_any(lanes, hash(Typed(key), 0));
        let mut differs = 0;
        let mut i = 0;
        while i < K::WORDS {
            differs |= key.word_at(i) ^ arch::shuffle(lanes, key.word_at(i), alike.first());
            i += 1;
        }
        let same = arch::ballot(lanes, differs == 0).and(alike);
        let alone = LaneMask::only(lane);
        let spread = ((differs != 0) as u32).wrapping_neg();
        let team = LaneMask {
            lo: select(spread != 0, alone.lo, same.lo),
            hi: select(spread != 0, alone.hi, same.hi),
        };
        let total = sync::team_sum(lanes, team, n).total;
        let leader = team.first();
        // 0: it was there; 1: it was not; beyond: the code of an error.
        let mut answer = 0;
        if lane == leader {
            answer = match self.add_alone(heap, key, total) {
                Ok(before) => !before.was_there() as u32,
                Err(error) => 1 + error.code(),
            };
        }
        let answer = arch::shuffle(lanes, answer, leader);
        if answer > 1 {
            return Err(AllocError::from_code(answer - 1));
        }
        if (answer == 1) & (lane == leader) {
            Ok(Before::Absent)
        } else {
            Ok(Before::Present)
        }
    }

    #[inline(always)]
    fn add_alone<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key: K,
        n: u32,
    ) -> Result<Before, AllocError> {
        let memory = heap.words();
        self.change(heap, key, n, |leaf, _| {
            memory.fetch_add(Self::value_word(leaf), n);
            leaf::changed(memory, slot::first_word(leaf));
            true
        })
    }
}
