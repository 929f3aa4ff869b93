//! A catalogue of planted mistakes: each is found and told, with the right lanes.

use warpheap_api::host::{FoundBy, HostAlloc, LanePlace, Mistake, MistakeKind};
use warpheap_checked_kernels::{FREE_LINE, MALLOC_LINE};
use warpheap_checked_tests::{BLOCK, GRID, Kind, Site, Subject, World, everywhere, mistakes, step};
use warpheap_rt::adaptor::Checked;
use warpheap_rt::alloc::{ScatterAlloc, WarpHeap};
use warpheap_rt::arch::Words;

/// Sizes and alignments of blocks.
const LAYOUTS: [(u32, u32); 12] = [
    (0, 16),
    (1, 1),
    (4, 4),
    (15, 16),
    (16, 16),
    (17, 8),
    (40, 16),
    (64, 64),
    (100, 256),
    (1000, 32),
    (1500, 4096),
    (12_000, 16),
];

const POOL: u64 = 8 << 20;

/// A lane by its index in the launch, at a line.
fn lane(site: &Site, index: u32, line: u32) -> LanePlace {
    LanePlace {
        block: index / BLOCK,
        lane: index % BLOCK,
        line: site.tells_lines().then_some(line),
    }
}

/// Lanes that make mistakes: those of one warp, of two warps, of two blocks.
const PAIRS: [(u32, u32); 3] = [(1, 2), (0, BLOCK - 1), (3, BLOCK * GRID - 1)];

fn layout_of(mistake: &Mistake) -> Option<(u32, u32)> {
    mistake
        .block
        .map(|block| (block.size as u32, block.align as u32))
}

/// Runs a test with both allocators.
macro_rules! with_both {
    ($($name:ident => $test:ident),* $(,)?) => {
        $(
            fn $name(site: &Site) {
                $test::<WarpHeap>(site);
                if site.has_all_kernels() {
                    $test::<ScatterAlloc>(site);
                }
            }
        )*
        everywhere! { $($name),* }
    };
}

with_both! {
    freed_twice => frees_twice,
    freed_at_once => frees_at_once,
    freed_long_before => frees_long_before,
    foreign => frees_foreign,
    wrong_layout => frees_with_another_layout,
    resized => resizes_wrongly,
    written_before => writes_before,
    written_behind => writes_behind,
    written_after_free => writes_after_free,
    many => makes_many,
    queued => queues,
}

fn frees_twice<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    for (size, align) in LAYOUTS {
        for (first, second) in PAIRS {
            let step = step(0, size, align);
            world.right(Kind::Malloc, &[(5, step)]);
            world.right(Kind::Free, &[(first, step)]);
            let used = world.used();
            let found = world.one_wrong(Kind::Free, &[(second, step)]);
            assert_eq!(found.ptr, world.handle(0));
            assert_eq!(found.found_by, FoundBy::Free);
            assert_eq!(found.by, Some(lane(site, second, FREE_LINE)));
            // A block that is too large to wait is the inner allocator's again.
            let waits = size < 10_000;
            match waits {
                true => {
                    assert_eq!(found.kind, MistakeKind::DoubleFree, "{found}");
                    assert_eq!(found.free, Some(lane(site, first, FREE_LINE)));
                    assert_eq!(found.malloc, Some(lane(site, 5, MALLOC_LINE)));
                }
                false => assert_eq!(found.kind, MistakeKind::StaleHandle, "{found}"),
            }
            assert_eq!(layout_of(&found), Some((size, align)));
            assert_eq!(world.used(), used, "a mistaken free changes nothing");
        }
    }
}

