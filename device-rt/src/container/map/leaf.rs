//! A leaf: a state, the key, the value; and the rules by which lanes change them.
//!
//! The key never changes, and a leaf that hangs in a slot stays there while lanes use the map. Whether the
//! key is there is the bit [`PRESENT`] of the state; removing clears it, inserting again sets it.
//!
//! *Values of more than one word* are written under the bit [`LOCKED`], and each write gives the state a new
//! version: who reads looks at the state before and after.
//!
//! *Values of one word* are changed by one atomic while the key is there, without the lock. Such a change may
//! be late: the key was removed after the lane saw it. It then counts as done before that, and must not be
//! seen afterwards. Who inserts the key again writes the value under the lock, which could be before the late
//! change and its [`revive`] after it. So a lane looks at the state once more after its change, and if it
//! sees a lock, gives the state a new version: a revival that had written the value before fails and
//! writes it again, and one that was complete was so before the lane's call ended, so the change counts as
//! done after it.

use super::slot::first_word;
use super::words::WordSource;
use crate::arch;
use warpheap_api::{AllocError, HeapMemory};

/// Whether a key was there before a call.
///
/// In place of a `bool`, which as part of a `Result` does not compile for Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Before {
    /// It was not.
    Absent = 1,
    /// It was.
    Present = 2,
}

impl Before {
    /// Whether it was there.
    #[inline(always)]
    pub fn was_there(self) -> bool {
        self as u32 == Before::Present as u32
    }

    #[inline(always)]
    pub(super) fn of(present: bool) -> Self {
        if present {
            Before::Present
        } else {
            Before::Absent
        }
    }
}

/// The key is there.
pub const PRESENT: u32 = 1;
/// A lane is writing the value.
pub const LOCKED: u32 = 2;
/// One version; the rest of the state counts them.
pub const VERSION: u32 = 4;

/// How often a lane tries again where others change the same leaf.
pub const MOST_ROUNDS: u32 = 1 << 16;

/// Time for the lane that holds a lock to go on, in nanoseconds: it may be one of the same warp, whose code has parted.
const PAUSE: u32 = 200;

/// Lets a lane that holds the lock of this state go on, if there is one.
#[inline(always)]
pub fn give_way(seen: u32) {
    if seen & LOCKED != 0 {
        arch::pause(PAUSE);
    }
}

/// Fills the block of a new leaf.
#[inline(always)]
pub fn write_new<M: HeapMemory, K: WordSource, V: WordSource>(
    memory: M,
    word: usize,
    key: K,
    value: V,
) {
    memory.write(word, PRESENT);
    let mut i = 0;
    while i < key.words() {
        memory.write(word + 1 + i as usize, key.word(i));
        i += 1;
    }
    let first = value_word(word, key.words());
    let mut i = 0;
    while i < value.words() {
        memory.write(first + i as usize, value.word(i));
        i += 1;
    }
}

/// The first word of the value in a leaf that begins at `word`.
#[inline(always)]
pub fn value_word(word: usize, key_words: u32) -> usize {
    word + 1 + key_words as usize
}

/// Writes a value under the lock, if the state is still `seen`, an unlocked one; the key is there
/// afterwards. Gives false, and the key is as much there as before, if others came in between.
#[inline(always)]
pub fn revive<M: HeapMemory, V: WordSource>(
    memory: M,
    state: usize,
    seen: u32,
    first: usize,
    value: V,
) -> bool {
    let held = seen | LOCKED;
    let mut done = false;
    if memory.compare_exchange(state, seen, held) == seen {
        memory.acquire();
        memory.release();
        let mut i = 0;
        while i < value.words() {
            memory.store(first + i as usize, value.word(i));
            i += 1;
        }
        memory.release();
        let new = seen.wrapping_add(VERSION) | PRESENT;
        done = memory.compare_exchange(state, held, new) == held;
        if !done {
            memory.fetch_and(state, !LOCKED);
        }
    }
    done
}

/// What a lane does after it changed a value of one word by an atomic.
#[inline(always)]
pub fn changed<M: HeapMemory>(memory: M, state: usize) {
    // The change came before the value that is written under a lock, or this lane knows of the lock: who takes it releases that
    // before the value.
    memory.acquire();
    if memory.load(state) & LOCKED != 0 {
        memory.fetch_add(state, VERSION);
    }
}

/// Brings `value` to a leaf that was there before. Where the key is there, `live` does with it what it
/// likes, given the state, and says whether that is done; otherwise the key is there again with this
/// value.
///
/// # Errors
/// `Contended`.
#[inline(always)]
pub fn settle<M: HeapMemory, V: WordSource>(
    memory: M,
    leaf: u32,
    key_words: u32,
    value: V,
    live: impl Fn(u32) -> bool,
) -> Result<Before, AllocError> {
    let state = first_word(memory, leaf);
    let first = value_word(state, key_words);
    // 1: it was there; 2: it is there again.
    let mut answer = 0;
    let mut round = 0;
    while (answer == 0) & (round < MOST_ROUNDS) {
        round += 1;
        let seen = memory.load(state);
        memory.acquire();
        if seen & PRESENT != 0 {
            answer = live(seen) as u32;
        } else if seen & LOCKED == 0 {
            answer = (revive(memory, state, seen, first, value) as u32) * 2;
        }
        give_way(seen);
    }
    if answer == 0 {
        return Err(AllocError::Contended);
    }
    Ok(Before::of(answer == 1))
}

/// Removes the key of a leaf; whether it was there.
///
/// # Errors
/// `Contended`.
#[inline(always)]
pub fn remove<M: HeapMemory>(memory: M, leaf: u32) -> Result<Before, AllocError> {
    let state = first_word(memory, leaf);
    // 1: it was not there; 2: it is no longer.
    let mut answer = 0;
    let mut round = 0;
    while (answer == 0) & (round < MOST_ROUNDS) {
        round += 1;
        let seen = memory.load(state);
        if seen & PRESENT == 0 {
            answer = 1;
        } else if seen & LOCKED == 0 {
            // What this lane did with the value comes before.
            memory.release();
            let new = seen.wrapping_add(VERSION) & !PRESENT;
            answer = (memory.compare_exchange(state, seen, new) == seen) as u32 * 2;
        }
        give_way(seen);
    }
    if answer == 0 {
        return Err(AllocError::Contended);
    }
    Ok(Before::of(answer == 2))
}

/// Takes the key of a leaf out, where nobody else uses the map.
#[inline(always)]
pub fn kill<M: HeapMemory>(memory: M, leaf: u32) {
    memory.fetch_and(first_word(memory, leaf), !PRESENT);
}

/// Whether the key of a leaf is there.
#[inline(always)]
pub fn is_present<M: HeapMemory>(memory: M, leaf: u32) -> bool {
    memory.load(first_word(memory, leaf)) & PRESENT != 0
}
