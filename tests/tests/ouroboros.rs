//! What the six variants of Ouroboros promise beyond the suite, and what fails in published codes: sizes from
//! 512 bytes on the virtualised chunk queue, mixed sizes on the linked one, churn on page queues, full heaps on
//! all of them, warps of fewer than 32 lanes.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpheap::Device;
use warpheap_api::host::{BlockSize, DeviceError, HeapReader, HostAlloc, PlanError, Pool};
use warpheap_api::{
    AllocError, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, layout,
};
use warpheap_host::HostConfig;
use warpheap_rt::alloc::{
    OuroborosCS, OuroborosCVA, OuroborosCVL, OuroborosMixed, OuroborosPS, OuroborosPVA,
    OuroborosPVL,
};
use warpheap_rt::arch::Words;
use warpheap_rt::host::OuroborosConfig;
use warpheap_tests::heap::{Failures, free, malloc};
use warpheap_tests::{Site, Subject, TestHeap};

const POOL: u64 = 4 << 20;

/// Makes tests of generic functions for variants.
macro_rules! for_variants {
    ($($name:ident: $($variant:ident),*;)*) => {$(
        #[allow(non_snake_case)]
        mod $name {
            $(
                #[test]
                fn $variant() {
                    super::$name::<super::$variant>();
                }
            )*
        }
    )*};
}

for_variants! {
    sizes_of_512_bytes_and_up: OuroborosCVA, OuroborosCS, OuroborosCVL;
    mixed_sizes_together: OuroborosCVL, OuroborosCVA, OuroborosPVL;
    churn: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    a_full_heap_says_so: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    an_emptied_heap_serves_every_size: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    narrow_warps: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    queue_chunks_come_back: OuroborosPVA, OuroborosPVL, OuroborosCVA, OuroborosCVL;
    many_lanes_free_at_once: OuroborosPVA, OuroborosPVL, OuroborosCVL;
    larger_instances: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    a_heap_moves_into_a_larger_pool: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    a_full_queue_loses_nothing: OuroborosPS, OuroborosPVA, OuroborosCS, OuroborosCVA;
}

type Settings = OuroborosConfig;

fn heap<A: HostAlloc<Config = Settings>>(bytes: u64, config: &Settings) -> Pool<A> {
    let site = Site::host(8);
    site.device.reserve_with(bytes, config).expect("a heap")
}

