//! A full heap says so, and is usable again after frees.

use super::lifetime::fill;
use super::{ROOMY, Subject, fitting, thousandth, tight, usable};
use crate::heap::{Failures, malloc};
use crate::{Site, TestHeap};
use warpheap_api::AllocError;
use warpheap_api::host::HostAlloc;
use warpheap_rt::allocators::{Largest, named};
use warpheap_test_kernels::program::{OK, Outcome};

/// A size of which a tight heap holds about a thousand blocks, and a number of them that it does not
/// hold.
fn too_many<A: HostAlloc>(heap: &TestHeap<'_, A>) -> (u64, usize) {
    let size = thousandth(&heap.pool);
    (size, (usable(&heap.pool) / size + 64) as usize)
}

/// Bytes in use as the allocator rounds them: a size class may be twice as large as a request.
fn used<A: HostAlloc>(heap: &TestHeap<'_, A>) -> u64 {
    let stats = heap.pool.stats().expect("stats");
    stats.usage.used_bytes.max(heap.live_bytes())
}

fn failed(outcomes: &[Vec<Outcome>]) -> usize {
    let all = outcomes.iter().flatten();
    all.filter(|outcome| outcome.code != OK).count()
}

/// One lane alone fills most of the heap, then learns that there is no more.
pub fn one_lane_fills<A: Subject>(site: &Site) {
    let mut heap = TestHeap::<A>::new(site, tight::<A>(), 4096);
    let (size, count) = too_many(&heap);
    let outcomes = heap.run(&fill(count, 1, size), Failures::Exhausted);
    assert!(failed(&outcomes) > 0, "more was handed out than there is");
    let (got, room) = (used(&heap), usable(&heap.pool));
    assert!(
        got * 2 > room,
        "{}: full with {got} of {room} bytes in blocks of {size}",
        A::NAME
    );
    heap.check_all();
}

/// So do many lanes together; then all is freed, and they do it once more.
pub fn all_lanes_fill<A: Subject>(site: &Site) {
    let mut heap = TestHeap::<A>::new(site, tight::<A>(), 4096);
    let (size, count) = too_many(&heap);
    for _ in 0..2 {
        let outcomes = heap.run(&fill(count, 300, size), Failures::Any);
        assert!(failed(&outcomes) > 0, "more was handed out than there is");
        let (got, room) = (used(&heap), usable(&heap.pool));
        assert!(got * 2 > room, "{}: {got} of {room} bytes", A::NAME);
        heap.check_all();
        if !A::CAPS.frees {
            return;
        }
        heap.free_all(&heap.taken(), 90);
    }
}

/// Memory that was freed serves other sizes than before, smaller and larger.
pub fn other_sizes_afterwards<A: Subject>(site: &Site) {
    if !A::CAPS.frees {
        return;
    }
    let mut heap = TestHeap::<A>::new(site, tight::<A>(), 8192);
    let (first, _) = too_many(&heap);
    let room = usable(&heap.pool);
    for size in [first, first / 2 + 3, first * 9, first] {
        let size = fitting::<A>(size);
        let count = (room / size + 64) as usize;
        let outcomes = heap.run(&fill(count, 32, size), Failures::Any);
        assert!(failed(&outcomes) > 0, "more was handed out than there is");
        let got = used(&heap);
        assert!(
            got * 2 > room,
            "{}: full with {got} of {room} bytes in blocks of {size}",
            A::NAME
        );
        heap.free_all(&heap.taken(), 64);
    }
}

/// The largest block that fits is served whole, a larger one is not, and the heap is as usable
/// afterwards.
pub fn largest_block<A: Subject>(site: &Site) {
    let mut heap = TestHeap::<A>::new(site, ROOMY, 2);
    let code = |heap: &mut TestHeap<'_, A>, size: u64| {
        heap.reset();
        let outcomes = heap.run(&[vec![malloc(0, size)]], Failures::Exhausted);
        heap.check_all();
        outcomes[0][0].code
    };
    let (mut fits, mut not) = (0, ROOMY);
    while not - fits > 1 {
        let size = fits + (not - fits) / 2;
        if code(&mut heap, size) == OK {
            fits = size;
        } else {
            not = size;
        }
    }
    let part = match named(A::NAME).map(|row| row.largest) {
        Some(Largest::Pool) => 2,
        _ => 64,
    };
    let floor = A::CAPS.max_size.min(usable(&heap.pool) / part);
    assert!(fits >= floor, "{}: no more than {fits} bytes", A::NAME);
    let expected = if not > A::CAPS.max_size {
        AllocError::Unsupported
    } else {
        AllocError::Exhausted
    };
    assert_eq!(code(&mut heap, not), expected.code());
    // Once more on the same heap, and a small one beside it unless it filled everything.
    heap.run(&[vec![malloc(0, fits)]], Failures::None);
    if A::CAPS.frees {
        heap.free_all(&[0], 1);
        heap.run(&[vec![malloc(1, 100)]], Failures::None);
        heap.free_all(&[1], 1);
        heap.run(&[vec![malloc(0, fits)]], Failures::None);
        heap.check_all();
    }
}
