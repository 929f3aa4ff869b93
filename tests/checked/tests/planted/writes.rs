//! Writes where nobody may write.

use super::{LAYOUTS, POOL, lane, layout_of};
use warpheap_api::DevicePtr;
use warpheap_api::host::{FoundBy, HostAlloc, MistakeKind};
use warpheap_checked_kernels::{FREE_LINE, MALLOC_LINE, Step};
use warpheap_checked_tests::{
    BLOCK, GRID, Kind, Site, Subject, World, everywhere, step, with_both,
};
use warpheap_rt::adaptor::Checked;
use warpheap_rt::arch::Words;
use warpheap_rt::host::CheckedConfig;

with_both! {
    written_before => writes_before,
    written_behind => writes_behind,
    written_after_free => writes_after_free,
    written_after_many_frees => writes_after_many_frees,
    written_beyond_what_is_filled => writes_beyond_what_is_filled,
}
everywhere! {
    written_before, written_behind, written_after_free, written_after_many_frees,
    written_beyond_what_is_filled,
}

/// A write to a word, from the first one of the block in a slot.
fn write(slot: usize, word: i32, value: u32) -> Step {
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

/// Blocks of all sizes that lanes free together, and that leave together: what was written to some of them is found, and to no other.
fn writes_after_many_frees<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let lanes = BLOCK * GRID;
    let world = World::<A>::new(site, 4 * POOL, Some(lanes));
    let of = |first: u32, lane: u32| {
        let (size, align) = LAYOUTS[lane as usize % LAYOUTS.len()];
        (lane, step((first + lane) as usize, size, align))
    };
    let all: Vec<_> = (0..lanes).map(|lane| of(0, lane)).collect();
    let later: Vec<_> = (0..lanes).map(|lane| of(lanes, lane)).collect();
    world.right(Kind::Malloc, &all);
    world.right(Kind::Free, &all);
    assert!(world.inspect().mistakes.is_empty());
    let mut planted = Vec::new();
    let mut writes = Vec::new();
    for (lane, block) in all.iter().filter(|(lane, _)| lane % 3 != 0) {
        let words = block.size.max(1).div_ceil(16) * 4;
        let word = lane.wrapping_mul(0x9e37_79b1) % words;
        planted.push((world.handle(*lane as usize), i64::from(word) * 4));
        let by = (lane + 5) % lanes;
        writes.push((by, write(*lane as usize, word as i32, 99)));
    }
    world.right(Kind::Write, &writes);
    world.right(Kind::Malloc, &later);
    let found = world.wrong(Kind::Free, &later);
    assert_eq!(found.count as usize, planted.len());
    let mut wrote: Vec<_> = found
        .first
        .iter()
        .map(|one| {
            assert_eq!(one.kind, MistakeKind::WriteAfterFree, "{one}");
            let (at, value) = one.wrote.expect("it is known where");
            assert_eq!(value, 99);
            (one.ptr, at)
        })
        .collect();
    let by_place = |one: &(DevicePtr<u8>, i64)| one.0.granule();
    wrote.sort_by_key(by_place);
    planted.sort_by_key(by_place);
    assert_eq!(wrote, planted);
}

/// Of freed blocks as much is looked at as was asked for.
fn writes_beyond_what_is_filled<A: HostAlloc<Memory = Words>>(site: &Site)
where
    Checked<A>: Subject,
{
    let block = step(0, 1000, 16);
    let other = step(1, 40, 16);
    for filled in [0, 50, u32::MAX] {
        let config = CheckedConfig {
            waiting: Some(1),
            filled: Some(filled),
            ..CheckedConfig::default()
        };
        let words = filled.div_ceil(16).saturating_mul(4).min(252);
        for word in [0, 15, 16, 251] {
            let world = World::<A>::with(site, 2 << 20, &config);
            world.right(Kind::Malloc, &[(5, block), (6, other)]);
            world.right(Kind::Free, &[(5, block)]);
            world.right(Kind::Write, &[(6, write(0, word as i32, 77))]);
            let seen = word < words;
            assert_eq!(world.inspect().mistakes.len(), usize::from(seen));
            match seen {
                true => {
                    let found = world.one_wrong(Kind::Free, &[(6, other)]);
                    assert_eq!(found.kind, MistakeKind::WriteAfterFree, "{found}");
                    assert_eq!(found.wrote, Some((i64::from(word) * 4, 77)));
                }
                false => world.right(Kind::Free, &[(6, other)]),
            }
        }
    }
}
