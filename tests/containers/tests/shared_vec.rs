//! `HeapSharedVec`: what many lanes append at once.

use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, LaunchConfig, Pool, SharedArg};
use warpheap_container_kernels::list::PENDING;
use warpheap_container_kernels::shared_vec::{
    FreeSharedEntry, MakeSharedEntry, PushSharedEntry, ReadSharedEntry,
};
use warpheap_container_tests::{Site, assert_empty, seeds};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapSharedVec;

const EXHAUSTED: u32 = 1;
const CONTENDED: u32 = 2;
const ONE: LaunchConfig = LaunchConfig {
    grid_dim: 1,
    block_dim: 1,
};

/// An allocator that the kernels are compiled for.
trait Subject:
    HostAlloc + MakeSharedEntry + PushSharedEntry + ReadSharedEntry + FreeSharedEntry
{
}
impl<A> Subject for A where
    A: HostAlloc + MakeSharedEntry + PushSharedEntry + ReadSharedEntry + FreeSharedEntry
{
}

/// A vector under test, and which elements were appended: index, lane, number.
struct Shared<'s, A> {
    site: &'s Site,
    pool: &'s Pool<A>,
    vector: SharedArg<HeapSharedVec<[u32; 2]>>,
    pushed: Vec<(u32, [u32; 2])>,
}

impl<'s, A: Subject> Shared<'s, A> {
    fn new(site: &'s Site, pool: &'s Pool<A>, log2: u32) -> Result<Self, DeviceError> {
        let out = DeviceVec::zeroed(&site.device, 1)?;
        site.kernels.make_shared(pool, ONE, log2, &out)?;
        let vector = out.shared(0)?;
        Ok(Shared {
            site,
            pool,
            vector,
            pushed: Vec::new(),
        })
    }

    /// All lanes append what `codes` says is pending; the codes afterwards.
    fn push(&mut self, shape: Shape, codes: &[u32]) -> Vec<u32> {
        let device = &self.site.device;
        let config = LaunchConfig {
            grid_dim: shape.lanes.div_ceil(shape.block),
            block_dim: shape.block,
        };
        let after = DeviceVec::from_slice(device, codes).expect("codes");
        let indices = DeviceVec::<u32>::zeroed(device, codes.len()).expect("indices");
        let (kernels, each) = (&self.site.kernels, shape.each);
        let launch = kernels.push_shared(
            self.pool,
            config,
            self.vector.clone(),
            each,
            &after,
            &indices,
        );
        launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        let (after, indices) = (after.to_vec().unwrap(), indices.to_vec().unwrap());
        for (slot, index) in indices.into_iter().enumerate() {
            if codes[slot] == PENDING && after[slot] == 0 {
                let slot = slot as u32;
                self.pushed.push((index, [slot / each, slot % each]));
            }
        }
        after
    }

    /// Indices are dense, and each element is where its lane was told; then nothing is left in the heap.
    fn check(mut self) {
        let device = &self.site.device;
        self.pushed.sort();
        let number = self.pushed.len();
        let found = DeviceVec::<[u32; 2]>::zeroed(device, number + 3).expect("found");
        let len = DeviceVec::<u32>::zeroed(device, 1).expect("length");
        let config = LaunchConfig::for_num_elems(number as u32 + 3);
        let kernels = &self.site.kernels;
        for (i, (index, _)) in self.pushed.iter().enumerate() {
            assert_eq!(*index, i as u32, "{}: indices are not dense", A::NAME);
        }
        for value in [None, Some(5)] {
            let launch =
                kernels.read_shared(self.pool, config, self.vector.clone(), 5, &found, &len);
            launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
            assert_eq!(len.to_vec().unwrap(), [number as u32], "{}", A::NAME);
            let mut expected: Vec<[u32; 2]> =
                self.pushed.iter().map(|(_, element)| *element).collect();
            if let Some(value) = value {
                expected.fill([value; 2]);
            }
            expected.extend([[PENDING; 2]; 3]);
            assert_eq!(found.to_vec().unwrap(), expected, "{}", A::NAME);
        }
        self.free();
    }

    fn free(self) {
        let launch = self.site.kernels.free_shared(self.pool, ONE, self.vector);
        launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        assert_empty(self.pool);
    }
}

/// `lanes` lanes in blocks of `block` append `each` elements each.
#[derive(Clone, Copy, Debug)]
struct Shape {
    lanes: u32,
    block: u32,
    each: u32,
}

impl Shape {
    fn pending(self) -> Vec<u32> {
        vec![PENDING; (self.lanes * self.each) as usize]
    }
}

/// All lanes append until each has; nothing is lost, nothing is there twice.
fn all_push<A: Subject>(site: &Site, shape: Shape, log2: u32) {
    all_push_in::<A>(site, shape, log2, 32 << 20);
}

/// The same in a pool of so many bytes.
fn all_push_in<A: Subject>(site: &Site, shape: Shape, log2: u32, pool_bytes: u64) {
    let pool = site.heap::<A>(pool_bytes);
    let mut shared = Shared::new(site, &pool, log2).expect("a vector");
    let mut left = shape.pending();
    for _ in 0..100 {
        left = shared.push(shape, &left);
        for code in left.iter_mut().filter(|code| **code != 0) {
            assert_eq!(*code, CONTENDED, "{}: {shape:?}", A::NAME);
            *code = PENDING;
        }
        if left.iter().all(|code| *code == 0) {
            break;
        }
    }
    assert_eq!(shared.pushed.len(), left.len(), "{}: {shape:?}", A::NAME);
    shared.check();
}

