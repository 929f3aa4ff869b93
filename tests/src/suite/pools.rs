//! Pools: bad sizes, statistics, and what the host itself allocates in them.

use super::{ROOMY, Subject, least, tight, usable};
use crate::heap::{Failures, malloc};
use crate::oracle::{self, Lifetime, NEVER};
use crate::{Site, TestHeap};
use std::sync::atomic::{AtomicBool, Ordering};
use warpheap_api::host::{
    BlockSize, DeviceBox, DeviceError, DeviceVec, HeapReader, LaunchConfig, PlanError, RawPool,
};
use warpheap_api::{AllocError, layout};
use warpheap_test_kernels::program::Op;

/// A pool that is too small is refused with the size that would do, and that size does.
pub fn too_small<A: Subject>(site: &Site) {
    let least = least::<A>();
    for bytes in [0, 1, 15, 16, 1000, least - 16, least - 1] {
        match site.device.reserve::<A>(bytes) {
            Err(DeviceError::Plan(PlanError::TooSmall { allocator, .. })) => {
                assert_eq!(allocator, A::NAME);
            }
            other => panic!("{}: {bytes} bytes: {other:?}", A::NAME),
        }
    }
    let mut heap = TestHeap::<A>::new(site, least, 1);
    heap.run(&[vec![malloc(0, 1)]], Failures::None);
    heap.check_all();
}

/// A pool beyond the reach of a handle, or beyond the device, is refused and nothing is kept.
pub fn too_large<A: Subject>(site: &Site) {
    for bytes in [64u64 << 30, (64 << 30) + 16, 1 << 40, u64::MAX] {
        match site.device.reserve::<A>(bytes) {
            Err(DeviceError::Plan(PlanError::TooLarge { .. })) => {}
            other => panic!("{}: {bytes} bytes: {other:?}", A::NAME),
        }
    }
    let info = site.device.info();
    let beyond = info.memory_bytes.max(info.max_buffer_bytes) + (1 << 20);
    if beyond < 64 << 30 {
        match site.device.reserve::<A>(beyond) {
            Err(DeviceError::OutOfMemory { .. } | DeviceError::TooLarge { .. }) => {}
            other => panic!("{}: {beyond} bytes: {other:?}", A::NAME),
        }
    }
    site.device
        .reserve::<A>(ROOMY)
        .expect("the device is as usable as before");
}

/// Statistics tell how much is in use.
pub fn stats_tell_usage<A: Subject>(site: &Site) {
    let lanes = 90;
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes);
    let fresh = heap.pool.stats().expect("stats");
    assert_eq!((fresh.allocator, fresh.pool_bytes), (A::NAME, ROOMY));
    assert_eq!((fresh.usage.used_bytes, fresh.failures), (0, [0; 3]));
    assert!(fresh.metadata_bytes > 0 && fresh.metadata_bytes < ROOMY / 4);
    let program: Vec<Vec<Op>> = (0..lanes).map(|lane| vec![malloc(lane, 50)]).collect();
    heap.run(&program, Failures::None);
    let usage = heap.pool.stats().expect("stats").usage;
    assert!(usage.used_bytes >= heap.live_bytes(), "{usage:?}");
    assert!(usage.committed_bytes >= usage.used_bytes, "{usage:?}");
    assert!(usage.used_bytes < ROOMY / 4, "{usage:?}");
    let live = usage.live_blocks.unwrap_or(lanes as u64);
    assert_eq!(live, lanes as u64);
    if let [class] = usage.classes[..] {
        assert_eq!(
            (class.live_blocks, class.used_bytes),
            (live, usage.used_bytes)
        );
        assert_eq!(class.committed_bytes, usage.committed_bytes);
        assert!(
            matches!(class.block, BlockSize::Bytes(50..=256)),
            "{class:?}"
        );
    } else {
        assert!(usage.classes.is_empty(), "blocks of one size: {usage:?}");
    }
}

