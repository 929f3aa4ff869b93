//! Sorting by one lane: a heap sort, which needs no memory, no recursion, and in no case more than about 2 n log2 n
//! comparisons.

use super::HeapVec;
use crate::Heap;
use warpheap_api::{DeviceAlloc, HeapData};

/// Elements up to which insertion is faster.
const FEW: u32 = 16;

impl<T: HeapData> HeapVec<T> {
    /// Sorts the elements, the least first. Equal ones come in any order.
    ///
    /// Elements that do not compare with each other, as NaN, come at any place. Lanes that sort *one* vector call
    /// [`sort_unstable_together`](Self::sort_unstable_together).
    #[inline(always)]
    pub fn sort_unstable<A: DeviceAlloc>(&mut self, heap: Heap<A>)
    where
        T: Copy + PartialOrd,
    {
        self.sort_unstable_by(heap, |a, b| *a < *b);
    }

    /// Sorts the elements by a key, the least first. The key is computed for each comparison anew.
    #[inline(always)]
    pub fn sort_unstable_by_key<A: DeviceAlloc, K: PartialOrd>(
        &mut self,
        heap: Heap<A>,
        key: impl Fn(&T) -> K,
    ) {
        self.sort_unstable_by(heap, move |a, b| key(a) < key(b));
    }

    /// Sorts the elements so that `is_less` is false of one and any before it. Where it contradicts itself, they come
    /// in some order. (`Vec` takes an `Ordering`, which is a byte: a number that not all devices have.)
    #[inline]
    pub fn sort_unstable_by<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        is_less: impl Fn(&T, &T) -> bool,
    ) {
        if self.len <= FEW {
            self.insertion_sort(heap, is_less);
        } else {
            self.heap_sort(heap, is_less);
        }
    }

    #[inline(always)]
    fn insertion_sort<A: DeviceAlloc>(&mut self, heap: Heap<A>, is_less: impl Fn(&T, &T) -> bool) {
        let mut sorted = 1;
        while sorted < self.len {
            let mut at = sorted;
            let mut moves = true;
            while moves & (at != 0) {
                moves = self.order(heap, at - 1, at, &is_less);
                at -= 1;
            }
            sorted += 1;
        }
    }

    #[inline(always)]
    fn heap_sort<A: DeviceAlloc>(&mut self, heap: Heap<A>, is_less: impl Fn(&T, &T) -> bool) {
        // First every element that has children goes down to where it is not less than these; then the first element,
        // the greatest, changes places with the last one, and what came to the front goes down.
        let mut parents = self.len / 2;
        let mut end = self.len;
        while end > 1 {
            if parents > 0 {
                parents -= 1;
            } else {
                end -= 1;
                self.swap(heap, 0, end);
            }
            let mut at = parents;
            let mut goes_down = true;
            while goes_down & (at < end / 2) {
                let mut child = 2 * at + 1;
                if child + 1 < end && self.is_less_at(heap, child, child + 1, &is_less) {
                    child += 1;
                }
                goes_down = self.is_less_at(heap, at, child, &is_less);
                if goes_down {
                    self.swap(heap, at, child);
                    at = child;
                }
            }
        }
    }

    /// Exchanges two elements that are there if the second is less; whether it was.
    #[inline(always)]
    pub(super) fn order<A: DeviceAlloc>(
        &self,
        heap: Heap<A>,
        one: u32,
        other: u32,
        is_less: &impl Fn(&T, &T) -> bool,
    ) -> bool {
        // SAFETY: the vector owns the block; copies are looked at, or each element is there once again.
        let first: T = unsafe { heap.load_at(self.ptr, one) };
        // SAFETY: the same.
        let second: T = unsafe { heap.load_at(self.ptr, other) };
        let wrong = is_less(&second, &first);
        if wrong {
            // SAFETY: the same.
            unsafe { heap.store_at(self.ptr, one, second) };
            // SAFETY: the same.
            unsafe { heap.store_at(self.ptr, other, first) };
        }
        wrong
    }

    /// Whether one of two elements that are there is less than the other.
    #[inline(always)]
    fn is_less_at<A: DeviceAlloc>(
        &self,
        heap: Heap<A>,
        one: u32,
        other: u32,
        is_less: &impl Fn(&T, &T) -> bool,
    ) -> bool {
        // SAFETY: the vector owns the block; the copies are only looked at.
        let first: T = unsafe { heap.load_at(self.ptr, one) };
        // SAFETY: the same.
        let second: T = unsafe { heap.load_at(self.ptr, other) };
        is_less(&first, &second)
    }
}
