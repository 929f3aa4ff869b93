//! A list of chunks.

use super::block::{block_layout, take, word_of};
use super::handle::word_handle;
use crate::sync::{Group, Team};
use crate::{Heap, arch};
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout};
use warpheap_api::{least, select};

/// Elements of the first chunk, at least.
pub(crate) const FIRST_CAPACITY: u32 = 4;
/// Elements of a chunk, at most.
const MOST_CAPACITY: u32 = 1024;
/// Words before the elements of a chunk.
const HEADER: u32 = 4;
/// The chunk that was made before: its granule and one, 0 for none.
pub(crate) const NEXT: usize = 0;
/// Elements that the chunk has room for.
pub(crate) const CAPACITY: usize = 1;
/// Elements that were promised room, more than there is room for in a full chunk.
pub(crate) const COUNT: usize = 2;
/// Elements of all chunks made before, which are full.
pub(crate) const BEFORE: usize = 3;

/// Rounds of a push before it is [`AllocError::Contended`]: in each but the waiting ones somebody else's
/// push succeeded.
const ROUNDS: u32 = 4096;
/// Rounds that a lane waits for who took the first place after a full chunk to bring the next one.
const PATIENCE: u32 = 64;
/// Nanoseconds of such a round.
const PAUSE: u32 = 200;

/// A list of chunks in a heap: one word, and chunks that double up to 1024 elements.
///
/// It only grows, and elements never move; they own no memory themselves. It owns its chunks, so it is moved and never
/// copied. Zeroed memory is an empty list. One lane owns it and
/// calls [`push`](Self::push); or its word lies in heap memory, and any number of lanes call
/// [`push_at`](Self::push_at) at the same time. It does not free itself: call [`free`](Self::free).
///
/// Whatever reads the list ([`len`](Self::len), [`cursor`](Self::cursor)) is for lanes that are ordered
/// after the pushes: in a later launch, or behind a barrier.
#[derive(Debug)]
#[repr(transparent)]
pub struct HeapList<T> {
    /// The newest chunk: its granule and one, 0 for none.
    head: u32,
    elements: PhantomData<fn() -> T>,
}

word_handle!(HeapList<T>: HeapData Copy, head, from_head, T::HOLDS_SHARED);

impl<T: HeapData + Copy> Default for HeapList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: HeapData + Copy> HeapList<T> {
    /// An empty list, without memory.
    #[inline(always)]
    pub const fn new() -> Self {
        Self::from_head(0)
    }

    #[inline(always)]
    pub(crate) const fn from_head(head: u32) -> Self {
        HeapList {
            head,
            elements: PhantomData,
        }
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.head == 0
    }

