//! How lanes append.

use super::HeapSharedVec;
use super::parts::{STATE, State, capacity, counter, element, first, segment_word, segments};
use crate::container::block::word_of;
use crate::sync::{Group, Team};
use crate::{Heap, arch};
use warpheap_api::{AllocError, DeviceAlloc, HeapData, HeapMemory, layout, select};

/// What a segment's word is while a lane allocates it.
const GROWING: u32 = u32::MAX;

/// Rounds of a push before it is [`AllocError::Contended`], and one more for so many elements of the segment that is full: heaps
/// take longer for larger blocks.
const ROUNDS: u32 = 8192;
const ELEMENTS_A_ROUND_LOG2: u32 = 6;
/// Nanoseconds of a round that waits for a segment.
const PAUSE: u32 = 400;

impl<T: HeapData + Copy> HeapSharedVec<T> {
    /// Appends an element; its index. Lanes of a warp that come together share the work: two loads and one addition
    /// for all of them.
    ///
    /// Indices are dense: those of all pushes that succeeded are 0 to their number, less one. As long as the first segment
    /// has places nothing is asked of the heap. Later on, the lane that takes the middle of a segment allocates the next one
    /// ahead of time; where it comes too late, one allocates and the others go round, for two milliseconds on CUDA and longer where segments are large.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Contended`] if the lane that allocates a segment is not done
    /// in time; [`AllocError::Unsupported`] of [`NONE`](Self::NONE). Then the vector is as it was.
    #[inline]
    pub fn push<A: DeviceAlloc>(&self, heap: Heap<A>, value: T) -> Result<u32, AllocError> {
        if self.control == 0 {
            return Err(AllocError::Unsupported);
        }
        let words = heap.memory();
        let lane = arch::lane();
        let at = word_of(words, self.control);
        let (mut round, mut failed, mut index, mut going) = (0, 0, 0, true);
        while going {
            let team = Team::by_key(Group::here(), self.control);
            let (mut state, mut count, mut block) = (0, 0, 0);
            if team.leads() {
                state = words.load(at + STATE);
                // Who made this segment the current one knew its block, so the word that is read below names it.
                words.acquire();
                let State { segment, log2 } = State::of(state);
                let counter = counter::<T>(at, log2, segment);
                count = claim(words, counter, capacity(log2, segment), team.count(), round);
                block = words.load(segment_word(at, segment));
            }
            // What the leader acquired is the members' too.
            team.group().barrier();
            state = team.broadcast(state);
            count = team.broadcast(count);
            block = team.broadcast(block);
            let State { segment, log2 } = State::of(state);
            let capacity = capacity(log2, segment);
            let offset = count + team.rank();
            let room = offset < capacity;
            // Not of the first one: it may have been made for all that will come.
            let middle = (segment != 0) & (offset == capacity / 2);

            let mut wait = false;
            // Nearly always nobody needs a segment.
            if team.group().any(!room | middle) {
                // Who needs the next one, or else who makes it ahead of time.
                let late = team.ballot(!room);
                let early = team.ballot(middle);
                let maker = select(late.is_empty(), early.last(), late.last());
                if lane == maker {
                    let next = segment + 1;
                    let mut code = AllocError::Exhausted.code();
                    if next < segments(log2) {
                        let made = Self::segment(heap, segment_word(at, next), capacity * 2);
                        code = made.code;
                        wait = made.block == GROWING;
                        if !room & !wait & (code == 0) {
                            // Who reads the number of the segment is to find it.
                            words.release();
                            let then = State {
                                segment: next,
                                log2,
                            };
                            words.compare_exchange(at + STATE, state, then.word());
                        }
                    }
                    failed = select(room, 0, code);
                }
                team.group().barrier();
                failed = team.group().shuffle(failed, select(room, lane, maker));
            }

            if room {
                value.put(words, element::<T, _>(words, at, log2, block, offset));
                index = first(log2, segment) + offset;
            } else if wait {
                arch::pause(PAUSE);
            }
            round += 1;
            let lasts = !room & (failed == 0);
            let rounds = ROUNDS + (capacity >> ELEMENTS_A_ROUND_LOG2);
            if lasts & (round >= rounds) {
                failed = AllocError::Contended.code();
            }
            going = lasts & (round < rounds);
        }
        if failed == 0 {
            Ok(index)
        } else {
            Err(AllocError::from_code(failed))
        }
    }

    /// The segment whose word is `word`, allocated here if nobody has begun to.
    #[inline(always)]
    fn segment<A: DeviceAlloc>(heap: Heap<A>, word: usize, capacity: u32) -> Made {
        let words = heap.memory();
        let mut made = Made {
            block: words.load(word),
            code: 0,
        };
        if made.block == 0 {
            made.block = words.compare_exchange(word, 0, GROWING);
            if made.block == 0 {
                match heap.malloc_rarely(layout::array::<T>(capacity)) {
                    Ok(block) => made.block = block.granule() + 1,
                    Err(error) => made.code = error.code(),
                }
                words.release();
                words.store(word, made.block);
            }
        }
        // Of another lane's block: who is told of it by this lane may write it.
        words.acquire();
        made
    }
}

/// What came of making a segment.
#[derive(Clone, Copy)]
struct Made {
    /// The segment's word: [`GROWING`] while somebody else makes it, 0 if there is no memory.
    block: u32,
    /// The error, or 0.
    code: u32,
}

/// Takes places of a segment for so many lanes by one addition to its counter: the count before, where places from
/// `capacity` on are not there.
///
/// In the first round of a push the addition is made without a look, since there nearly always are places. An addition to
/// a full counter is taken back: so it exceeds the capacity by no more than the lanes that are about it, and never wraps.
/// A counter that is full once stays so: what is taken back was added to one that was full already.
#[inline(always)]
fn claim<M: HeapMemory>(words: M, counter: usize, capacity: u32, number: u32, round: u32) -> u32 {
    let mut count = capacity;
    if round != 0 {
        count = words.load(counter);
    }
    if (round == 0) | (count < capacity) {
        count = words.fetch_add(counter, number);
        if count >= capacity {
            words.fetch_sub(counter, number);
        }
    }
    count
}
