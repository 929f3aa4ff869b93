//! Claim by `or` and count, free by `and` and count.
//!
//! Device: `alloc/warp_heap/quick.rs` `reach`, `put_back` (malloc) and `alloc/warp_heap/release.rs` `free_quick`
//! (free). Without the count it is `alloc/random_walk/walk.rs` `reach`; with the count first it is
//! `alloc/scatter/quick.rs` `take_at_once`.
//!
//! Claim: whoever finds its bit clear has the block alone, and what the former owner did to it comes before. At the
//! end bits and count are zero.

use crate::check::{BROKEN, Idiom, Mutant, Out, Program, Says::Caught};
use crate::memory::{Plain, Word};
use std::sync::Arc;

const TAG: u32 = 1 << 24;
const FREE: Out = Out::fence(0);
const MALLOC: Out = Out::fence(1);

struct Chunk {
    bits: Word,
    state: Word,
    block: Plain,
}

impl Chunk {
    fn malloc(&self, wanted: u32, out: Out) -> bool {
        let old = self.bits.fetch_or(wanted);
        let held = self.state.fetch_add(1) >> 24 == TAG >> 24;
        let got = held && old & wanted == 0;
        if !got {
            let surplus = wanted & !old;
            if surplus != 0 {
                self.bits.fetch_and(!surplus);
            }
            self.state.fetch_sub(1);
        }
        out.acquire(MALLOC);
        got
    }

    fn free(&self, bit: u32, out: Out) {
        out.release(FREE);
        self.bits.fetch_and(!bit);
        self.state.fetch_sub(1);
    }
}

fn lane(chunk: &Arc<Chunk>, out: Out) {
    if chunk.malloc(1, out) {
        chunk.block.write(1);
        chunk.free(1, out);
    }
}

fn program(out: Out, lanes: &[fn(&Arc<Chunk>, Out)]) -> Program {
    let chunk = Chunk {
        bits: Word::new(0),
        state: Word::new(TAG),
        block: Plain::new(0),
    };
    Program::new(chunk, out, lanes, |chunk| {
        let end = (chunk.bits.load(), chunk.state.load());
        assert_eq!(end, (0, TAG), "{BROKEN}something is left");
    })
}

const MUTANTS: &[Mutant] = &[
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
];

pub const TWO: Idiom = Idiom {
    name: "claim and free, 2 lanes",
    source: "warp_heap/quick.rs reach, release.rs free_quick",
    program: |out| program(out, &[lane, lane]),
    preemptions: None,
    mutants: MUTANTS,
};

pub const THREE: Idiom = Idiom {
    name: "claim and free, 3 lanes",
    program: |out| program(out, &[lane, lane, lane]),
    preemptions: Some(3),
    ..TWO
};

crate::tests!(TWO, THREE);