    /// Number of elements: two reads, however long the list is.
    #[inline(always)]
    pub fn len<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        let mut len = 0;
        if self.head != 0 {
            let words = heap.memory();
            let at = word_of(words, self.head);
            len = words.read(at + BEFORE) + filled(words, at);
        }
        len
    }

    /// Appends an element.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; then the list is as it was.
    #[inline]
    pub fn push<A: DeviceAlloc>(&mut self, heap: Heap<A>, value: T) -> Result<(), AllocError> {
        let words = heap.memory();
        let mut at = word_of(words, self.head);
        let (mut index, mut capacity, mut before) = (0, 0, 0);
        if self.head != 0 {
            capacity = words.read(at + CAPACITY);
            index = filled(words, at);
            before = words.read(at + BEFORE);
        }
        if index == capacity {
            let next = next_capacity(capacity, 1);
            let chunk = heap.malloc(chunk_layout::<T>(next))?;
            at = words.word_of(chunk);
            words.write(at + NEXT, self.head);
            words.write(at + CAPACITY, next);
            words.write(at + BEFORE, before + capacity);
            self.head = chunk.granule() + 1;
            index = 0;
        }
        words.write(at + COUNT, index + 1);
        value.put(words, element::<T>(at, index));
        Ok(())
    }

    /// Appends an element to the list whose word is word `word` of the heap, where other lanes may append
    /// at the same time. Lanes of a warp that come together share the work.
    ///
    /// A full chunk is followed by one that a single lane brings if it comes in time; after a while others
    /// bring one too, of which all but one go back. So for moments the heap holds some chunks more than
    /// the list has, and [`AllocError::Exhausted`] may be their doing.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], and [`AllocError::Contended`] when pushes of other lanes came first too
    /// often. Then this element is not in the list, and nothing else has changed.
    ///
    /// # Safety
    /// Word `word` lies in a live block of this heap and is a list of this type (zero is an empty one), and
    /// lanes that use the list at the same time do so by this function.
    #[inline]
    pub unsafe fn push_at<A: DeviceAlloc>(
        heap: Heap<A>,
        word: usize,
        value: T,
    ) -> Result<(), AllocError> {
        let words = heap.memory();
        let lane = arch::lane();
        // The chunk that was full when this lane looked last, and how often it was.
        let (mut seen, mut waited) = (0, 0);
        let (mut round, mut failed, mut going) = (0, 0, true);
        while going {
            let team = Team::by_word(Group::here(), word);
            let (mut head, mut capacity, mut count) = (0, 0, 0);
            if team.leads() {
                head = words.load(word);
                if head != 0 {
                    words.acquire();
                    capacity = words.read(word_of(words, head) + CAPACITY);
                    count = take(words, word_of(words, head) + COUNT, capacity, team.count());
                }
            }
            // What the leader acquired is the members' too.
            team.group().barrier();
            head = team.broadcast(head);
            capacity = team.broadcast(capacity);
            count = team.broadcast(count);
            let index = count + team.rank();
            let room = index < capacity;
            let late = Team::new(team.group(), team.ballot(!room));

            // The place after the last was given to one lane only: that one brings the next chunk.
            waited = select(head == seen, waited + 1, 0);
            seen = head;
            let brings = (head == 0) | (count <= capacity) | (waited >= PATIENCE);
            let mut made = 0;
            if late.leads() & brings {
                let next = next_capacity(capacity, late.count());
                match heap.malloc(chunk_layout::<T>(next)) {
                    Ok(chunk) => {
                        let at = words.word_of(chunk);
                        let mut before = capacity;
                        if head != 0 {
                            before += words.read(word_of(words, head) + BEFORE);
                        }
                        words.write(at + NEXT, head);
                        words.write(at + CAPACITY, next);
                        words.write(at + COUNT, late.count());
                        words.write(at + BEFORE, before);
                        words.release();
                        made = chunk.granule() + 1;
                        if words.compare_exchange(word, head, made) != head {
                            made = 0;
                            // SAFETY: the chunk was got with this layout, and nobody else knows it.
                            unsafe { heap.free(chunk, chunk_layout::<T>(next)) };
                        }
                    }
                    Err(error) => failed = error.code(),
                }
            }
            team.group().barrier();
            let source = select(room, lane, late.leader());
            made = team.group().shuffle(made, source);
            failed = team.group().shuffle(failed, source);

            let chunk = select(room, head, made);
            let place = select(room, index, late.rank());
            if chunk != 0 {
                // The leader acquired `head`, a late leader made its own: the barriers tell the members.
                value.put(words, element::<T>(word_of(words, chunk), place));
            } else if !brings {
                arch::pause(PAUSE);
            }
            round += 1;
            let lasts = (chunk == 0) & (failed == 0);
            if lasts & (round == ROUNDS) {
                failed = AllocError::Contended.code();
            }
            going = lasts & (round < ROUNDS);
        }
        if failed == 0 {
            Ok(())
        } else {
            Err(AllocError::from_code(failed))
        }
    }

    /// Where reading begins.
    ///
    /// A chunk's elements come in the order of their pushes, chunks in the opposite order; elements of
    /// lanes that push at the same time in any.
    #[inline(always)]
    pub fn cursor<A: DeviceAlloc>(&self, heap: Heap<A>) -> ListCursor<'_, T> {
        ListCursor::at_chunk(heap, self.head)
    }

    /// The same for a list that a container keeps, which lives as long as that.
    #[inline(always)]
    pub(super) fn kept_cursor<'a, A: DeviceAlloc>(self, heap: Heap<A>) -> ListCursor<'a, T> {
        ListCursor::at_chunk(heap, self.head)
    }

    /// Gives the memory back; the list is empty afterwards. What elements own is not freed.
    #[inline]
    pub fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        let words = heap.memory();
        while self.head != 0 {
            let at = word_of(heap.memory(), self.head);
            let chunk = DevicePtr::from_granule(self.head - 1);
            let capacity = words.read(at + CAPACITY);
            self.head = words.read(at + NEXT);
            // SAFETY: the list owns the chunk and got it with this layout.
            unsafe { heap.free(chunk, chunk_layout::<T>(capacity)) };
        }
    }
}

