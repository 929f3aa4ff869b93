//! Giving an idle chunk another use.
//!
//! Device: `alloc/warp_heap/chunk.rs` `hold` (the count is zero: a compare-and-swap locks the chunk, a look at its bits,
//! the new name); `alloc/warp_heap/run.rs` `take_chunk` does the same. Beside it a team that reaches for the new class
//! (`alloc/warp_heap/quick.rs` `reach`), and the free of the last block of the old class
//! (`alloc/warp_heap/release.rs` `free_quick`).
//!
//! Claim: what the old block's owner did comes before what those of the new blocks do, which lie where the old one
//! did. It is the count that hands over, not the bits: all that changes it is read-modify-write, so a reader of any
//! later count is ordered after each free before. So the two fences in `hold` are not needed for that.

use crate::check::{BROKEN, Idiom, Mutant, Out, Program, Says::Caught, Says::Holds};
use crate::memory::{Plain, Word};
use std::sync::Arc;

const SHIFT: u32 = 24;
const OLD: u32 = 1 << SHIFT;
const NEW: u32 = 2 << SHIFT;
const LOCKED: u32 = 3 << SHIFT;

const FREE: Out = Out::fence(0);
const HOLD_ACQUIRE: Out = Out::fence(1);
const HOLD_RELEASE: Out = Out::fence(2);
const MALLOC: Out = Out::fence(3);

struct Chunk {
    bits: Word,
    state: Word,
    halves: [Plain; 2],
}

impl Chunk {
    /// The one block of the old class, both halves.
    fn free(&self, out: Out) {
        out.release(FREE);
        self.bits.fetch_and(!1);
        self.state.fetch_sub(1);
    }

    fn hold(&self, out: Out) -> bool {
        if self.state.load() != OLD || self.state.compare_exchange(OLD, LOCKED) != OLD {
            return false;
        }
        let held = self.bits.load() == 0;
        out.acquire(HOLD_ACQUIRE);
        out.release(HOLD_RELEASE);
        let next = if held { NEW + 1 } else { OLD };
        self.state.fetch_add(next.wrapping_sub(LOCKED));
        held
    }

    /// A block of the new class, on which the group holds a count already.
    fn claim(&self, bit: u32) -> bool {
        let got = self.bits.fetch_or(bit) & bit == 0;
        if !got {
            self.state.fetch_sub(1);
        }
        got
    }

    fn reach(&self, bit: u32) -> bool {
        let old = self.bits.fetch_or(bit);
        let held = self.state.fetch_add(1) >> SHIFT == NEW >> SHIFT;
        let got = held && old & bit == 0;
        if !got {
            self.bits.fetch_and(!(bit & !old));
            self.state.fetch_sub(1);
        }
        got
    }
}

fn locker(chunk: &Arc<Chunk>, out: Out) {
    let got = chunk.hold(out) && chunk.claim(1);
    out.acquire(MALLOC);
    if got {
        chunk.halves[0].write(1);
    }
}

fn other(chunk: &Arc<Chunk>, out: Out) {
    let got = chunk.reach(2);
    out.acquire(MALLOC);
    if got {
        chunk.halves[1].write(2);
    }
}

fn owner(chunk: &Arc<Chunk>, out: Out) {
    chunk.halves[0].write(7);
    chunk.halves[1].write(7);
    chunk.free(out);
}

fn program(out: Out) -> Program {
    let chunk = Chunk {
        bits: Word::new(1),
        state: Word::new(OLD + 1),
        halves: [0; 2].map(Plain::new),
    };
    Program::new(chunk, out, &[owner, locker, other], |chunk| {
        let count = chunk.state.load() & 0xff_ffff;
        assert_eq!(chunk.bits.load().count_ones(), count, "{BROKEN}the count");
    })
}

pub const RENAMING: Idiom = Idiom {
    name: "renaming an idle chunk",
    source: "warp_heap/chunk.rs hold, run.rs take_chunk",
    program,
    preemptions: Some(4),
    mutants: &[
        Mutant {
            name: "free: release",
            out: FREE,
            says: Caught,
        },
        Mutant {
            name: "malloc: acquire",
            out: MALLOC,
            says: Caught,
        },
        Mutant {
            name: "hold: acquire",
            out: HOLD_ACQUIRE,
            says: Holds,
        },
        Mutant {
            name: "hold: release",
            out: HOLD_RELEASE,
            says: Holds,
        },
        Mutant {
            name: "hold: acquire and release",
            out: HOLD_ACQUIRE.and(HOLD_RELEASE),
            says: Holds,
        },
    ],
};

crate::tests!(RENAMING);
