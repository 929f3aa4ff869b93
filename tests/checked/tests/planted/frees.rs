//! Blocks that are freed or resized wrongly.

use super::{LAYOUTS, PAIRS, POOL, lane, layout_of};
use warpheap_api::host::{FoundBy, HostAlloc, MistakeKind};
use warpheap_checked_kernels::{FREE_LINE, MALLOC_LINE};
use warpheap_checked_tests::{
    BLOCK, GRID, Kind, Site, Subject, World, everywhere, step, with_both,
};
use warpheap_rt::adaptor::Checked;
use warpheap_rt::arch::Words;

with_both! {
    freed_twice => frees_twice,
    freed_at_once => frees_at_once,
    freed_long_before => frees_long_before,
    foreign => frees_foreign,
    wrong_layout => frees_with_another_layout,
    resized => resizes_wrongly,
}
everywhere! { freed_twice, freed_at_once, freed_long_before, foreign, wrong_layout, resized }

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
