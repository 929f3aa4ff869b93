//! When a queue says that it is empty.
//!
//! Device: `container/queue.rs` `claim` (the counters of both ends are equal, an acquire between the two looks). The
//! looks of `container/chunk_queue.rs` `try_pop` have the same order.
//!
//! Claim: *empty* is answered only if the queue was empty at one moment. Here it never is: one element is in it, a lane
//! pushes another, and a lane that knows of that (by a flag of the program, with release and acquire) pops one.
//!
//! The release before the compare-and-swap of a pop is not in the device code. Without it who sees the new head need
//! not see what the popping lane knew, here the new tail.

use crate::check::{BROKEN, Idiom, Mutant, Out, Program, Says::Caught};
use crate::memory::Word;
use std::sync::Arc;

const CLAIM_ACQUIRE: Out = Out::fence(0);
const CLAIM_RELEASE: Out = Out::fence(1);

struct Queue {
    tail: Word,
    head: Word,
    numbers: [Word; 2],
    flag: Word,
}

impl Queue {
    fn push(&self, out: Out) {
        let first = self.tail.load();
        if self.numbers[first as usize & 1].load() == first {
            self.tail.compare_exchange(first, first + 1);
            out.acquire(Out::NONE);
            out.release(Out::NONE);
            self.numbers[first as usize & 1].store(first + 1);
        }
    }

    /// One round; whether the queue is said to be empty.
    fn pop(&self, out: Out) -> bool {
        let first = self.head.load();
        if self.numbers[first as usize & 1].load() == first + 1 {
            out.release(CLAIM_RELEASE);
            if self.head.compare_exchange(first, first + 1) == first {
                out.acquire(Out::NONE);
                out.release(Out::NONE);
                self.numbers[first as usize & 1].store(first + 2);
            }
            return false;
        }
        out.acquire(CLAIM_ACQUIRE);
        first == self.tail.load()
    }
}

fn pushes(queue: &Arc<Queue>, out: Out) {
    queue.push(out);
    out.release(Out::NONE);
    queue.flag.store(1);
}

fn pops(queue: &Arc<Queue>, out: Out) {
    if queue.flag.load() == 1 {
        out.acquire(Out::NONE);
        queue.pop(out);
    }
}

fn asks(queue: &Arc<Queue>, out: Out) {
    assert!(!queue.pop(out), "{BROKEN}it never was empty");
}

fn program(out: Out) -> Program {
    let queue = Queue {
        tail: Word::new(1),
        head: Word::new(0),
        numbers: [1, 1].map(Word::new),
        flag: Word::new(0),
    };
    Program::new(queue, out, &[pushes, pops, asks], |_| ())
}

pub const EMPTY: Idiom = Idiom {
    name: "queue: empty (a release not in the device code)",
    source: "container/queue.rs claim, chunk_queue.rs try_pop",
    program,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "claim: acquire",
            out: CLAIM_ACQUIRE,
            says: Caught,
        },
        Mutant {
            name: "as in the device code: no release",
            out: CLAIM_RELEASE,
            says: Caught,
        },
    ],
};

crate::tests!(EMPTY);
