//! The layout of the whole block: what a request takes anyway.

use super::{ROOMY, Subject};
use crate::Site;
use crate::blocks::{free_all, used};
use crate::oracle::{self, Lifetime, NEVER};
use std::iter::repeat_n;
use warpheap_api::host::{HostAlloc, Pool};
use warpheap_api::{DevicePtr, HeapHandle, Layout, layout};
use warpheap_rt::arch::Words;

/// The same answers as kernels get. (`kernels_round_as_the_host` in `tests/parameters` holds that.)
fn handle<A: HeapHandle<Memory = Words> + HostAlloc>(pool: &Pool<A>) -> A {
    let arg = pool.raw().heap_arg();
    // SAFETY: no word is looked at: no allocator of the library does when it is attached on the host, or when it rounds.
    unsafe { A::attach(Words::from_address(0, arg.words()), arg.params()) }
}

/// Sizes at and beside the borders of classes, and larger ones, aligned to a granule and to more or less: as many as the
/// allocator serves.
fn layouts<A: HostAlloc>() -> Vec<Layout> {
    let sizes = [
        0, 1, 16, 17, 40, 65, 128, 300, 1000, 1025, 2048, 4096, 4097, 8193, 33_000, 131_073,
        300_000,
    ];
    let aligns = [4, 64, 256, 4096];
    let all = sizes.iter().enumerate().flat_map(|(i, &size)| {
        [16, aligns[i % aligns.len()]].map(|align| layout::aligned(size, align))
    });
    let served = |layout: &Layout| {
        layout.size() as u64 <= A::CAPS.max_size && layout.align() as u32 <= A::CAPS.max_align
    };
    all.filter(served).collect()
}

/// No layout becomes less, or another one when it is rounded again; those that are not served stay unserved.
fn is_sound<A: HeapHandle>(heap: A, layout: Layout) -> Layout {
    let rounded = heap.rounded(layout);
    assert!(rounded.size() >= layout.size(), "{layout:?}: {rounded:?}");
    assert_eq!(rounded.align(), layout.align());
    let again = heap.rounded(rounded);
    assert_eq!(again, rounded, "{}: {layout:?}", A::NAME);
    rounded
}

/// All bytes of blocks, rounded or not, are nobody else's, and no metadata.
pub fn whole_blocks<A: Subject<Memory = Words>>(site: &Site) {
    let pool = site.device.reserve::<A>(ROOMY).expect("a heap");
    let heap = handle(&pool);
    let mut blocks: Vec<(DevicePtr<u8>, Layout, Layout)> = Vec::new();
    for layout in layouts::<A>() {
        let rounded = is_sound(heap, layout);
        for asked in [layout, rounded, layout] {
            let block = pool.malloc(asked);
            let block = block.unwrap_or_else(|error| panic!("{asked:?}: {error}"));
            blocks.push((block, asked, rounded));
        }
    }
    let lives: Vec<Lifetime> = blocks
        .iter()
        .map(|(block, _, rounded)| Lifetime {
            start: block.byte_offset(A::GRANULE_SHIFT),
            bytes: rounded.size() as u64,
            born: 0,
            dies: NEVER,
            slot: 0,
        })
        .collect();
    assert_eq!(oracle::overlap(&lives), None, "{}", A::NAME);
    let buffer = pool.raw().heap_arg().buffer;
    let contents = |i: usize, rounded: Layout| {
        assert_eq!(rounded.size() % 4, 0, "whole words");
        vec![i as u8 | 1; rounded.size()]
    };
    for (i, (block, _, rounded)) in blocks.iter().enumerate() {
        // SAFETY: the bytes are of a live block that nobody else has.
        let written =
            unsafe { buffer.write(block.byte_offset(A::GRANULE_SHIFT), &contents(i, *rounded)) };
        written.expect("inside the pool");
    }
    for (i, (block, _, rounded)) in blocks.iter().enumerate() {
        let mut found = vec![0; rounded.size()];
        let read = buffer.read(block.byte_offset(A::GRANULE_SHIFT), &mut found);
        read.expect("inside the pool");
        assert_eq!(found, contents(i, *rounded), "{}: {rounded:?}", A::NAME);
    }
    for (block, asked, _) in blocks {
        free_all(&pool, vec![block], asked);
    }
    if A::CAPS.frees {
        assert_eq!(used(&pool), 0, "{}", A::NAME);
    }
}

/// A layout and its rounded one take the same from the heap, which is the rounded one's size, and one byte more takes more.
pub fn takes_the_same<A: Subject<Memory = Words>>(site: &Site) {
    const BLOCKS: usize = 3;
    let pool = site.device.reserve::<A>(ROOMY).expect("a heap");
    let heap = handle(&pool);
    let taken = |layout: Layout| {
        let before = used(&pool);
        let blocks: Vec<_> = repeat_n(layout, BLOCKS)
            .map(|layout| pool.malloc(layout).expect("there is room"))
            .collect();
        let taken = used(&pool) - before;
        free_all(&pool, blocks, layout);
        taken
    };
    for layout in layouts::<A>() {
        // What stands before a block for its alignment depends on where the last one ended.
        if !A::CAPS.frees && layout.align() > 16 {
            continue;
        }
        let rounded = is_sound(heap, layout);
        let as_asked = taken(layout);
        assert_eq!(taken(rounded), as_asked, "{}: {layout:?}", A::NAME);
        let blocks = (BLOCKS * rounded.size()) as u64;
        // Requests that come alone have a unit there, of which others of a warp would have had the rest.
        let slots = layout.size().max(1).next_multiple_of(16);
        let shares = A::NAME == "RandomWalkMalloc" && rounded.size() == slots;
        assert!(as_asked == blocks || shares, "{}: {layout:?}", A::NAME);
        let more = heap.rounded(layout::aligned(rounded.size() + 1, layout.align()));
        assert!(more.size() > rounded.size(), "{}: {layout:?}", A::NAME);
    }
}

/// What no heap serves is not served rounded either.
pub fn absurd_requests<A: Subject<Memory = Words>>(site: &Site) {
    let pool = site.device.reserve::<A>(ROOMY).expect("a heap");
    let heap = handle(&pool);
    let beyond = (A::CAPS.max_size as usize).saturating_add(1);
    for layout in [
        layout::bytes(layout::ABSURD),
        layout::bytes(beyond),
        layout::bytes(u32::MAX as usize),
        layout::aligned(1, 3),
        layout::aligned(layout::ABSURD, 1 << 16),
        Layout::from_size_align(1, 1 << 20).expect("a layout"),
    ] {
        let rounded = is_sound_but_for_alignment(heap, layout);
        assert!(pool.malloc(layout).is_err(), "{layout:?}");
        assert!(pool.malloc(rounded).is_err(), "{layout:?}: {rounded:?}");
    }
}

/// Layouts with an alignment that no heap has may lose it, and are served less than ever.
fn is_sound_but_for_alignment<A: HeapHandle>(heap: A, layout: Layout) -> Layout {
    let rounded = heap.rounded(layout);
    assert!(rounded.size() >= layout.size(), "{layout:?}: {rounded:?}");
    assert_eq!(heap.rounded(rounded), rounded, "{}: {layout:?}", A::NAME);
    rounded
}
