//! The idioms as litmus tests for PTX's memory model ([`ptx`](crate::ptx)), where threads follow one path.

use crate::check::{Out, Says};
use crate::ptx::{Op, Program, Verdict};
use Op::{Acquire, Barrier, Load, Read, Release, Rmw, Store, When, Write};

/// A litmus test and what the model should say without some fences.
pub struct Litmus {
    pub name: &'static str,
    pub source: &'static str,
    pub program: fn(Out) -> Program,
    pub mutants: &'static [(&'static str, Out, Says)],
}

impl Litmus {
    pub fn explore(&self, out: Out) -> Verdict {
        (self.program)(out).explore()
    }
}

const F0: Out = Out::fence(0);
const F1: Out = Out::fence(1);
const F2: Out = Out::fence(2);
const F3: Out = Out::fence(3);

/// A thread, without the fences that are left out.
fn thread(out: Out, ops: &[(Option<Out>, Op)]) -> Vec<Op> {
    let there = |(fence, _): &&(Option<Out>, Op)| !fence.is_some_and(|fence| out.has(fence));
    ops.iter().filter(there).map(|&(_, op)| op).collect()
}

const fn op(op: Op) -> (Option<Out>, Op) {
    (None, op)
}

const fn release(which: Out) -> (Option<Out>, Op) {
    (Some(which), Release)
}

const fn acquire(which: Out) -> (Option<Out>, Op) {
    (Some(which), Acquire)
}

fn never(_: &[u32]) -> bool {
    false
}

/// Word 0 is the bits, 1 the block, 2 the count.
fn claim(out: Out) -> Program {
    let free = [
        op(Write(1, 7)),
        release(F0),
        op(Rmw(0, |bits| bits & !1)),
        op(Rmw(2, |count| count - 1)),
    ];
    let malloc = [
        op(Rmw(0, |bits| bits | 1)),
        op(When(0)),
        op(Rmw(2, |count| count + 1)),
        acquire(F1),
        op(Write(1, 1)),
    ];
    Program {
        memory: vec![1, 0, 1],
        threads: vec![thread(out, &free), thread(out, &malloc)],
        bad: |memory| memory[1] != 1 || memory[2] != 1,
    }
}

/// Word 0 is the chunk's word: count 1 of the old class, 10 locked, 20 and more the new class.
fn rename(out: Out) -> Program {
    let free = [op(Write(1, 7)), release(F0), op(Rmw(0, |count| count - 1))];
    let hold = [
        op(Rmw(0, |_| 10)),
        op(When(0)),
        acquire(F1),
        release(F2),
        op(Rmw(0, |locked| locked + 11)),
    ];
    let reach = [
        op(Rmw(0, |count| count + 1)),
        op(When(21)),
        acquire(F3),
        op(Write(1, 2)),
    ];
    Program {
        memory: vec![1, 0],
        threads: [&free[..], &hold, &reach]
            .map(|ops| thread(out, ops))
            .into(),
        bad: never,
    }
}

/// Word 0 is the bits, 1 and 2 the blocks of two lanes. `early` and `late`: on the wrong side of the barrier.
fn warp(out: Out) -> Program {
    let (early, late) = (out.has(F2), out.has(F3));
    let wrong = |first: Op, second: Op, swap: bool| {
        if swap {
            [second, first]
        } else {
            [first, second]
        }
    };
    let freed = wrong(Barrier(0), Release, early);
    let got = wrong(Acquire, Barrier(1), late);
    let free = [&[Write(1, 7)], &freed[..], &[Rmw(0, |bits| bits & !3)]].concat();
    let free_other = [&[Write(2, 7)], &freed[..]].concat();
    let malloc = [
        &[Rmw(0, |bits| bits | 3), When(0)],
        &got[..],
        &[Write(1, 1)],
    ]
    .concat();
    // Its write depends on what the leader read.
    let malloc_other = [&got[..], &[Write(2, 1)]].concat();
    Program {
        memory: vec![3, 0, 0],
        threads: vec![free, free_other, malloc, malloc_other],
        bad: never,
    }
}

/// Word 0 is the next node's, 1 the head, 2 the node.
fn pass_on(out: Out) -> Program {
    let send = [op(Write(2, 7)), release(F0), op(Store(0, 1))];
    let pass = [
        op(Load(0)),
        op(When(1)),
        acquire(F1),
        release(F2),
        op(Rmw(1, |_| 1)),
    ];
    let receive = [op(Load(1)), op(When(1)), acquire(F3), op(Read(2))];
    Program {
        memory: vec![0; 3],
        threads: [&send[..], &pass, &receive]
            .map(|ops| thread(out, ops))
            .into(),
        bad: never,
    }
}

/// Word 0 is the state, 1 and 2 the value: a reader that finds the new second word and the old state twice.
fn torn(out: Out) -> Program {
    let write = [
        op(Rmw(0, |state| state | 2)),
        op(When(1)),
        release(F0),
        op(Store(1, 1)),
        op(Store(2, 1)),
        release(F1),
        op(Rmw(0, |state| state + 2)),
    ];
    let read = [
        op(Load(0)),
        op(When(1)),
        acquire(F2),
        op(Load(1)),
        op(When(0)),
        op(Load(2)),
        op(When(1)),
        acquire(F3),
        op(Load(0)),
        op(When(1)),
        op(Store(3, 1)),
    ];
    Program {
        memory: vec![1, 0, 0, 0],
        threads: vec![thread(out, &write), thread(out, &read)],
        bad: |memory| memory[3] == 1,
    }
}

