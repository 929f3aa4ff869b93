//! A slot of a ring, of which both queues are made.
//!
//! Device: `container/ring/slots.rs` `put`, `take`. Positions are given by additions, here without the counts in front. A slot's word has
//! the lap of whoever pushed there last, and what became of the element.
//!
//! Claim: an element is read after it was written, and overwritten after it was read; elements come in order; what was pushed is
//! there or was popped.

use crate::check::{BROKEN, Idiom, Mutant, Note, Out, Program, Says::Caught};
use crate::memory::{Plain, Word};
use std::sync::Arc;

const SLOTS: u32 = 2;
const BUSY: u32 = 1;
const WRITTEN: u32 = 2;
const PASSED: u32 = 4;
/// One lap, in a slot's word.
const LAP: u32 = 8;
/// The device code looks 64 times.
const LOOKS: u32 = 2;

pub const PUSH_ACQUIRE: Out = Out::fence(0);
const PUSH_RELEASE: Out = Out::fence(1);
const POP_ACQUIRE: Out = Out::fence(2);
const POP_RELEASE: Out = Out::fence(3);
pub const PASS_RELEASE: Out = Out::fence(4);

/// Two slots in lap 1, positions 2 and 3, and what came of the operations.
pub struct Ring {
    tail: Word,
    head: Word,
    slots: [Word; SLOTS as usize],
    elements: [Plain; SLOTS as usize],
    pub got: [Note; 3],
    pub pushed: Note,
}

impl Ring {
    /// With elements 1 and 2.
    fn full() -> Self {
        Self::new(4, [LAP | BUSY | WRITTEN; 2], [1, 2])
    }

    /// With nothing, where the first slot was passed over once.
    pub fn passed_over() -> Self {
        Self::new(2, [PASSED; 2], [0, 0])
    }

    /// With nothing.
    pub fn fresh() -> Self {
        Self::new(2, [0, 0], [0, 0])
    }

    fn new(tail: u32, slots: [u32; 2], elements: [u32; 2]) -> Self {
        Ring {
            tail: Word::new(tail),
            head: Word::new(2),
            slots: slots.map(Word::new),
            elements: elements.map(Plain::new),
            got: Default::default(),
            pushed: Note::default(),
        }
    }

    pub fn push(&self, value: u32, out: Out) -> bool {
        let position = self.tail.fetch_add(1);
        let (slot, lap) = ((position % SLOTS) as usize, position / SLOTS * LAP);
        let mut state = lap - LAP;
        let mut mine = false;
        for _ in 0..LOOKS {
            let found = self.slots[slot].compare_exchange(state, lap | BUSY);
            mine = found == state;
            if mine || found & !(LAP - 1) >= lap {
                break;
            }
            state = found & !(BUSY | WRITTEN);
        }
        if !mine {
            return false;
        }
        out.acquire(PUSH_ACQUIRE);
        let mut lost = state & PASSED != 0 && self.head.load() > position;
        if !lost {
            self.elements[slot].write(value);
        }
        out.release(PUSH_RELEASE);
        if !lost {
            // By an `or` the element would be there for a moment where it is not to be.
            let written = lap | BUSY | WRITTEN;
            lost = self.slots[slot].compare_exchange(lap | BUSY, written) != lap | BUSY;
        }
        if lost {
            self.slots[slot].store(lap | PASSED);
        }
        !lost
    }

    pub fn pop(&self, out: Out) -> Option<u32> {
        let position = self.head.fetch_add(1);
        let (slot, lap) = ((position % SLOTS) as usize, position / SLOTS * LAP);
        for look in 0..=LOOKS {
            let last = look == LOOKS;
            let state = if last {
                out.release(PASS_RELEASE);
                self.slots[slot].fetch_or(PASSED)
            } else {
                self.slots[slot].load()
            };
            let of = state & !(LAP - 1);
            if of == lap && state & WRITTEN != 0 {
                out.acquire(POP_ACQUIRE);
                let value = self.elements[slot].read();
                out.release(POP_RELEASE);
                self.slots[slot].fetch_and(!(BUSY | WRITTEN));
                return Some(value);
            }
            if of > lap || (of == lap && state & BUSY == 0) {
                break;
            }
        }
        None
    }

    /// Elements that somebody can still pop.
    pub fn left(&self) -> u32 {
        let head = self.head.load();
        let there = (0..SLOTS).filter(|&slot| {
            let state = self.slots[slot as usize].load();
            state & WRITTEN != 0 && state / LAP * SLOTS + slot >= head
        });
        there.count() as u32
    }
}

fn pushes(ring: &Arc<Ring>, out: Out) {
    ring.pushed.set(ring.push(3, out) as u32);
}

fn pops_once(ring: &Arc<Ring>, out: Out) {
    ring.got[2].set(ring.pop(out).unwrap_or(0));
}

fn pops_twice(ring: &Arc<Ring>, out: Out) {
    ring.got[0].set(ring.pop(out).unwrap_or(0));
    ring.got[1].set(ring.pop(out).unwrap_or(0));
}

fn program(out: Out) -> Program {
    Program::new(
        Ring::full(),
        out,
        &[pushes, pops_once, pops_twice],
        |ring| {
            let got: Vec<u32> = ring.got.iter().map(Note::get).collect();
            let some =
                |got: &[u32]| -> Vec<u32> { got.iter().copied().filter(|&e| e != 0).collect() };
            assert!(some(&got[..2]).is_sorted(), "{BROKEN}out of order");
            let mut all = some(&got);
            all.sort_unstable();
            let number = all.len() as u32;
            assert!(all.into_iter().eq(1..=number), "{BROKEN}not each once");
            let pushed = 2 + ring.pushed.get();
            assert!(number + ring.left() == pushed, "{BROKEN}lost or made up");
        },
    )
}

pub const SLOT: Idiom = Idiom {
    name: "queue slot",
    source: "container/ring/slots.rs put, take",
    program,
    preemptions: Some(2),
    mutants: &[
        Mutant {
            name: "push: acquire",
            out: PUSH_ACQUIRE,
            says: Caught,
        },
        Mutant {
            name: "push: release",
            out: PUSH_RELEASE,
            says: Caught,
        },
        Mutant {
            name: "pop: acquire",
            out: POP_ACQUIRE,
            says: Caught,
        },
        Mutant {
            name: "pop: release",
            out: POP_RELEASE,
            says: Caught,
        },
    ],
};

crate::tests!(SLOT);