/// Of lanes that free a block at the same time all but one are told, and who was first.
fn frees_at_once<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    for (first, second) in PAIRS {
        let step = step(0, 40, 16);
        world.right(Kind::Malloc, &[(5, step)]);
        let found = world.one_wrong(Kind::Free, &[(first, step), (second, step)]);
        assert_eq!(found.kind, MistakeKind::DoubleFree, "{found}");
        let lanes = [first, second].map(|index| Some(lane(site, index, FREE_LINE)));
        assert!(
            lanes == [found.by, found.free] || lanes == [found.free, found.by],
            "{found}"
        );
    }
    let step = step(0, 40, 16);
    world.right(Kind::Malloc, &[(5, step)]);
    let all: Vec<_> = (0..BLOCK * GRID).map(|lane| (lane, step)).collect();
    let found = world.wrong(Kind::Free, &all);
    assert_eq!(found.count, BLOCK * GRID - 1);
    assert!(
        found
            .first
            .iter()
            .all(|one| one.free == found.first[0].free)
    );
}

fn frees_long_before<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, Some(0));
    for (size, align) in LAYOUTS {
        let step = step(0, size, align);
        world.right(Kind::Malloc, &[(5, step)]);
        world.right(Kind::Free, &[(6, step)]);
        let found = world.one_wrong(Kind::Free, &[(7, step)]);
        assert_eq!(found.kind, MistakeKind::StaleHandle, "{found}");
        assert_eq!(found.by, Some(lane(site, 7, FREE_LINE)));
        assert_eq!(found.malloc.map(|at| (at.block, at.lane)), Some((0, 5)));
        assert_eq!(world.used(), 0);
    }
}

fn frees_foreign<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let mut world = World::<A>::new(site, POOL, None);
    let own = step(0, 1000, 16);
    world.right(Kind::Malloc, &[(5, own)]);
    let block = world.handle(0).granule();
    let end = (POOL / 16) as u32;
    let others = [
        0,
        1,
        block - 1,
        block + 1,
        block + 40,
        block + 200,
        end - 1,
        end,
        end + 1,
        1 << 30,
        u32::MAX - 1,
    ];
    for granule in others {
        world.set_handle(1, granule);
        let found = world.one_wrong(Kind::Free, &[(9, step(1, 1000, 16))]);
        assert_eq!(found.kind, MistakeKind::ForeignHandle, "{found}");
        assert_eq!(found.ptr.granule(), granule);
        assert_eq!(found.by, Some(lane(site, 9, FREE_LINE)));
        assert_eq!((found.malloc, found.block), (None, None));
    }
    // Null is freed without a word.
    world.set_handle(1, u32::MAX);
    world.right(Kind::Free, &[(9, step(1, 1000, 16))]);
    // The block of another heap.
    let other = World::<A>::new(site, POOL, None);
    let large = step(0, 200_000, 16);
    other.right(Kind::Malloc, &[(5, large)]);
    assert_ne!(other.handle(0), world.handle(0));
    world.set_handle(1, other.handle(0).granule());
    let found = world.one_wrong(Kind::Free, &[(9, step(1, 200_000, 16))]);
    assert_eq!(found.kind, MistakeKind::ForeignHandle, "{found}");
    world.right(Kind::Free, &[(5, own)]);
    assert_eq!(world.inspect(), Default::default());
}

fn frees_with_another_layout<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    for (size, align) in LAYOUTS {
        let right = step(0, size, align);
        world.right(Kind::Malloc, &[(5, right)]);
        let used = world.used();
        for wrong in [
            step(0, size + 1, align),
            step(0, size + 16, align),
            step(0, size / 2 + 70, align),
            step(0, size, align * 2),
            step(0, 1 << 30, align),
        ] {
            let found = world.one_wrong(Kind::Free, &[(BLOCK + 1, wrong)]);
            assert_eq!(found.kind, MistakeKind::WrongLayout, "{found}");
            assert_eq!(layout_of(&found), Some((size, align)));
            let given = found.given.expect("the given layout");
            assert_eq!(
                (given.size as u32, given.align as u32),
                (wrong.size, wrong.other)
            );
            assert_eq!(found.malloc, Some(lane(site, 5, MALLOC_LINE)));
            assert_eq!(found.by, Some(lane(site, BLOCK + 1, FREE_LINE)));
            assert_eq!(world.used(), used, "a mistaken free changes nothing");
        }
        world.right(Kind::Free, &[(5, right)]);
    }
}