/// A place in a [`HeapList`], which it borrows: three words, changed by reading.
#[derive(Debug)]
#[repr(C)]
pub struct ListCursor<'a, T> {
    /// The chunk: its granule and one.
    chunk: u32,
    /// The next element of it.
    index: u32,
    /// Elements of it that are left; 0 at the end of the list alone.
    left: u32,
    list: PhantomData<&'a T>,
}

impl<T: HeapData + Copy> ListCursor<'_, T> {
    #[inline(always)]
    fn at_chunk<A: DeviceAlloc>(heap: Heap<A>, chunk: u32) -> Self {
        let mut left = 0;
        if chunk != 0 {
            left = filled(heap.memory(), word_of(heap.memory(), chunk));
        }
        ListCursor {
            chunk,
            index: 0,
            left,
            list: PhantomData,
        }
    }

    /// Whether no element is left.
    #[inline(always)]
    pub const fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The next element; `None` at the end. On Vulkan for elements of one word only.
    #[inline(always)]
    pub fn next<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> Option<T> {
        if self.is_done() {
            return None;
        }
        Some(self.step(heap))
    }

    /// The next element; `otherwise` at the end, which [`is_done`](Self::is_done) tells beforehand.
    #[inline(always)]
    pub fn next_or<A: DeviceAlloc>(&mut self, heap: Heap<A>, otherwise: T) -> T {
        if self.is_done() {
            return otherwise;
        }
        self.step(heap)
    }

    #[inline(always)]
    fn step<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> T {
        let words = heap.memory();
        let at = word_of(heap.memory(), self.chunk);
        let value = T::get(words, element::<T>(at, self.index));
        self.index += 1;
        self.left -= 1;
        if self.left == 0 {
            *self = Self::at_chunk(heap, words.read(at + NEXT));
        }
        value
    }
}

/// Elements that are in the chunk at word `at`.
#[inline(always)]
fn filled<M: HeapMemory>(words: M, at: usize) -> u32 {
    least(words.read(at + COUNT), words.read(at + CAPACITY))
}

/// The word of an element of the chunk at word `at`.
#[inline(always)]
pub(crate) const fn element<T: HeapData>(at: usize, index: u32) -> usize {
    at + HEADER as usize + index as usize * T::WORDS as usize
}

/// Elements of the chunk after one of `capacity`, to which `number` are to be appended at once.
#[inline(always)]
const fn next_capacity(capacity: u32, number: u32) -> u32 {
    let doubled = select(capacity == 0, FIRST_CAPACITY, capacity * 2);
    let wanted = select(doubled < number, number, doubled);
    least(wanted, MOST_CAPACITY)
}

#[inline(always)]
pub(crate) const fn chunk_layout<T: HeapData>(capacity: u32) -> Layout {
    block_layout(HEADER, capacity, T::WORDS)
}
