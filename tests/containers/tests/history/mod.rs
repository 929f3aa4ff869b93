//! Whether operations on a queue that overlapped could have happened one after the other.

use std::collections::HashSet;
use warpheap_container_kernels::queue::{NOTHING, POP, QueueEvent};

/// The kind of queue, a bounded one with its capacity.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Bounded(usize),
    Growing,
}

/// Searches for an order of all operations that gave an answer, in which none comes after one that began when it
/// had ended, and which a queue that does one thing after the other would answer in the same way.
pub fn linearise(kind: Kind, ops: &[u32], events: &[QueueEvent]) -> bool {
    // What was contended has done nothing.
    let all: Vec<(bool, QueueEvent)> = ops
        .iter()
        .zip(events)
        .filter(|(_, event)| [0, NOTHING].contains(&event.code))
        .map(|(op, event)| (*op == POP, *event))
        .collect();
    assert!(all.len() <= 32, "too many operations to try all orders");
    search(kind, &all, 0, &mut Vec::new(), &mut HashSet::new())
}

/// Whether those that are not in the set `done` can follow where `queue` holds these values.
fn search(
    kind: Kind,
    all: &[(bool, QueueEvent)],
    done: u32,
    queue: &mut Vec<u32>,
    dead: &mut HashSet<(u32, Vec<u32>)>,
) -> bool {
    let left = |i: &usize| done >> i & 1 == 0;
    let Some(deadline) = (0..all.len()).filter(left).map(|i| all[i].1.ended).min() else {
        return true;
    };
    if dead.contains(&(done, queue.clone())) {
        return false;
    }
    for i in (0..all.len()).filter(left) {
        let (pop, event) = all[i];
        // Another one had ended before this one began, so that comes first.
        if event.began > deadline {
            continue;
        }
        let mut after = queue.clone();
        let answer = if pop {
            let first = (!after.is_empty()).then(|| after.remove(0));
            first == (event.code == 0).then_some(event.value)
        } else {
            let full = matches!(kind, Kind::Bounded(capacity) if after.len() == capacity);
            after.push(event.value);
            full == (event.code == NOTHING)
        };
        if event.code == NOTHING {
            after.clone_from(queue);
        }
        if answer && search(kind, all, done | 1 << i, &mut after, dead) {
            return true;
        }
    }
    dead.insert((done, queue.clone()));
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap_container_kernels::queue::PUSH;

    fn event(code: u32, value: u32, began: u32, ended: u32) -> QueueEvent {
        QueueEvent {
            code,
            value,
            began,
            ended,
        }
    }

    #[test]
    fn tells_good_histories_from_bad() {
        let ops = [PUSH, PUSH, POP];
        let history = |value, code| {
            [
                event(0, 0, 0, 1),
                event(0, 1, 2, 3),
                event(code, value, 4, 5),
            ]
        };
        assert!(linearise(Kind::Growing, &ops, &history(0, 0)));
        assert!(
            !linearise(Kind::Growing, &ops, &history(1, 0)),
            "not first in, first out"
        );
        assert!(
            !linearise(Kind::Growing, &ops, &history(0, NOTHING)),
            "it was not empty"
        );
        let overlap = [event(0, 0, 0, 3), event(0, 1, 1, 2), event(0, 1, 4, 5)];
        assert!(linearise(Kind::Growing, &ops, &overlap), "either order");
        assert!(
            !linearise(Kind::Bounded(1), &ops, &history(0, 0)),
            "there was no room"
        );
    }
}