fn resizes_wrongly<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    if !site.has_all_kernels() {
        return;
    }
    let mut world = World::<A>::new(site, POOL, None);
    world.right(Kind::Malloc, &[(5, step(0, 40, 16))]);
    world.right(Kind::Realloc, &[(6, step(0, 40, 200))]);
    let found = world.one_wrong(Kind::Realloc, &[(7, step(0, 40, 300))]);
    assert_eq!(
        (found.kind, found.found_by),
        (MistakeKind::WrongLayout, FoundBy::Realloc)
    );
    assert_eq!(layout_of(&found), Some((200, 16)));
    let by = found.by.map(|at| (at.block, at.lane));
    assert_eq!(by, Some((0, 7)));
    // The block that moved is the lane's that moved it.
    let malloc = found.malloc.map(|at| (at.block, at.lane));
    assert_eq!(malloc, Some((0, 6)));
    world.right(Kind::Free, &[(5, step(0, 200, 16))]);
    let found = world.one_wrong(Kind::Realloc, &[(7, step(0, 200, 300))]);
    assert_eq!(found.kind, MistakeKind::DoubleFree, "{found}");
    world.set_handle(0, 1 << 30);
    let found = world.one_wrong(Kind::Realloc, &[(7, step(0, 200, 300))]);
    assert_eq!(found.kind, MistakeKind::ForeignHandle, "{found}");
    assert!(world.inspect().live.is_empty());
}

/// The words next to a block, from its first one.
fn write(slot: usize, word: i32, value: u32) -> warpheap_checked_kernels::Step {
    step(slot, word as u32, value)
}

fn writes_before<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    for (size, align) in LAYOUTS {
        let block = step(0, size, align);
        // From the last word in front on, so many words.
        for words in 1..=4 {
            world.right(Kind::Malloc, &[(5, block)]);
            for word in 1..=words {
                world.right(Kind::Write, &[(6, write(0, -word, 77))]);
            }
            let looked = world.inspect().mistakes;
            let found = world.one_wrong(Kind::Free, &[(7, block)]);
            assert_eq!(found.kind, MistakeKind::WriteBefore, "{found}");
            assert_eq!(found.by, Some(lane(site, 7, FREE_LINE)));
            if words == 1 {
                assert_eq!(found.wrote, Some((-4, 77)));
                assert_eq!(found.malloc, Some(lane(site, 5, MALLOC_LINE)));
                assert_eq!(looked.len(), 1);
                assert_eq!(looked[0].kind, MistakeKind::WriteBefore);
            }
            // Where the size is lost, so is the block.
            assert_eq!(found.lost, words > 2, "{found}");
        }
    }
}

fn writes_behind<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    for (size, align) in LAYOUTS {
        let block = step(0, size, align);
        let end = size.div_ceil(4) as i32;
        let last = (size.max(1).div_ceil(16) * 4) as i32;
        // Every word of the rest of the last granule, and of the one behind it.
        for word in end..last + 4 {
            world.right(Kind::Malloc, &[(5, block)]);
            if size >= 4 {
                world.right(
                    Kind::Write,
                    &[(6, write(0, 0, 76)), (6, write(0, end - 1, 76))],
                );
            }
            world.right(Kind::Write, &[(6, write(0, word, 77))]);
            let looked = world.inspect().mistakes;
            let found = world.one_wrong(Kind::Free, &[(7, block)]);
            assert_eq!(found.kind, MistakeKind::WriteBehind, "{found}");
            assert_eq!(found.by, Some(lane(site, 7, FREE_LINE)));
            assert_eq!(layout_of(&found), Some((size, align)));
            let malloc = found.malloc.expect("its malloc");
            assert_eq!((malloc.block, malloc.lane), (0, 5));
            if word <= last {
                assert_eq!(found.wrote, Some((i64::from(word) * 4, 77)));
            }
            assert_eq!(looked.len(), 1, "{looked:?}");
            assert_eq!((looked[0].kind, looked[0].wrote), (found.kind, found.wrote));
            // The free was right.
            let found = world.one_wrong(Kind::Free, &[(8, block)]);
            let twice = [MistakeKind::DoubleFree, MistakeKind::StaleHandle];
            assert!(twice.contains(&found.kind), "{found}");
        }
    }
    assert!(world.inspect().live.is_empty());
}

