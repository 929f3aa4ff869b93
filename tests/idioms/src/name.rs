//! Naming a chunk that is free.
//!
//! Device: `alloc/warp_heap/run.rs` `give_chunk` (a run is freed and its chunk becomes free) and
//! `alloc/warp_heap/quick.rs` `reach`, `named`, `put_back` (of teams that reach for it, the one whose addition found it
//! free adds the name; the others look a few times).
//!
//! Claim: a team that holds a block has it alone, after what the run's owner did; the count at the end is that of the
//! teams that have blocks. No fence is needed between the two additions.

use crate::check::{BROKEN, Idiom, Mutant, Note, Out, Program, Says::Caught};
use crate::memory::{Plain, Word};
use std::sync::Arc;

const SHIFT: u32 = 24;
const NOBODYS: u32 = 0;
const NAME: u32 = 1 << SHIFT;
const UNITS: u32 = 2 << SHIFT;
const RUN: u32 = 3 << SHIFT;
/// The device code looks 16 times.
const LOOKS: u32 = 2;

const FREE: Out = Out::fence(0);
const MALLOC: Out = Out::fence(1);

struct Chunk {
    bits: Word,
    state: Word,
    blocks: [Plain; 2],
    got: [Note; 2],
}

impl Chunk {
    fn give(&self, out: Out) {
        out.release(FREE);
        if self.state.compare_exchange(RUN, NOBODYS) != RUN {
            self.state.fetch_add(UNITS.wrapping_sub(RUN));
        }
    }

    fn malloc(&self, wanted: u32, out: Out) -> bool {
        let old = self.bits.fetch_or(wanted);
        let mut state = self.state.fetch_add(1);
        if state == NOBODYS {
            self.state.fetch_add(NAME);
            state = NAME;
        }
        let mut looks = 0;
        while state >> SHIFT == 0 && looks < LOOKS {
            state = self.state.load();
            looks += 1;
        }
        let got = state >> SHIFT == NAME >> SHIFT && old & wanted == 0;
        if !got {
            self.bits.fetch_and(!(wanted & !old));
            self.state.fetch_sub(1);
        }
        out.acquire(MALLOC);
        got
    }
}

fn team<const NUMBER: usize>(chunk: &Arc<Chunk>, out: Out) {
    if chunk.malloc(1 << NUMBER, out) {
        chunk.blocks[NUMBER].write(1);
        chunk.got[NUMBER].set(1);
    }
}

fn owner(chunk: &Arc<Chunk>, out: Out) {
    chunk.blocks[0].write(7);
    chunk.blocks[1].write(7);
    chunk.give(out);
}

fn program(out: Out) -> Program {
    let chunk = Chunk {
        bits: Word::new(0),
        state: Word::new(RUN),
        blocks: [0; 2].map(Plain::new),
        got: Default::default(),
    };
    Program::new(chunk, out, &[owner, team::<0>, team::<1>], |chunk| {
        let held = chunk.got[0].get() + chunk.got[1].get();
        let count = chunk.state.load() & 0xff_ffff;
        assert_eq!(count, held, "{BROKEN}the count");
        assert_eq!(chunk.bits.load().count_ones(), held, "{BROKEN}the bits");
    })
}

pub const NAMING: Idiom = Idiom {
    name: "naming a free chunk",
    source: "warp_heap/quick.rs named, run.rs give_chunk",
    program,
    preemptions: Some(4),
    mutants: &[
        Mutant {
            name: "free of the run: release",
            out: FREE,
            says: Caught,
        },
        Mutant {
            name: "malloc: acquire",
            out: MALLOC,
            says: Caught,
        },
    ],
};

crate::tests!(NAMING);
