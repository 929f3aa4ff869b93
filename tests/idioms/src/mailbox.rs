//! Handing a block over through a word.
//!
//! Device: `docs/kernels.md` (what lanes do that hand data to each other); the map's slot of a new leaf,
//! `container/map/trie.rs` `enter` and `find`, is the same with a compare-and-swap. Passing on is
//! `container/chunk_queue/mod.rs` `try_pop` (`push` does it, too): a lane that finds the next node makes it known by
//! another word.
//!
//! Claim: who finds the handle finds what was written before. The lane that got it may free the block: then the next
//! owner comes after both.

use crate::check::{BROKEN, Idiom, Mutant, Out, Program, Says::Caught};
use crate::memory::{Plain, Word};
use std::sync::Arc;

const SEND: Out = Out::fence(0);
const RECEIVE: Out = Out::fence(1);
const FREE: Out = Out::fence(2);
const MALLOC: Out = Out::fence(3);
const PASS_ACQUIRE: Out = Out::fence(4);
const PASS_RELEASE: Out = Out::fence(5);

struct Heap {
    mailbox: Word,
    other: Word,
    bits: Word,
    block: Plain,
}

fn heap() -> Heap {
    Heap {
        mailbox: Word::new(0),
        other: Word::new(0),
        bits: Word::new(1),
        block: Plain::new(0),
    }
}

fn send(heap: &Arc<Heap>, out: Out) {
    heap.block.write(7);
    out.release(SEND);
    heap.mailbox.store(1);
}

fn receive_and_free(heap: &Arc<Heap>, out: Out) {
    if heap.mailbox.load() == 1 {
        out.acquire(RECEIVE);
        assert_eq!(heap.block.read(), 7, "{BROKEN}not what was sent");
        out.release(FREE);
        heap.bits.fetch_and(!1);
    }
}

fn malloc(heap: &Arc<Heap>, out: Out) {
    let got = heap.bits.fetch_or(1) & 1 == 0;
    out.acquire(MALLOC);
    if got {
        heap.block.write(1);
    }
}

fn pass(heap: &Arc<Heap>, out: Out) {
    let next = heap.mailbox.load();
    if next != 0 {
        out.acquire(PASS_ACQUIRE);
        out.release(PASS_RELEASE);
        heap.other.compare_exchange(0, next);
    }
}

fn receive_other(heap: &Arc<Heap>, out: Out) {
    if heap.other.load() == 1 {
        out.acquire(RECEIVE);
        assert_eq!(heap.block.read(), 7, "{BROKEN}not what was sent");
    }
}

fn hand_over(out: Out) -> Program {
    Program::new(heap(), out, &[send, receive_and_free, malloc], |_| ())
}

fn pass_on(out: Out) -> Program {
    Program::new(heap(), out, &[send, pass, receive_other], |_| ())
}

pub const HAND_OVER: Idiom = Idiom {
    name: "mailbox, then free",
    source: "docs/kernels.md, container/map/trie.rs enter",
    program: hand_over,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "send: release",
            out: SEND,
            says: Caught,
        },
        Mutant {
            name: "receive: acquire",
            out: RECEIVE,
            says: Caught,
        },
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
    ],
};

pub const PASS_ON: Idiom = Idiom {
    name: "mailbox, passed on",
    source: "container/chunk_queue/mod.rs try_pop, push",
    program: pass_on,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "send: release",
            out: SEND,
            says: Caught,
        },
        Mutant {
            name: "between: acquire",
            out: PASS_ACQUIRE,
            says: Caught,
        },
        Mutant {
            name: "between: release",
            out: PASS_RELEASE,
            says: Caught,
        },
        Mutant {
            name: "receive: acquire",
            out: RECEIVE,
            says: Caught,
        },
    ],
};

crate::tests!(HAND_OVER, PASS_ON);
