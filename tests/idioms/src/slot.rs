//! A slot of the bounded queue.
//!
//! Device: `container/queue.rs` `try_push`, `try_pop`, `claim`: a slot has a number that says for which position it is
//! ready; a position is claimed by a compare-and-swap, for one lane here.
//!
//! Claim: an element is read after it was written, and overwritten after it was read; elements come in order.

use crate::check::{BROKEN, Idiom, Mutant, Note, Out, Program, Says::Caught};
use crate::memory::{Plain, Word};
use std::sync::Arc;

const SLOTS: u32 = 2;
/// The device code tries 2048 times.
const ROUNDS: u32 = 2;

const PUSH_ACQUIRE: Out = Out::fence(0);
const PUSH_RELEASE: Out = Out::fence(1);
const POP_ACQUIRE: Out = Out::fence(2);
const POP_RELEASE: Out = Out::fence(3);

struct Queue {
    tail: Word,
    head: Word,
    numbers: [Word; SLOTS as usize],
    elements: [Plain; SLOTS as usize],
    got: [Note; 3],
}

impl Queue {
    /// One round; a position, if one is claimed.
    fn claim(&self, counter: &Word, ready: u32) -> Option<u32> {
        let first = counter.load();
        let number = self.numbers[(first % SLOTS) as usize].load();
        let claimed =
            number == first + ready && counter.compare_exchange(first, first + 1) == first;
        claimed.then_some(first)
    }

    fn push(&self, value: u32, out: Out) -> bool {
        (0..ROUNDS).any(|_| {
            let Some(position) = self.claim(&self.tail, 0) else {
                return false;
            };
            let slot = (position % SLOTS) as usize;
            out.acquire(PUSH_ACQUIRE);
            self.elements[slot].write(value);
            out.release(PUSH_RELEASE);
            self.numbers[slot].store(position + 1);
            true
        })
    }

    fn pop(&self, out: Out) -> Option<u32> {
        (0..ROUNDS).find_map(|_| {
            let position = self.claim(&self.head, 1)?;
            let slot = (position % SLOTS) as usize;
            out.acquire(POP_ACQUIRE);
            let value = self.elements[slot].read();
            out.release(POP_RELEASE);
            self.numbers[slot].store(position + SLOTS);
            Some(value)
        })
    }
}

fn pushes(queue: &Arc<Queue>, out: Out) {
    queue.push(3, out);
}

fn pops_once(queue: &Arc<Queue>, out: Out) {
    queue.got[2].set(queue.pop(out).unwrap_or(0));
}

fn pops_twice(queue: &Arc<Queue>, out: Out) {
    queue.got[0].set(queue.pop(out).unwrap_or(0));
    queue.got[1].set(queue.pop(out).unwrap_or(0));
}

fn program(out: Out) -> Program {
    // Full: elements 1 and 2.
    let queue = Queue {
        tail: Word::new(2),
        head: Word::new(0),
        numbers: [1, 2].map(Word::new),
        elements: [1, 2].map(Plain::new),
        got: Default::default(),
    };
    Program::new(queue, out, &[pushes, pops_once, pops_twice], |queue| {
        let got: Vec<u32> = queue.got.iter().map(Note::get).collect();
        let some = |got: &[u32]| -> Vec<u32> { got.iter().copied().filter(|&e| e != 0).collect() };
        assert!(some(&got[..2]).is_sorted(), "{BROKEN}out of order");
        let mut all = some(&got);
        all.sort_unstable();
        let number = all.len() as u32;
        assert!(all.into_iter().eq(1..=number), "{BROKEN}not each once");
    })
}

pub const SLOT: Idiom = Idiom {
    name: "queue slot",
    source: "container/queue.rs try_push, try_pop, claim",
    program,
    preemptions: Some(3),
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
