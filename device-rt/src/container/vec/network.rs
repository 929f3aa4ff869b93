//! Sorting by lanes together: Batcher's bitonic network, of which each lane makes a share of the exchanges.
//!
//! In round `r` sorted runs of `2^r` elements become runs of twice the length: first each element of a run is compared
//! with that at the same distance from the end of the next run, then with those half a run away, a quarter, and so on.
//! The lesser one always goes to the front, so elements that are not there, behind the end, are as good as greatest ones:
//! whatever is compared with them stays. Any length is sorted so, by any number of lanes, without memory. The
//! exchanges of a step are of different elements; between steps there is a barrier. For n elements that is about
//! n / 4 · log2(n)² exchanges.

use super::HeapVec;
use crate::Heap;
use crate::container::Together;
use warpheap_api::{DeviceAlloc, HeapData, select};

impl<T: HeapData> HeapVec<T> {
    /// Collective: sorts the elements, the least first; afterwards each lane may read all of them.
    ///
    /// Equal ones, and those that do not compare, come as in [`sort_unstable`](Self::sort_unstable).
    ///
    /// # Safety
    /// All of the `lanes`, and no others, call this, with vectors of the same words and the same heap. No other lane
    /// uses the vector meanwhile.
    #[inline(always)]
    pub unsafe fn sort_unstable_together<A: DeviceAlloc>(&self, heap: Heap<A>, lanes: impl Together)
    where
        T: Copy + PartialOrd,
    {
        // SAFETY: the caller's promise.
        unsafe { self.sort_unstable_by_together(heap, lanes, |a, b| *a < *b) };
    }

    /// Collective: sorts the elements by a key; as [`sort_unstable_together`](Self::sort_unstable_together).
    ///
    /// # Safety
    /// As there. The key of an element is the same in all lanes.
    #[inline(always)]
    pub unsafe fn sort_unstable_by_key_together<A: DeviceAlloc, K: PartialOrd>(
        &self,
        heap: Heap<A>,
        lanes: impl Together,
        key: impl Fn(&T) -> K,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.sort_unstable_by_together(heap, lanes, move |a, b| key(a) < key(b)) };
    }

    /// Collective: sorts the elements by an order, as [`sort_unstable_by`](Self::sort_unstable_by) and
    /// [`sort_unstable_together`](Self::sort_unstable_together).
    ///
    /// # Safety
    /// As there. `is_less` answers the same in all lanes.
    #[inline]
    pub unsafe fn sort_unstable_by_together<A: DeviceAlloc>(
        &self,
        heap: Heap<A>,
        lanes: impl Together,
        is_less: impl Fn(&T, &T) -> bool,
    ) {
        // What others pushed before is known from here on.
        // SAFETY: the caller's promise.
        unsafe { lanes.barrier() };
        let mut round = 0;
        while (round < 32) & (1 << (round & 31) < self.len) {
            // The first step of a round, then those half as far, down to neighbours.
            let mut step = round + 1;
            while step > 0 {
                step -= 1;
                self.exchange(heap, lanes, step, step == round, &is_less);
                // SAFETY: the caller's promise.
                unsafe { lanes.barrier() };
            }
            round += 1;
        }
    }

    /// The lane's share of the exchanges of a step: in each part of `2^(step + 1)` elements those of one half with those
    /// of the other, in the opposite order where the step is the `first` of its round.
    #[inline(always)]
    fn exchange<A: DeviceAlloc>(
        &self,
        heap: Heap<A>,
        lanes: impl Together,
        step: u32,
        first: bool,
        is_less: &impl Fn(&T, &T) -> bool,
    ) {
        let half = 1 << step;
        // Parts of which something is there, less one: no numbers beyond a word where there are as many as there can be.
        let last = (self.len - 1) >> step >> 1;
        let pairs = (last << step) + half;
        // The bits in which the two of a pair differ: one, or all up to it.
        let apart = half | select(first, half - 1, 0);
        let mut pair = lanes.rank();
        while pair < pairs {
            let offset = pair & (half - 1);
            let one = ((pair >> step) << step << 1) | offset;
            let other = one ^ apart;
            if other < self.len {
                self.order(heap, one, other, is_less);
            }
            pair += lanes.count();
        }
    }
}
