//! How operations of one thread become visible to others: observation, synchronization, causality.

use super::event::Op;
use super::execution::Execution;
use super::relation::Relation;

/// Observation order: from a write to who reads it morally strong, on through read-modify-writes.
pub fn observation(x: &Execution) -> Relation {
    // Only these both read and write, so the closure goes through nothing else.
    x.relation(|a, b| x.rf(a, b) && x.strong(a, b)).closure()
}

/// A release pattern (a fence, a strong write) with an acquire pattern (a strong read of that word, a fence), if the read
/// observes the write. The fences are of one scope, so they are morally strong. A barrier with itself in other threads.
fn synchronizes(x: &Execution, observed: &Relation, a: usize, b: usize) -> bool {
    match (x.events[a].op, x.events[b].op) {
        (Op::Release, Op::Acquire) => x.any(|w, r| {
            let released = x.po(a, w) && x.events[w].strong() && x.events[w].writes();
            let acquired = x.po(r, b) && x.events[r].strong() && x.same(w, r);
            released && acquired && observed.has(w, r)
        }),
        (Op::Barrier(first), Op::Barrier(second)) => a != b && first == second,
        _ => false,
    }
}

/// Base causality order: program order and synchronization, transitively. What memory begins with is written before the
/// threads start.
fn base_causality(x: &Execution, observed: &Relation) -> Relation {
    let begins = |a: usize, b: usize| x.events[a].thread.is_none() && x.events[b].thread.is_some();
    x.relation(|a, b| x.po(a, b) || synchronizes(x, observed, a, b) || begins(a, b))
        .closure()
}

/// Causality order: base causality, with an observation before it or without. Not transitive. The ISA has it between
/// operations of one word only (by one proxy); here whoever uses it asks for that.
pub fn causality(x: &Execution) -> Relation {
    let observed = observation(x);
    let base = base_causality(x, &observed);
    let n = x.events.len();
    x.relation(|a, b| base.has(a, b) || (0..n).any(|z| observed.has(a, z) && base.has(z, b)))
}