/// The longest free stretch is one that a request gets, and that no longer one does.
pub fn stats_tell_longest_stretch<A: Subject>(site: &Site) {
    let pool = site.device.reserve::<A>(ROOMY).expect("a heap");
    let longest = || pool.stats().expect("stats").usage.largest_free_run;
    let mut taken = Vec::new();
    for bytes in [0, 30, 5000, 100 << 10, 9 << 20, 900] {
        taken.push(layout::bytes(bytes));
    }
    let blocks: Vec<_> = taken.iter().map(|&layout| pool.malloc(layout)).collect();
    if let Some(bytes) = longest() {
        assert!(
            bytes < usable(&pool) && bytes * 4 > usable(&pool),
            "{bytes}"
        );
        let beyond = layout::bytes(bytes as usize + 1);
        assert!(pool.malloc(beyond).is_err(), "{}: {bytes}", A::NAME);
        let fits = layout::bytes(bytes as usize);
        let block = pool.malloc(fits).expect("it is free");
        // SAFETY: the block came from this heap with this layout and nobody uses it.
        unsafe { pool.free(block, fits) }.expect("a free");
        for (block, &layout) in blocks.into_iter().zip(&taken) {
            // SAFETY: as before.
            unsafe { pool.free(block.expect("there is room"), layout) }.expect("a free");
        }
        assert_eq!(longest(), Some(usable(&pool)), "{}", A::NAME);
    }
}

/// While one thread launches and another reads, neither gets anything but sense.
pub fn stats_while_kernels_run<A: Subject>(site: &Site) {
    let mut heap = TestHeap::<A>::new(site, ROOMY, 300);
    let other = site.device.reserve::<A>(ROOMY).expect("a heap");
    let program: Vec<Vec<Op>> = (0..300).map(|lane| vec![malloc(lane, 3000)]).collect();
    let done = AtomicBool::new(false);
    let (pool, room) = (heap.pool.raw().clone(), usable(&other));
    let reads = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            let mut reader = Reader(&pool);
            while reads == 0 || !done.load(Ordering::Relaxed) {
                let usage = A::usage(&pool.params(), &mut reader).expect("it can be read");
                assert!(usage.used_bytes <= usage.committed_bytes, "{usage:?}");
                assert!(usage.committed_bytes <= room, "{usage:?}");
                let map = A::map(&pool.params(), &mut reader).expect("it can be read");
                for region in &map.regions {
                    assert!(region.used_bytes <= region.bytes, "{region:?}");
                }
                let parts: u64 = map.regions.iter().map(|region| region.bytes).sum();
                assert!(parts <= room, "{parts} bytes");
                reads += 1;
            }
            reads
        });
        for _ in 0..3 {
            heap.run(&program, Failures::None);
            if A::CAPS.frees {
                heap.free_all(&heap.taken(), 77);
            } else {
                heap.reset();
            }
        }
        done.store(true, Ordering::Relaxed);
        reader.join().expect("the reader has no complaint")
    });
    assert!(reads > 0);
}

/// Reads a heap that others launch on.
struct Reader<'a>(&'a RawPool);

impl HeapReader for Reader<'_> {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        let mut bytes = vec![0u8; words.len() * 4];
        self.0.buffer.read(first * 4, &mut bytes)?;
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        Ok(())
    }
}

