//! Adding to values of one word, lanes of a warp together.

use super::flat::{self, Flat};
use super::words::{Typed, hash};
use super::{Before, HeapHashMap, leaf, slot};
use crate::sync::{Group, Team};
use crate::{Heap, arch};
use warpheap_api::{AllocError, DeviceAlloc, HeapData, HeapMemory, LaneMask, select};

impl<K: HeapData + Copy> HeapHashMap<K, u32> {
    /// Inserts a key with the value `n`, or adds `n` to its value, wrapping. It was absent for one of the
    /// lanes that bring a key first. Lanes of a warp that call it together with the same key do so by one
    /// addition. An addition to a key that is there orders nothing: what a lane wrote before is not known to who
    /// reads the sum.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    // A call would bring the heap through memory.
    #[inline(always)]
    pub fn add<A: DeviceAlloc>(self, heap: Heap<A>, key: K, n: u32) -> Result<Before, AllocError> {
        let group = Group::here();
        // Those with the same hash; of these, who has the key of their leader. Others go alone.
        let alike = Team::by_key(group, hash(Typed(key), 0));
        let mut differs = 0;
        let mut i = 0;
        while i < K::WORDS {
            differs |= key.word_at(i) ^ alike.broadcast(key.word_at(i));
            i += 1;
        }
        let same = alike.ballot(differs == 0);
        let alone = LaneMask::only(arch::lane());
        let spread = ((differs != 0) as u32).wrapping_neg();
        let members = LaneMask {
            lo: select(spread != 0, alone.lo, same.lo),
            hi: select(spread != 0, alone.hi, same.hi),
        };
        let team = Team::new(group, members);
        let total = team.sum(n).total;
        // 0: it was there; 1: it was not; beyond: the code of an error.
        let mut answer = 0;
        // What each of them wrote before is known to who reads the key that the leader brings.
        group.barrier();
        if team.leads() {
            answer = match self.add_alone(heap, key, total) {
                Ok(before) => !before.was_there() as u32,
                Err(error) => 1 + error.code(),
            };
        }
        // What the leader did is done for each of them: one that looks next finds the key.
        group.barrier();
        let answer = team.broadcast(answer);
        if answer > 1 {
            return Err(AllocError::from_code(answer - 1));
        }
        if (answer == 1) & team.leads() {
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
        let memory = heap.memory();
        // By value: not every compiler of SPIR-V takes a closure that keeps a pointer to a heap's words.
        let in_slot = move |flat: Flat, slot: usize| {
            memory.fetch_add(flat.value_word(slot), n);
            flat::changed(memory);
            true
        };
        let in_leaf = move |leaf: u32, _: u32| {
            memory.fetch_add(Self::value_word(memory, leaf), n);
            leaf::changed(memory, slot::first_word(memory, leaf));
            true
        };
        self.table
            .change(heap, Typed(key), Typed(n), in_slot, in_leaf)
    }
}
