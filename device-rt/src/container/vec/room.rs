//! The block of a vector: how it grows, shrinks and goes back.

use super::HeapVec;
use crate::Heap;
use crate::sync::Group;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, layout, select};

/// Elements of a vector's first block, at least.
const FIRST_CAPACITY: u32 = 4;
/// Words from which on the lanes that are here copy a vector side by side. A lane takes about as long for so many on
/// its own as a warp for those of all its lanes, one after the other.
const LONG: u32 = 64;

impl<T: HeapData> HeapVec<T> {
    /// Makes room for `additional` elements more.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    #[inline]
    pub fn reserve<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        additional: u32,
    ) -> Result<(), AllocError> {
        if self.capacity - self.len < additional {
            self.grow(heap, additional)?;
        }
        Ok(())
    }

    /// Makes the block as small as the elements allow; without elements there is none afterwards. It takes a block of
    /// the new size beside the old one for a moment.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; then the vector is as it was.
    #[inline]
    pub fn shrink_to_fit<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> Result<(), AllocError> {
        if self.len == 0 {
            self.free(heap);
        } else if self.len < self.capacity {
            self.move_to(heap, self.len)?;
        }
        Ok(())
    }

    /// Moves the block where a [compaction](DeviceAlloc::begin_compaction) wants it, if it does: the elements stay the same. Lanes
    /// that come together copy together.
    #[inline]
    pub fn relocate<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        if self.capacity != 0 {
            let layout = layout::array::<T>(self.capacity);
            // SAFETY: the vector owns the block and got it with this layout.
            self.ptr = unsafe { heap.relocate(self.ptr.cast(), layout) }.cast();
        }
    }

    #[inline]
    pub(super) fn grow<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        additional: u32,
    ) -> Result<(), AllocError> {
        self.move_to(heap, self.grown(additional))
    }

    /// The capacity that the vector grows to for `additional` elements more.
    #[inline(always)]
    pub(super) fn grown(&self, additional: u32) -> u32 {
        // By hand: SPIR-V has no saturating arithmetic. No heap has room for u32::MAX elements.
        let needed = select(
            additional > u32::MAX - self.len,
            u32::MAX,
            self.len.wrapping_add(additional),
        );
        let doubled = select(
            self.capacity > u32::MAX / 2,
            u32::MAX,
            self.capacity.wrapping_mul(2),
        );
        let capacity = select(doubled > needed, doubled, needed);
        select(capacity < FIRST_CAPACITY, FIRST_CAPACITY, capacity)
    }

    /// Moves the elements to a block of its own for `capacity` of them, which is not less than the length.
    #[inline(always)]
    fn move_to<A: DeviceAlloc>(&mut self, heap: Heap<A>, capacity: u32) -> Result<(), AllocError> {
        let ptr = heap.malloc_array::<T>(capacity)?;
        // No overflow: these are words of a block that there is.
        copy_long(heap, self.ptr.cast(), ptr.cast(), self.len * T::WORDS);
        self.release_block(heap);
        self.ptr = ptr;
        self.capacity = capacity;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn release_block<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        if self.capacity != 0 {
            // SAFETY: the vector owns the block and got it with this layout.
            unsafe { heap.free(self.ptr.cast(), layout::array::<T>(self.capacity)) };
        }
    }
}

/// Copies `number` words from the beginning of a block of the lane to that of another one. The lanes that come
/// together copy what is long side by side, one lane's block after the other: so they read and write words that lie
/// next to each other.
#[inline(always)]
fn copy_long<A: DeviceAlloc>(heap: Heap<A>, from: DevicePtr<u32>, to: DevicePtr<u32>, number: u32) {
    let group = Group::here();
    let mut long = group.ballot(number >= LONG);
    let alone = long.is_empty() | (group.count() == 1);
    if !alone {
        // The others read what the lane wrote, and write to what it was handed.
        group.barrier();
        let (rank, step) = (group.rank(), group.count());
        while !long.is_empty() {
            let lane = long.first();
            let (from, to) = (
                group.shuffle(from.granule(), lane),
                group.shuffle(to.granule(), lane),
            );
            let number = group.shuffle(number, lane);
            copy_words(
                heap,
                heap.memory().word_of(DevicePtr::<u32>::from_granule(from)),
                heap.memory().word_of(DevicePtr::<u32>::from_granule(to)),
                Share { rank, step, number },
            );
            long = long.after(lane);
        }
        // The lane gives the old block back, and reads the new one.
        group.barrier();
    }
    if alone | (number < LONG) {
        let all = Share {
            rank: 0,
            step: 1,
            number,
        };
        copy_words(
            heap,
            heap.memory().word_of(from),
            heap.memory().word_of(to),
            all,
        );
    }
}

/// Which of so many words a lane copies: those of its `rank`, and every `step` words further.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub rank: u32,
    pub step: u32,
    pub number: u32,
}

/// Copies a share of the words from word `from` on to those from word `to` on, which are others.
#[inline(always)]
pub(super) fn copy_words<A: DeviceAlloc>(heap: Heap<A>, from: usize, to: usize, share: Share) {
    let words = heap.memory();
    let Share { rank, step, number } = share;
    let mut i = rank;
    // Four at a time, all of them read before one is written: so a lane waits for memory once.
    while (i < number) & (number.wrapping_sub(i) > 3 * step) {
        let (a, b) = (i as usize, (i + step) as usize);
        let (c, d) = ((i + 2 * step) as usize, (i + 3 * step) as usize);
        let (first, second) = (words.read(from + a), words.read(from + b));
        let (third, fourth) = (words.read(from + c), words.read(from + d));
        words.write(to + a, first);
        words.write(to + b, second);
        words.write(to + c, third);
        words.write(to + d, fourth);
        i += 4 * step;
    }
    while i < number {
        words.write(to + i as usize, words.read(from + i as usize));
        i += step;
    }
}
