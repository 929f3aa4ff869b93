//! What the model forbids, by the names of the ISA, and what a race is. Fence-SC is missing: there is no `fence.sc`.

use super::event::Event;
use super::execution::Execution;
use super::relation::Relation;

/// Whether the axioms allow an execution in whose coherence order read-modify-writes are [`atomic`].
pub fn allow(x: &Execution, cause: &Relation) -> bool {
    coherence(x, cause) && causality(x, cause) && sc_per_location(x) && no_thin_air(x)
}

/// Coherence: of two writes of a word, the one that precedes in causality order does so in coherence order.
fn coherence(x: &Execution, cause: &Relation) -> bool {
    let contradicts = |a: usize, b: usize| x.co(b, a) || (a == b && x.events[a].writes());
    !x.any(|a, b| x.same(a, b) && cause.has(a, b) && contradicts(a, b))
}

/// Causality: a read reads from no write that it precedes in causality order, nor from one that comes, in coherence order,
/// before a write that precedes the read.
fn causality(x: &Execution, cause: &Relation) -> bool {
    !x.any(|a, b| x.same(a, b) && cause.has(a, b) && (x.rf(b, a) || x.fr(b, a)))
}

/// SC per location: program order of one word and morally strong communication make no cycle.
fn sc_per_location(x: &Execution) -> bool {
    let communicates = |a: usize, b: usize| x.rf(a, b) || x.co(a, b) || x.fr(a, b);
    x.relation(|a, b| x.same(a, b) && (x.po(a, b) || (x.strong(a, b) && communicates(a, b))))
        .acyclic()
}

/// No thin air: reading and dependencies make no cycle. What comes behind a `When` depends on the read that it asks for,
/// and on no other.
fn no_thin_air(x: &Execution) -> bool {
    let depends = |a: usize, b: usize| x.po(a, b) && x.events[a].expected.is_some();
    x.relation(|a, b| x.rf(a, b) || depends(a, b)).acyclic()
}

/// Atomicity: between what a read-modify-write reads from and itself there is no write of the word. `writes` is the
/// word's coherence order, `from` what reads read from.
pub fn atomic(events: &[Event], from: &[usize], writes: &[usize]) -> bool {
    writes
        .windows(2)
        .all(|pair| !events[pair[1]].reads() || from[pair[1]] == pair[0])
}

/// A data race: two threads have a word, one of them writes, and they are neither morally strong nor in causality order.
pub fn races(x: &Execution, cause: &Relation) -> bool {
    x.any(|a, b| {
        let (first, second) = (&x.events[a], &x.events[b]);
        x.same(a, b)
            && first.thread.is_some()
            && second.thread.is_some()
            && (first.writes() || second.writes())
            && a != b
            && !x.strong(a, b)
            && !cause.has(a, b)
            && !cause.has(b, a)
    })
}
