//! When a queue says that it is empty.
//!
//! Device: `container/ring/claims.rs` `claim_to_pop` (the head is where the tail is, an acquire between the two looks), without the count in
//! front.
//!
//! Claim: *empty* is answered only if the queue was empty at one moment. Here it never is: one element is in it, a lane
//! pushes another, and a lane that knows of that (by a flag of the program, with release and acquire) pops one.
//!
//! The release before the addition to the head is not in the device code. Without it who sees the new head need
//! not see what the popping lane knew, here the new tail. The device code looks at the tail once more by an addition of nothing.

use crate::check::{BROKEN, Idiom, Mutant, Out, Program, Says::Caught};
use crate::memory::Word;
use std::sync::Arc;

const CLAIM_ACQUIRE: Out = Out::fence(0);
const CLAIM_RELEASE: Out = Out::fence(1);

struct Queue {
    tail: Word,
    head: Word,
    /// Whether the element of a position is there.
    there: [Word; 2],
    flag: Word,
}

impl Queue {
    fn push(&self, out: Out) {
        let position = self.tail.fetch_add(1);
        out.release(Out::NONE);
        self.there[position as usize].store(1);
    }

    /// Whether the queue is said to be empty.
    fn pop(&self, out: Out) -> bool {
        let head = self.head.load();
        if self.there[head as usize & 1].load() != 0 {
            out.release(CLAIM_RELEASE);
            self.head.fetch_add(1);
            return false;
        }
        out.acquire(CLAIM_ACQUIRE);
        head >= self.tail.load()
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
        there: [1, 0].map(Word::new),
        flag: Word::new(0),
    };
    Program::new(queue, out, &[pushes, pops, asks], |_| ())
}

pub const EMPTY: Idiom = Idiom {
    name: "queue: empty (a release not in the device code)",
    source: "container/ring/claims.rs claim_to_pop",
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
