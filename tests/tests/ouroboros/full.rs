//! Heaps and queues that are full.

use crate::{Settings, fill, free_all, heap, room, used};
use warpheap_api::host::HostAlloc;
use warpheap_api::layout;

for_variants! {
    a_full_heap_says_so: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    an_emptied_heap_serves_every_size: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    a_full_queue_loses_nothing: OuroborosPS, OuroborosPVA, OuroborosCS, OuroborosCVA;
}

fn a_full_heap_says_so<A: HostAlloc<Config = Settings>>() {
    for bytes in [16, 200, 1024, 8192, 60_000] {
        let pool = heap::<A>(1 << 20, &Settings::default());
        let layout = layout::bytes(bytes);
        let mut blocks = fill(&pool, layout);
        // Of larger chunks the last one is not whole, and a queue may have a few chunks.
        let expected = room(&pool) * if bytes > 8192 { 60 } else { 90 } / 100;
        assert!(
            used(&pool) >= expected,
            "{}: {bytes}: {}",
            A::NAME,
            used(&pool)
        );
        for _ in 0..3 {
            assert!(pool.malloc(layout).is_err());
            let last = blocks.pop().expect("it held some");
            free_all(&pool, vec![last], layout);
            blocks.push(pool.malloc(layout).expect("what was freed"));
        }
        let count = blocks.len();
        free_all(&pool, blocks, layout);
        assert_eq!(used(&pool), 0);
        let again = fill(&pool, layout).len();
        // A queue may have a chunk now.
        assert!(
            (again + 1) * 20 >= count * 19,
            "{}: {again} of {count}",
            A::NAME
        );
    }
}

fn an_emptied_heap_serves_every_size<A: HostAlloc<Config = Settings>>() {
    let pool = heap::<A>(1 << 20, &Settings::default());
    for bytes in [4096, 16, 1024, 8192, 128, 256, 16, 2048, 512, 30_000, 64] {
        let layout = layout::bytes(bytes);
        let blocks = fill(&pool, layout);
        let (got, room) = (used(&pool), room(&pool));
        let least = if bytes > 8192 { 45 } else { 80 };
        assert!(
            got * 100 >= room * least,
            "{}: {bytes}: {got} of {room}",
            A::NAME
        );
        free_all(&pool, blocks, layout);
        assert_eq!(used(&pool), 0, "{}: {bytes}", A::NAME);
    }
}

fn a_full_queue_loses_nothing<A: HostAlloc<Config = Settings>>() {
    let config = Settings {
        queue_capacity: 5,
        ..Settings::default()
    };
    let pool = heap::<A>(1 << 20, &config);
    for bytes in [64, 1000, 64] {
        let layout = layout::bytes(bytes);
        let mut first = 0;
        for round in 0..3 {
            let blocks = fill(&pool, layout);
            first = if round == 0 { blocks.len() } else { first };
            assert!(
                blocks.len() * 20 >= first * 19,
                "{}: {}",
                A::NAME,
                blocks.len()
            );
            free_all(&pool, blocks, layout);
            assert_eq!(used(&pool), 0);
        }
    }
}
