//! A slot of a ring that was passed over.
//!
//! Device: `container/ring/slots.rs` `put`, `take`. A lane that pops and does not find its element marks the slot and goes. Whoever pushes
//! to a marked slot looks at the head, behind its claim, and goes as well if the head is past its position.
//!
//! Claim: the element of a position is pushed only if it is popped, whoever comes first, here to a slot that has such a mark
//! from before.

use crate::check::{BROKEN, Idiom, Mutant, Out, Program, Says::Caught};
use crate::slot::{PASS_RELEASE, PUSH_ACQUIRE, Ring};
use std::sync::Arc;

fn pushes(ring: &Arc<Ring>, out: Out) {
    ring.pushed.set(ring.push(1, out) as u32);
}

fn pops(ring: &Arc<Ring>, out: Out) {
    ring.got[0].set(ring.pop(out).unwrap_or(0));
}

fn pops_beyond(ring: &Arc<Ring>, out: Out) {
    ring.got[1].set(ring.pop(out).unwrap_or(0));
    ring.got[2].set(ring.pop(out).unwrap_or(0));
}

/// Whoever pops at the slot's next position may mark it before the one whose element it is has come.
fn program_marked_ahead(out: Out) -> Program {
    Program::new(Ring::fresh(), out, &[pushes, pops, pops_beyond], |ring| {
        let got: u32 = ring.got.iter().map(|got| got.get()).sum();
        assert!(
            ring.pushed.get() == got + ring.left(),
            "{BROKEN}lost or made up"
        );
    })
}

fn program(out: Out) -> Program {
    Program::new(Ring::passed_over(), out, &[pushes, pops], |ring| {
        let (pushed, popped) = (ring.pushed.get(), ring.got[0].get());
        assert!(pushed == popped, "{BROKEN}pushed to where nobody comes");
    })
}

pub const PASSED: Idiom = Idiom {
    name: "queue slot, passed over",
    source: "container/ring/slots.rs put, take",
    program,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "take: release before the mark",
            out: PASS_RELEASE,
            says: Caught,
        },
        Mutant {
            name: "put: acquire before the look at the head",
            out: PUSH_ACQUIRE,
            says: Caught,
        },
    ],
};

pub const MARKED_AHEAD: Idiom = Idiom {
    name: "queue slot, marked ahead",
    source: "container/ring/slots.rs put, take",
    program: program_marked_ahead,
    preemptions: Some(3),
    mutants: &[],
};

crate::tests!(PASSED, MARKED_AHEAD);