/// The same with the new state twice and the old second word.
fn stale(out: Out) -> Program {
    let mut program = torn(out);
    let read = [
        op(Load(0)),
        op(When(5)),
        acquire(F2),
        op(Load(2)),
        op(When(0)),
        op(Store(3, 1)),
    ];
    program.threads[1] = thread(out, &read);
    program
}

/// Word 0 is the tail, 1 the head, 2 a flag, 3 the number of the second slot, 4 that *empty* was answered.
fn empty(out: Out) -> Program {
    let push = [
        Rmw(0, |_| 2),
        Acquire,
        Release,
        Store(3, 2),
        Release,
        Store(2, 1),
    ];
    let pop = [
        op(Load(2)),
        op(When(1)),
        op(Acquire),
        release(F0),
        op(Rmw(1, |_| 1)),
    ];
    let ask = [
        op(Load(1)),
        op(When(1)),
        op(Load(3)),
        op(When(1)),
        acquire(F1),
        op(Load(0)),
        op(When(1)),
        op(Store(4, 1)),
    ];
    Program {
        memory: vec![1, 0, 0, 1, 0],
        threads: vec![push.into(), thread(out, &pop), thread(out, &ask)],
        bad: |memory| memory[4] == 1,
    }
}

/// Word 0 is a page's count, 1 its marks, which are bits of chunks in another use. A lane clears a mark that others
/// clear, too, and leaves; the last one made the page free; the next owner claims a bit where the mark was.
fn marks(out: Out) -> Program {
    let free = [
        op(Rmw(1, |marks| marks & !1)),
        release(F0),
        op(Rmw(0, |count| count - 1)),
    ];
    let malloc = [
        op(Rmw(0, |_| 10)),
        op(When(0)),
        acquire(F1),
        op(Rmw(1, |bits| bits | 1)),
        op(When(0)),
    ];
    Program {
        memory: vec![1, 0],
        threads: vec![thread(out, &free), thread(out, &malloc)],
        bad: |memory| memory[1] == 0,
    }
}

use Says::{Caught, Holds};

pub const LITMUS: &[Litmus] = &[
    Litmus {
        name: "claim and free",
        source: "warp_heap/quick.rs, release.rs",
        program: claim,
        mutants: &[
            ("free: release", F0, Caught),
            ("malloc: acquire", F1, Caught),
        ],
    },
    Litmus {
        name: "renaming an idle chunk",
        source: "warp_heap/chunk.rs hold",
        program: rename,
        mutants: &[
            ("free: release", F0, Caught),
            ("hold: acquire and release", F1.and(F2), Holds),
            ("malloc: acquire", F3, Caught),
        ],
    },
    Litmus {
        name: "free and malloc of a warp",
        source: "arch/group.rs",
        program: warp,
        mutants: &[
            ("free: release before the barrier", F2, Caught),
            ("malloc: acquire after the barrier", F3, Caught),
        ],
    },
    Litmus {
        name: "mailbox, passed on",
        source: "container/chunk_queue/mod.rs try_pop",
        program: pass_on,
        mutants: &[
            ("send: release", F0, Caught),
            ("between: acquire", F1, Caught),
            ("between: release", F2, Caught),
            ("receive: acquire", F3, Caught),
        ],
    },
    Litmus {
        name: "leaf: words of two values",
        source: "container/map/leaf.rs revive, mod.rs read_or",
        program: torn,
        mutants: &[
            ("revive: release before the value", F0, Caught),
            ("read: acquire after the value", F3, Caught),
        ],
    },
    Litmus {
        name: "leaf: an old value",
        source: "container/map/leaf.rs revive, mod.rs read_or",
        program: stale,
        mutants: &[
            ("revive: release after the value", F1, Caught),
            ("read: acquire before the value", F2, Caught),
        ],
    },
    Litmus {
        name: "queue: empty (a release not in the device code)",
        source: "container/queue.rs claim",
        program: empty,
        mutants: &[
            ("as in the device code: no release", F0, Caught),
            ("claim: acquire", F1, Caught),
        ],
    },
    Litmus {
        name: "a page's marks (fences not in the device code)",
        source: "alloc/scatter/page.rs free_chunks",
        program: marks,
        mutants: &[
            ("as in the device code: none", F0.and(F1), Caught),
            ("no release", F0, Caught),
            ("no acquire", F1, Caught),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hold_and_mutants() {
        for litmus in LITMUS {
            let whole = litmus.explore(Out::NONE);
            assert_eq!(whole.bad, None, "{}", litmus.name);
            for &(name, out, says) in litmus.mutants {
                let bad = litmus.explore(out).bad;
                assert_eq!(bad.is_some(), says == Caught, "{}: {name}", litmus.name);
            }
        }
    }
}
