//! Free and malloc of a warp: one lane writes or reads the word for all.
//!
//! Device: `arch/group.rs` `Group::release` (barrier, then fence), as in `alloc/warp_heap/release.rs` `free_quick`, and
//! `Group::acquire` (fence, then barrier), as in `alloc/warp_heap/quick.rs` `quick`.
//!
//! Claim: what each lane of the one warp did to its block comes before what each lane of the other does to it.
//!
//! A lane is a thread. That the leader joins the other lane's thread, or starts it, stands for the warp barrier: it
//! orders the one lane's accesses before the other's, and no more.

use crate::check::{Idiom, Mutant, Out, Program, Says::Caught, Says::Holds};
use crate::memory::{Plain, Word};
use loom::thread;
use std::sync::Arc;

const RELEASE: Out = Out::fence(0);
const ACQUIRE: Out = Out::fence(1);
/// Not left out but on the wrong side of the barrier.
const EARLY: Out = Out::fence(2);
const LATE: Out = Out::fence(3);
/// The leader does not wait for the other lane.
const ALONE: Out = Out::fence(4);

struct Heap {
    bits: Word,
    blocks: [Plain; 2],
}

fn free(heap: &Arc<Heap>, out: Out) {
    let before = |out: Out| {
        if out.has(EARLY) {
            out.release(RELEASE);
        }
    };
    let lane = {
        let heap = heap.clone();
        thread::spawn(move || {
            heap.blocks[1].write(7);
            before(out);
        })
    };
    heap.blocks[0].write(7);
    before(out);
    let barrier = || lane.join().unwrap();
    if out.has(ALONE) {
        out.release(RELEASE);
        heap.bits.fetch_and(!3);
        return barrier();
    }
    barrier();
    if !out.has(EARLY) {
        out.release(RELEASE);
    }
    heap.bits.fetch_and(!3);
}

fn malloc(heap: &Arc<Heap>, out: Out) {
    if heap.bits.fetch_or(3) & 3 != 0 {
        return;
    }
    let after = |out: Out| {
        if out.has(LATE) {
            out.acquire(ACQUIRE);
        }
    };
    if !out.has(LATE) {
        out.acquire(ACQUIRE);
    }
    let lane = {
        let heap = heap.clone();
        thread::spawn(move || {
            after(out);
            heap.blocks[1].write(1);
        })
    };
    after(out);
    heap.blocks[0].write(1);
    lane.join().unwrap();
}

fn program(out: Out) -> Program {
    let heap = Heap {
        bits: Word::new(3),
        blocks: [0; 2].map(Plain::new),
    };
    Program::new(heap, out, &[free, malloc], |_| ())
}

pub const WARP: Idiom = Idiom {
    name: "free and malloc of a warp",
    source: "arch/group.rs release, acquire",
    program,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "free: release",
            out: RELEASE,
            says: Caught,
        },
        Mutant {
            name: "free: release before the barrier",
            out: EARLY,
            says: Caught,
        },
        Mutant {
            name: "free: release without the barrier",
            out: ALONE,
            says: Caught,
        },
        Mutant {
            name: "malloc: acquire",
            out: ACQUIRE,
            says: Caught,
        },
        Mutant {
            name: "malloc: acquire after the barrier",
            out: LATE,
            // It is wrong, but the checker takes what was read before a thread was started as read by that thread.
            says: Holds,
        },
    ],
};

crate::tests!(WARP);
