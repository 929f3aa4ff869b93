//! What comes after what, and what does not.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

fn demand(begin: u64, end: u64, access: Access) -> Demand {
    Demand::new(BufferId(7), begin, end - begin, access)
}

fn mark(stream: u64, at: u64) -> Mark {
    Mark {
        stream: StreamId(stream),
        at,
    }
}

fn begin(order: &Order, demand: Demand) -> Permit<'_> {
    order.begin(std::vec![demand].leak())
}

#[test]
fn what_clashes_clashes_both_ways() {
    use Access::{Heap, Overwrite, Read, Snapshot, Write};
    let all = [Heap, Read, Write, Snapshot, Overwrite];
    let together = [
        (Heap, Heap),
        (Heap, Read),
        (Heap, Write),
        (Read, Read),
        (Snapshot, Snapshot),
    ];
    for one in all {
        for other in all {
            let free = together.contains(&(one, other)) || together.contains(&(other, one));
            assert_eq!(one.clashes(other), !free, "{one:?} {other:?}");
        }
    }
}

#[test]
fn ranges_that_touch_do_not_meet() {
    let order = Order::default();
    begin(&order, demand(0, 64, Access::Write)).becomes(mark(1, 1));
    let beside = begin(&order, demand(64, 128, Access::Write));
    assert!(beside.after().is_empty());
    let over = begin(&order, demand(60, 64, Access::Read));
    assert_eq!(over.after(), [mark(1, 1)]);
    let mut elsewhere = demand(0, 64, Access::Write);
    elsewhere.buffer = BufferId(8);
    assert!(begin(&order, elsewhere).after().is_empty());
}

#[test]
fn of_each_stream_the_last_mark_has_to_be_reached_until_it_is() {
    let order = Order::default();
    let read = demand(0, 64, Access::Read);
    for (stream, at) in [(1, 1), (2, 4), (1, 3), (1, 2)] {
        begin(&order, read).becomes(mark(stream, at));
    }
    let write = demand(0, 4, Access::Write);
    let marks = |demand| {
        let mut marks = begin(&order, demand).after().to_vec();
        marks.sort_by_key(|mark| mark.stream.0);
        marks
    };
    assert_eq!(marks(write), [mark(1, 3), mark(2, 4)]);
    assert!(marks(read).is_empty());
    order.reached(mark(1, 2));
    assert_eq!(marks(write), [mark(1, 3), mark(2, 4)]);
    order.reached(mark(1, 3));
    assert_eq!(marks(write), [mark(2, 4)]);
    order.reached(mark(2, 9));
    assert!(marks(write).is_empty());
    assert!(order.table().uses.is_empty(), "nothing is kept for ever");
}

#[test]
fn a_stream_that_does_the_same_again_has_one_entry() {
    let order = Order::default();
    for at in 1..=1000 {
        let both = [demand(0, 64, Access::Write), demand(64, 128, Access::Read)];
        order.begin(&both).becomes(mark(1, at));
    }
    assert_eq!(order.table().uses[&BufferId(7)].len(), 2);
    let others = begin(&order, demand(0, 8, Access::Snapshot));
    assert_eq!(others.after(), [mark(1, 1000)]);
    drop(others);
    let demands = [demand(0, 8, Access::Overwrite)];
    let own = order.begin_in(Some(StreamId(1)), (&demands[..]).into());
    assert!(own.after().is_empty());
}

#[test]
fn calls_wait_for_calls_that_they_clash_with() {
    let order = Order::default();
    let first = begin(&order, demand(0, 64, Access::Write));
    let entered = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _second = begin(&order, demand(0, 64, Access::Snapshot));
            entered.store(true, Ordering::SeqCst);
        });
        thread::sleep(Duration::from_millis(50));
        assert!(!entered.load(Ordering::SeqCst), "it came in between");
        // What does not clash goes on meanwhile.
        let _beside = begin(&order, demand(64, 96, Access::Write));
        drop(first);
    });
    assert!(entered.load(Ordering::SeqCst));
}

#[test]
fn a_call_that_has_to_wait_holds_nothing_meanwhile() {
    let order = Order::default();
    let first = begin(&order, demand(64, 128, Access::Write));
    thread::scope(|scope| {
        scope.spawn(|| {
            // The first of the two is free.
            let both = [demand(0, 64, Access::Write), demand(64, 128, Access::Read)];
            let permit = order.begin(&both);
            assert_eq!(permit.after(), [mark(3, 5)]);
        });
        thread::sleep(Duration::from_millis(50));
        begin(&order, demand(0, 64, Access::Write)).becomes(mark(3, 5));
        drop(first);
    });
    order.reached(mark(3, 5));
    assert!(order.table().uses.is_empty(), "nothing is kept for ever");
}