/// Each request of making and filling a vector fails once, until there is none to fail.
fn runs_out(site: &Site, shape: Shape, log2: u32) {
    let pool = site.heap::<Failing<RandomWalkMalloc>>(16 << 20);
    let (mut refused, mut gave_up) = (0, false);
    for n in 1.. {
        Failing::refuse(&pool, n).expect("refuses");
        match Shared::new(site, &pool, log2) {
            Err(_) => {
                assert_eq!(n, 1, "one block is enough");
                assert_empty(&pool);
            }
            Ok(mut shared) => {
                let codes = shared.push(shape, &shape.pending());
                Failing::refuse(&pool, 0).expect("refuses none");
                let possible = [0, EXHAUSTED, CONTENDED];
                assert!(
                    codes.iter().all(|code| possible.contains(code)),
                    "{codes:?}"
                );
                shared.check();
                gave_up |= codes.contains(&CONTENDED);
                // A segment that was refused ahead of time may have been missed by nobody.
                if pool.stats().expect("stats").failures[0] == refused {
                    assert!(!codes.contains(&EXHAUSTED));
                    break;
                }
            }
        }
        refused += 1;
        assert_eq!(pool.stats().expect("stats").failures[0], refused);
    }
    // Fewer than there are segments, if lanes gave up that others held up: then not even half of them may be reached.
    let segments = (shape.pending().len() as u32 >> log2).ilog2();
    assert!(
        refused > segments / 2 || gave_up,
        "{refused} requests failed, {segments} segments"
    );
}

/// Segments that the heap has no room for: elements are there as far as it had.
fn heap_is_full<A: Subject>(site: &Site) {
    // More elements than the heap has room for, but not many more: each of these asks for a block in vain, which takes
    // a driver on CPUs a millisecond.
    let pool = site.heap::<A>(1 << 20);
    let shape = Shape {
        lanes: 320,
        block: 64,
        each: 220,
    };
    let mut shared = Shared::new(site, &pool, 3).expect("a vector");
    let codes = shared.push(shape, &shape.pending());
    let refused = codes.iter().filter(|code| **code != 0).count();
    assert!(refused > 0 && !shared.pushed.is_empty(), "{}", A::NAME);
    shared.check();
}

/// A vector that was made for all elements asks the heap for no more.
fn first_segment_suffices(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(1 << 20);
    let mut shared = Shared::new(site, &pool, 8).expect("a vector");
    let used = || pool.stats().expect("stats").usage.used_bytes;
    let before = used();
    let shape = Shape {
        lanes: 64,
        block: 64,
        each: 4,
    };
    let after = shared.push(shape, &shape.pending());
    assert!(after.iter().all(|code| *code == 0));
    assert_eq!(used(), before);
    shared.check();
}

fn everything(site: &Site) {
    let shape = |lanes, each| Shape {
        lanes,
        block: 96,
        each,
    };
    // The largest segment is one that the allocator serves.
    let many = if site.is_slow() { 300 } else { 3000 };
    for log2 in [0, 3, 8] {
        all_push::<RandomWalkMalloc>(site, shape(many, 5), log2);
    }
    runs_out(site, shape(40, 3), 1);
    heap_is_full::<RandomWalkMalloc>(site);
    first_segment_suffices(site);
    assert!(Shared::new(site, &site.heap::<RandomWalkMalloc>(1 << 20), 32).is_err());
    let pool = site.heap::<RandomWalkMalloc>(1 << 20);
    let nothing = DeviceVec::<HeapSharedVec<[u32; 2]>>::zeroed(&site.device, 1).expect("none");
    let mut none = Shared {
        site,
        pool: &pool,
        vector: nothing.shared(0).expect("none"),
        pushed: Vec::new(),
    };
    assert_eq!(none.push(shape(1, 1), &[PENDING]), [3]);
    none.check();
}

mod host {
    use super::*;

    /// Who is told of a segment knows its block: an old look at it would lead into the first segment, which is
    /// another's memory.
    #[test]
    fn segments_are_not_stale() {
        for width in [1, 4, 32] {
            for seed in seeds(20) {
                few(&Site::modelled(width, seed));
            }
        }
    }

    #[test]
    fn at_every_width() {
        for width in [1, 4, 8, 32, 64] {
            everything(&Site::host(width));
        }
    }

    #[test]
    fn explored() {
        for width in [1, 4, 32] {
            for seed in seeds(150) {
                let site = Site::explored(width, seed);
                let lanes = width * 3 - seed as u32 % width;
                let shape = Shape {
                    lanes,
                    block: width * 2,
                    each: 4,
                };
                let log2 = seed as u32 % 3;
                let run = || {
                    all_push::<RandomWalkMalloc>(&site, shape, log2);
                    if seed % 10 == 0 {
                        runs_out(&site, shape, log2);
                    }
                };
                if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
                    eprintln!("the failing schedule: width {width}, seed {seed}, {shape:?}");
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
}

/// Two warps, of which one is not full.
fn few(site: &Site) {
    let width = site.device.info().warp_width;
    let shape = Shape {
        lanes: width + 1 + width / 8,
        block: width * 2,
        each: 2,
    };
    all_push_in::<RandomWalkMalloc>(site, shape, 1, 1 << 20);
}

warpheap_container_tests::explored_few!(few);
warpheap_container_tests::on_gpus!(everything);