/// Allocates blocks of this layout until the heap has none; a lane alone never contends.
fn fill<A: HostAlloc>(pool: &Pool<A>, layout: Layout) -> Vec<DevicePtr<u8>> {
    let mut blocks = Vec::new();
    loop {
        match pool.malloc(layout) {
            Ok(block) => blocks.push(block),
            Err(DeviceError::Heap { cause, .. }) => {
                assert_eq!(cause, AllocError::Exhausted, "{}: {layout:?}", A::NAME);
                return blocks;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn free_all<A: HostAlloc>(pool: &Pool<A>, blocks: Vec<DevicePtr<u8>>, layout: Layout) {
    for block in blocks {
        // SAFETY: the blocks came from this heap with this layout, and nobody uses them.
        unsafe { pool.free(block, layout) }.expect("a free");
    }
}

fn used<A: HostAlloc>(pool: &Pool<A>) -> u64 {
    pool.stats().expect("stats").usage.used_bytes
}

fn room<A: HostAlloc>(pool: &Pool<A>) -> u64 {
    pool.bytes() - pool.metadata_bytes()
}

fn sizes_of_512_bytes_and_up<A: Subject>() {
    let site = Site::host(32);
    for size in [512, 1024, 2048, 4096, 8192] {
        let lanes = 1024;
        let mut heap = TestHeap::<A>::new(&site, 32 << 20, lanes);
        for _ in 0..3 {
            let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, size)]).collect();
            heap.run(&program, Failures::None);
            heap.check_all();
            heap.free_all(&heap.taken(), 512);
            assert_eq!(used(&heap.pool), 0);
        }
    }
}

fn mixed_sizes_together<A: Subject>() {
    let site = Site::host(32);
    let lanes = 1024;
    let mut dice = SmallRng::seed_from_u64(3);
    for most in [512u64, 4096, 8192] {
        let mut heap = TestHeap::<A>::new(&site, 32 << 20, lanes * 2);
        for _ in 0..3 {
            let program: Vec<_> = (0..lanes)
                .map(|lane| {
                    let mut size = || 16 << dice.random_range(0..=(most / 16).ilog2());
                    vec![malloc(lane, size()), malloc(lanes + lane, size())]
                })
                .collect();
            heap.run(&program, Failures::None);
            heap.check_all();
            heap.free_all(&heap.taken(), 700);
            assert_eq!(used(&heap.pool), 0);
        }
    }
}

/// Lanes free and allocate sizes from 16 to 1024 bytes in their slots, with contents checked.
fn churn_on<A: Subject>(site: &Site, lanes: usize, pool: u64) {
    let each = 4;
    let mut heap = TestHeap::<A>::new(site, pool, lanes * each);
    let mut dice = SmallRng::seed_from_u64(11);
    for turn in 0..3 {
        let program: Vec<_> = (0..lanes)
            .map(|lane| {
                let first = (lane + turn * 5) % lanes * each;
                let mut ops = Vec::new();
                for _ in 0..16 {
                    let slot = first + dice.random_range(0..each);
                    ops.extend([free(slot), malloc(slot, dice.random_range(16..=1024))]);
                }
                ops
            })
            .collect();
        heap.run(&program, Failures::None);
        heap.check_all();
    }
    heap.free_all(&heap.taken(), lanes);
    assert_eq!(used(&heap.pool), 0);
}

fn churn<A: Subject>() {
    churn_on::<A>(&Site::host(32), 512, 32 << 20);
}

fn narrow_warps<A: Subject>() {
    for width in [1, 4, 8] {
        churn_on::<A>(&Site::host(width), 96, 16 << 20);
    }
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

/// A queue that many entries go through holds no more chunks than before.
fn queue_chunks_come_back<A: Subject>() {
    let site = Site::host(32);
    let lanes = 1024;
    let mut heap = TestHeap::<A>::new(&site, 8 << 20, lanes);
    let mut committed = Vec::new();
    for _ in 0..24 {
        let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, 2048)]).collect();
        heap.run(&program, Failures::None);
        heap.free_all(&heap.taken(), 1024);
        committed.push(heap.pool.stats().expect("stats").usage.committed_bytes);
    }
    let (early, late) = (committed[4], committed[23]);
    assert!(late <= early + (4 << 13), "{}: {committed:?}", A::NAME);
}

/// Queues of launches so large that several queue chunks are added at a time.
fn many_lanes_free_at_once<A: Subject>() {
    let lanes = 36_000;
    for width in [4, 32] {
        let site = Site::host(width);
        let mut heap = TestHeap::<A>::new(&site, 32 << 20, lanes);
        heap.block_dim = 128;
        for _ in 0..2 {
            let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, 256)]).collect();
            heap.run(&program, Failures::None);
            heap.check_all();
            heap.free_all(&heap.taken(), lanes);
            assert_eq!(used(&heap.pool), 0);
        }
    }
}

fn larger_instances<A: HostAlloc<Config = Settings>>() {
    let config = Settings {
        instances: Some(3),
        instance_step: 2,
        ..Settings::default()
    };
    // Chunks of 8, 32 and 128 KiB.
    let pool = heap::<A>(POOL, &config);
    for (bytes, page, chunk) in [
        (8192, 8192, 8u64 << 10),
        (8193, 16 << 10, 32 << 10),
        (32 << 10, 32 << 10, 32 << 10),
        (40_000, 64 << 10, 128 << 10),
        (128 << 10, 128 << 10, 128 << 10),
    ] {
        let layout = layout::aligned(bytes, (page as usize).min(64 << 10));
        let block = pool.malloc(layout).expect("there is room");
        assert_eq!(block.byte_offset() % layout.align() as u64, 0);
        let usage = pool.stats().expect("stats").usage;
        let class = usage.classes.iter().find(|class| class.live_blocks == 1);
        let class = class.expect("the block's class");
        assert_eq!(class.block, BlockSize::Bytes(page));
        assert!(class.committed_bytes >= chunk && class.committed_bytes <= chunk + (8 << 10));
        free_all(&pool, vec![block], layout);
    }
    match pool.malloc(layout::bytes((128 << 10) + 1)) {
        Err(DeviceError::Heap { cause, .. }) => assert_eq!(cause, AllocError::Exhausted),
        other => panic!("{other:?}"),
    }
    let most = A::CAPS.max_size as usize;
    match pool.malloc(layout::bytes(most + 1)) {
        Err(DeviceError::Heap { cause, .. }) => assert_eq!(cause, AllocError::Unsupported),
        other => panic!("{other:?}"),
    }
}