/// The host allocates and frees in a heap; blocks are as those of kernels.
pub fn host_allocates<A: Subject>(site: &Site) {
    let pool = site.device.reserve::<A>(tight::<A>()).expect("a heap");
    let mut blocks = Vec::new();
    for i in 0..12usize {
        let layout = layout::aligned(i * 70, 1 << (i % 8));
        let ptr = pool.malloc(layout).expect("there is room");
        assert_eq!(ptr.byte_offset(A::GRANULE_SHIFT) % layout.align() as u64, 0);
        blocks.push((ptr, layout));
    }
    let lives: Vec<Lifetime> = blocks
        .iter()
        .map(|(ptr, layout)| Lifetime {
            start: ptr.byte_offset(A::GRANULE_SHIFT),
            bytes: layout.size() as u64,
            born: 0,
            dies: NEVER,
            slot: 0,
        })
        .collect();
    assert_eq!(oracle::overlap(&lives), None);
    let whole = layout::bytes(usable(&pool) as usize + 16);
    let too_large = match whole.size() as u64 > A::CAPS.max_size {
        true => AllocError::Unsupported,
        false => AllocError::Exhausted,
    };
    for (layout, expected) in [
        (whole, too_large),
        (layout::bytes(layout::ABSURD), AllocError::Unsupported),
    ] {
        match pool.malloc(layout) {
            Err(DeviceError::Heap {
                allocator, cause, ..
            }) => assert_eq!((allocator, cause), (A::NAME, expected)),
            other => panic!("{}: {layout:?}: {other:?}", A::NAME),
        }
    }
    for (ptr, layout) in blocks {
        // SAFETY: the blocks came from this heap with these layouts and are not used any more.
        unsafe { pool.free(ptr, layout) }.expect("it is freed");
    }
    if A::CAPS.frees {
        let usage = pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
}

/// Vectors and boxes of the host that lie in a heap are used by kernels and freed with their owner.
pub fn host_owns<A: Subject>(site: &Site) {
    let pool = site.device.reserve::<A>(ROOMY).expect("a heap");
    let used = || pool.stats().expect("stats").usage.used_bytes;
    let data: Vec<u32> = (0..700).map(|i| i * 3).collect();
    let vec = DeviceVec::from_slice_in(&pool, &data).expect("a vector");
    let zeros = DeviceVec::<u32>::zeroed_in(&pool, 100).expect("a vector");
    let mut boxed = DeviceBox::new_in(&pool, [7u32, 8]).expect("a box");
    assert!(used() >= 700 * 4 + 100 * 4 + 8);
    assert!(vec.heap_ptr().is_some() && vec.heap_ptr() != zeros.heap_ptr());
    let shape = LaunchConfig::for_num_elems(700);
    for vec in [&vec, &zeros] {
        site.kernels.increment(shape, vec).expect("it runs");
    }
    let expected: Vec<u32> = data.iter().map(|value| value + 1).collect();
    assert_eq!(vec.to_vec().expect("the vector"), expected);
    assert_eq!(zeros.to_vec().expect("the vector"), [1; 100]);
    assert_eq!(boxed.get().expect("the box"), [7, 8]);
    boxed.set([9, 9]).expect("the box");
    assert_eq!(boxed.get().expect("the box"), [9, 9]);
    drop((vec, zeros, boxed));
    if A::CAPS.frees {
        assert_eq!(used(), 0, "what the host owned was freed");
    }
    let too_many = usable(&pool) as usize / 4 + 4;
    match DeviceVec::<u32>::uninit_in(&pool, too_many) {
        Err(DeviceError::Heap { .. }) => {}
        other => panic!("{}: {other:?}", A::NAME),
    }
}

/// What the host owns in a heap is gone when the heap is made fresh: it says so, and takes nothing from what is there now. Launches keep
/// what they were made with.
pub fn reset_ends_vectors<A: Subject>(site: &Site) {
    let mut pool = site.device.reserve::<A>(ROOMY).expect("a heap");
    let mut old = DeviceVec::from_slice_in(&pool, &[1u32; 500]).expect("a vector");
    let boxed = DeviceBox::new_in(&pool, 7u32).expect("a box");
    let shape = LaunchConfig::for_num_elems(500);
    let launch = site.kernels.increment_launch(shape, &old);
    // Work of a stream in the heap is waited for.
    let stream = site.device.stream().expect("a stream");
    launch.clone().on(&stream).expect("it is queued");
    pool.reset().expect("the heap is made fresh");
    let new = DeviceVec::from_slice_in(&pool, &[2u32; 500]).expect("a vector");
    let used = || pool.stats().expect("stats").usage.used_bytes;
    let before = used();
    let stale = |result: Result<(), DeviceError>| {
        assert!(
            matches!(result, Err(DeviceError::Stale { allocator, .. }) if allocator == A::NAME),
            "{}: {result:?}",
            A::NAME
        );
    };
    stale(old.to_vec().map(drop));
    stale(old.copy_from(&[3; 500]));
    stale(old.fill_zero());
    stale(boxed.get().map(drop));
    stale(site.kernels.increment(shape, &old).map(drop));
    stale(launch.clone().run().map(drop));
    stale(launch.on(&stream));
    stale(stream.read(&old).map(drop));
    stream.wait().expect("nothing went wrong on the device");
    drop((old, boxed));
    assert_eq!(used(), before, "what is gone is not freed again");
    assert_eq!(new.to_vec().expect("the vector"), [2; 500]);
    // A launch keeps the block that it works with.
    let launch = site.kernels.increment_launch(shape, &new);
    drop(new);
    assert_eq!(used(), before);
    launch.on(&stream).expect("it is queued");
    stream.wait().expect("it runs");
    if A::CAPS.frees {
        assert_eq!(used(), 0, "it goes with the last that has it");
    }
}