fn writes_after_free<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    for (size, align) in LAYOUTS {
        let block = step(0, size, align);
        let other = step(1, 40, 16);
        let last = (size.max(1).div_ceil(16) * 4) as i32;
        for word in [0, last / 2, last - 1, last, last + 2, -1, -4] {
            let world = World::<A>::new(site, 2 << 20, Some(2));
            world.right(Kind::Malloc, &[(5, block), (6, other)]);
            world.right(Kind::Free, &[(BLOCK, block)]);
            world.right(Kind::Write, &[(6, write(0, word, 77))]);
            let looked = world.inspect().mistakes;
            assert_eq!(looked.len(), 1, "{looked:?}");
            assert_eq!(looked[0].kind, MistakeKind::WriteAfterFree);
            world.right(Kind::Free, &[(6, other)]);
            world.right(Kind::Malloc, &[(6, other)]);
            let found = world.one_wrong(Kind::Free, &[(9, other)]);
            assert_eq!(found.kind, MistakeKind::WriteAfterFree, "{found}");
            assert_eq!(found.found_by, FoundBy::Leaving);
            assert_eq!(found.ptr, world.handle(0));
            assert_eq!(found.by, Some(lane(site, 9, FREE_LINE)));
            let inside = (0..last).contains(&word);
            if inside {
                assert_eq!(found.wrote, Some((i64::from(word) * 4, 77)));
                assert_eq!(found.malloc, Some(lane(site, 5, MALLOC_LINE)));
            }
            if word < last {
                let free = (word >= 0).then_some(lane(site, BLOCK, FREE_LINE));
                assert_eq!(found.free, free, "{found}");
            }
        }
    }
}

/// The first mistakes are kept, all are counted; the next launch begins anew.
fn makes_many<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    let block = step(0, 40, 16);
    world.right(Kind::Malloc, &[(5, block)]);
    world.right(Kind::Free, &[(5, block)]);
    for _ in 0..2 {
        let all: Vec<_> = (0..BLOCK * GRID).map(|lane| (lane, block)).collect();
        let launches = [0; 2].map(|_| world.prepare(Kind::Free, &all));
        let result = site.device.run_all(&launches);
        let text = result
            .as_ref()
            .map_or_else(ToString::to_string, |_| String::new());
        let found = mistakes(result);
        assert_eq!((found.count, found.first.len()), (2 * BLOCK * GRID, 32));
        let mut by: Vec<_> = found.first.iter().map(|one| one.by).collect();
        by.dedup();
        assert!(by.len() > 1, "{by:?}");
        assert!(text.contains("and 32 more"), "{text}");
        world.right(Kind::Malloc, &[(5, step(1, 40, 16))]);
        world.right(Kind::Free, &[(5, step(1, 40, 16))]);
    }
}

/// A stream tells when it is waited for.
fn queues<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let world = World::<A>::new(site, POOL, None);
    let stream = site.device.stream().expect("a stream");
    let block = step(0, 40, 16);
    for kind in [Kind::Malloc, Kind::Free, Kind::Free] {
        world
            .prepare(kind, &[(5, block)])
            .on(&stream)
            .expect("queued");
    }
    let found = mistakes(stream.wait());
    assert_eq!(
        (found.count, found.first[0].kind),
        (1, MistakeKind::DoubleFree)
    );
    world
        .prepare(Kind::Malloc, &[(5, block)])
        .on(&stream)
        .expect("queued");
    stream.wait().expect("nothing is wrong");
}