fn a_heap_moves_into_a_larger_pool<A: Enlarge>() {
    let config = Settings {
        grows_to: 4 << 20,
        instances: Some(2),
        ..Settings::default()
    };
    // The emulator knows of blocks by their pool, and would not know them in the new one.
    let emulator = warpheap_host::open(HostConfig {
        warp_width: 8,
        check_blocks: Some(false),
        ..HostConfig::default()
    });
    let device = emulator.and_then(Device::adopt).expect("the emulator");
    let small = device.reserve_with::<A>(1 << 20, &config).expect("a heap");
    let layout = layout::bytes(100);
    let mut blocks = fill(&small, layout);
    let buffer = &small.raw().buffer;
    for (i, block) in (0u32..).zip(&blocks) {
        buffer
            .write(block.byte_offset(), &i.to_ne_bytes())
            .expect("a word");
    }
    let large = A::enlarge(&small, 3 << 20, &config).expect("a larger pool");
    let buffer = &large.raw().buffer;
    for (i, block) in (0u32..).zip(&blocks) {
        let mut word = [0; 4];
        buffer.read(block.byte_offset(), &mut word).expect("a word");
        assert_eq!(u32::from_ne_bytes(word), i);
    }
    assert_eq!(used(&large), used(&small));
    let more = fill(&large, layout);
    assert!(
        more.len() as u64 * 128 >= (2 << 20) * 9 / 10,
        "{}",
        more.len()
    );
    let mut all: Vec<_> = blocks
        .iter()
        .chain(&more)
        .map(|block| block.granule())
        .collect();
    all.sort_unstable();
    assert!(
        all.windows(2).all(|pair| pair[0] + 8 <= pair[1]),
        "blocks are disjoint"
    );
    blocks.extend(more);
    free_all(&large, blocks, layout);
    assert_eq!(used(&large), 0);
    for (bytes, config) in [
        (5 << 20, config.clone()),
        (512 << 10, config.clone()),
        (
            3 << 20,
            Settings {
                queues: 9,
                ..config.clone()
            },
        ),
    ] {
        assert!(
            A::enlarge(&small, bytes, &config).is_err(),
            "{bytes} {config:?}"
        );
    }
}

/// The call of each variant.
trait Enlarge: HostAlloc<Config = Settings> {
    fn enlarge(pool: &Pool<Self>, bytes: u64, config: &Settings)
    -> Result<Pool<Self>, DeviceError>;
}

macro_rules! enlarge {
    ($($variant:ident),*) => {$(
        impl Enlarge for $variant {
            fn enlarge(
                pool: &Pool<Self>,
                bytes: u64,
                config: &Settings,
            ) -> Result<Pool<Self>, DeviceError> {
                $variant::enlarged(pool, bytes, config)
            }
        }
    )*};
}

enlarge! { OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL }

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

#[test]
fn settings_out_of_range_are_named() {
    type Change = fn(&mut Settings);
    let changes: [(Change, &str); 9] = [
        (|c| c.chunk_bytes = 5000, "chunk_bytes"),
        (|c| c.chunk_bytes = 128 << 10, "chunk_bytes"),
        (|c| c.queues = 0, "queues"),
        (|c| c.queues = 11, "queues"),
        (|c| c.instance_step = 0, "instance_step"),
        (|c| c.instances = Some(0), "instances"),
        (|c| c.instances = Some(9), "instances"),
        (|c| c.queue_capacity = 0, "queue_capacity"),
        (|c| c.trail = Some(1 << 20), "trail"),
    ];
    for (change, name) in changes {
        let mut config = Settings::default();
        change(&mut config);
        match OuroborosPVL::plan(64 << 20, &config) {
            Err(PlanError::BadSetting { setting, .. }) => assert_eq!(setting, name),
            other => panic!("{name}: {other:?}"),
        }
    }
    let few = Settings {
        queues: 4,
        chunk_bytes: 4096,
        ..Settings::default()
    };
    let pool = heap::<OuroborosPVL>(POOL, &few);
    let block = pool.malloc(layout::bytes(1)).expect("there is room");
    assert_eq!(used(&pool), 512, "the smallest page");
    free_all(&pool, vec![block], layout::bytes(1));
}

