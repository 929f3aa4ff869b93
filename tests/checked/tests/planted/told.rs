//! How mistakes are told, one by one and many at a time.

use super::POOL;
use warpheap_api::host::{HostAlloc, MistakeKind};
use warpheap_checked_tests::{
    BLOCK, GRID, Kind, Site, Subject, World, everywhere, mistakes, step, with_both,
};
use warpheap_rt::adaptor::Checked;
use warpheap_rt::arch::Words;

with_both! {
    many => makes_many,
    queued => queues,
}
everywhere! { many, queued }

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