#[test]
fn metadata_are_a_few_hundredths_of_large_pools() {
    for bytes in [1u64 << 30, 8 << 30, (64 << 30) - 16] {
        let part = |plan: Result<warpheap_api::host::HeapPlan, PlanError>| {
            plan.expect("a plan").metadata_bytes as f64 / bytes as f64
        };
        let config = Settings::default();
        let [ps, va, vl] = [
            part(OuroborosPS::plan(bytes, &config)),
            part(OuroborosPVA::plan(bytes, &config)),
            part(OuroborosCVL::plan(bytes, &config)),
        ];
        assert!(
            ps < 0.09 && va < 0.02 && vl < 0.02,
            "{bytes}: {ps} {va} {vl}"
        );
    }
}

/// Pages for small sizes, chunks for large ones, used by threads that each are a warp of one lane.
type Both = OuroborosMixed<OuroborosPVA, OuroborosCVL>;

/// The words of a heap that threads share.
fn words_of(bytes: u64, config: &Settings) -> (Vec<u32>, HeapParams) {
    let plan = Both::plan(bytes, config).expect("a plan");
    let mut words = vec![0u32; bytes as usize / 4];
    for fill in &plan.fills {
        words[fill.word as usize..][..fill.words as usize].fill(fill.value);
    }
    (words, plan.params)
}

#[test]
fn instances_of_two_kinds_share_a_pool() {
    let config = Settings {
        instances: Some(2),
        ..Settings::default()
    };
    let (mut words, params) = words_of(2 << 20, &config);
    let (base, len) = (words.as_mut_ptr() as u64, words.len() as u64);
    // SAFETY: the words live until the end of the test and are used through such handles alone.
    let attach = || unsafe { Both::attach(Words::from_address(base, len), params) };
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            scope.spawn(move || {
                let heap = attach();
                let mut dice = SmallRng::seed_from_u64(thread as u64);
                let mut held: Vec<(DevicePtr<u8>, Layout, u32)> = Vec::new();
                let mut served = 0;
                for i in 0..4000u32 {
                    if held.len() > 40 || dice.random_range(0..3) == 0 && !held.is_empty() {
                        let at = dice.random_range(0..held.len());
                        let (ptr, layout, stamp) = held.swap_remove(at);
                        let memory = heap.memory();
                        let ends = [ptr.word(), ptr.word() + layout.size() / 4 - 1];
                        assert_eq!(ends.map(|word| memory.read(word)), [stamp; 2]);
                        // SAFETY: the block came from this heap with this layout.
                        unsafe { heap.free(ptr, layout) };
                    } else {
                        let size = [16, 100, 3000, 8192, 9000, 40_000][dice.random_range(0..6)];
                        let layout = layout::bytes(size);
                        if let Ok(ptr) = heap.malloc(layout) {
                            let stamp = i << 2 | thread;
                            heap.memory().write(ptr.word(), stamp);
                            heap.memory().write(ptr.word() + size / 4 - 1, stamp);
                            held.push((ptr, layout, stamp));
                            served += 1;
                        }
                    }
                }
                assert!(served > 500, "{served}");
                for (ptr, layout, _) in held {
                    // SAFETY: as before.
                    unsafe { heap.free(ptr, layout) };
                }
            });
        }
    });
    // What one instance has, the other gets.
    let heap = attach();
    let usage = || Both::usage(&params, &mut InMemory(base)).expect("usage");
    assert_eq!(usage().used_bytes, 0);
    for size in [64, 20_000, 64, 60_000] {
        let layout = layout::bytes(size);
        let mut blocks = Vec::new();
        let mut failures = 0;
        while failures < 3 {
            match heap.malloc(layout) {
                Ok(block) => blocks.push(block),
                Err(_) => failures += 1,
            }
        }
        let room = len * 4 - Both::plan(2 << 20, &config).expect("a plan").metadata_bytes;
        assert!(
            usage().used_bytes * 2 > room,
            "{size}: {:?} of {room}",
            usage()
        );
        for block in blocks {
            // SAFETY: the blocks came from this heap with this layout.
            unsafe { heap.free(block, layout) };
        }
        assert_eq!(usage().used_bytes, 0);
    }
    drop(words);
}

/// Reads words at an address.
struct InMemory(u64);

impl HeapReader for InMemory {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        // SAFETY: the words live, and nobody writes them meanwhile.
        let heap = unsafe { Words::from_address(self.0, u32::MAX as u64) };
        for (at, word) in (first as usize..).zip(words) {
            *word = heap.load(at);
        }
        Ok(())
    }
}
