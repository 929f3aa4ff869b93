//! Containers that lanes share, as arguments: whatever becomes of their owner and their heap, a launch has them or is refused.

use warpheap::{DeviceHashMap, DeviceHashSet, DeviceMultiMap, DeviceVec, LaunchConfig, Pool};
use warpheap_api::host::{DeviceError, LaunchReport, SharedArg};
use warpheap_container_kernels::Kernels;
use warpheap_container_kernels::list::PENDING;
use warpheap_container_kernels::queue::{POP, QueueEvent};
use warpheap_container_tests::assert_empty;
use warpheap_container_tests::sets::Site;
use warpheap_rt::device::{HeapHashSet, HeapSharedVec, RandomWalkMalloc};
use warpheap_rt::host::container::{DeviceChunkQueue, DeviceQueue, DeviceSharedVec};

type Heap = Pool<RandomWalkMalloc>;
type Set = DeviceHashSet<[u32; 2], RandomWalkMalloc>;
type SetArg = SharedArg<HeapHashSet<[u32; 2]>>;

/// The keys of a set, and answers for each.
struct Keys {
    keys: DeviceVec<[u32; 2]>,
    answers: DeviceVec<u32>,
}

impl Keys {
    fn new(site: &Site, first: u32, number: u32) -> Self {
        let keys: Vec<[u32; 2]> = (first..first + number).map(|i| [i, !i]).collect();
        Keys {
            keys: DeviceVec::from_slice(&site.device, &keys).expect("keys"),
            answers: DeviceVec::zeroed(&site.device, keys.len()).expect("answers"),
        }
    }

    fn shape(&self) -> LaunchConfig {
        LaunchConfig::for_num_elems(self.keys.len() as u32)
    }

    fn insert(&self, site: &Site, pool: &Heap, set: SetArg) -> Result<LaunchReport, DeviceError> {
        let (kernels, shape) = (&site.kernels, self.shape());
        kernels.set_insert(pool, shape, set, &self.keys, &self.answers)
    }

    /// How many of them are in a set.
    fn ask(&self, site: &Site, pool: &Heap, set: SetArg) -> u32 {
        let (kernels, shape) = (&site.kernels, self.shape());
        let asked = kernels.set_ask(pool, shape, set, &self.keys, &self.answers, 0);
        asked.expect("set_ask");
        self.answers.to_vec().expect("answers").iter().sum()
    }
}

/// The kernels of the other containers.
fn others(site: &Site) -> Kernels {
    warpheap_container_kernels::load(&site.device).expect("the kernels load")
}

/// What a launch is refused with.
#[track_caller]
fn refused(launch: Result<LaunchReport, DeviceError>, what: &str) {
    match launch {
        Err(error @ DeviceError::BadLaunch { .. }) => {
            let text = error.to_string();
            assert!(text.contains(what), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

const OTHER: &str = "its argument 2 is a container of another heap (of RandomWalkMalloc) than the launch's (of RandomWalkMalloc)";
const FRESH: &str =
    "its argument 2 is a container of a RandomWalkMalloc heap that was made fresh since";

/// An argument keeps what its owner has let go.
fn outlives_its_owner(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(4 << 20);
    let keys = Keys::new(site, 0, 200);
    let set = Set::new(&pool, 4).expect("a set");
    let (first, second) = (set.set(), set.set());
    drop(set);
    // Whoever takes memory now does not get the set's.
    let other = Set::from_keys(&pool, &[[1, 1]; 40]).expect("a set");
    keys.insert(site, &pool, first).expect("set_insert");
    assert_eq!(keys.ask(site, &pool, second), 200);
    assert_eq!(other.to_vec().expect("keys"), [[1, 1]]);
    drop(other);
    assert_empty(&pool);
    // So does a launch that was prepared, and each of its clones.
    let set = Set::new(&pool, 4).expect("a set");
    let (kernels, shape) = (&site.kernels, keys.shape());
    let launch = kernels.set_insert_launch(&pool, shape, set.set(), &keys.keys, &keys.answers);
    drop(set);
    launch.clone().run().expect("set_insert");
    assert_ne!(pool.stats().expect("stats").usage.used_bytes, 0);
    launch.run().expect("set_insert");
    assert_empty(&pool);
}

/// A launch on a stream has the container until it has ended.
fn outlives_its_owner_on_a_stream(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(8 << 20);
    let stream = site.device.stream().expect("a stream");
    let (kernels, rounds) = (&site.kernels, 8);
    let many = if site.is_slow() { 300 } else { 3000 };
    let keys: Vec<_> = (0..rounds)
        .map(|i| Keys::new(site, i * many, many))
        .collect();
    let set = Set::new(&pool, 4).expect("a set");
    let map = DeviceMultiMap::<u32, u32, _>::new(&pool, 4).expect("a map");
    let pushed: Vec<u32> = (0..many).collect();
    let pushed = DeviceVec::from_slice(&site.device, &pushed).expect("keys");
    for keys in &keys {
        let (shape, set) = (keys.shape(), set.set());
        let launch = kernels.set_insert_launch(&pool, shape, set, &keys.keys, &keys.answers);
        launch.on(&stream).expect("queued");
        let launch = kernels.multi_push_launch(&pool, shape, map.map(), &pushed, &pushed);
        launch.on(&stream).expect("queued");
    }
    drop(set);
    drop(map);
    stream.wait().expect("all were inserted");
    for keys in &keys {
        assert_eq!(
            keys.answers.to_vec().expect("answers"),
            vec![0; many as usize]
        );
    }
    drop(stream);
    assert_empty(&pool);
}

/// What lies in one heap is refused with another one.
fn other_heap(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(4 << 20);
    let other = site.heap::<RandomWalkMalloc>(4 << 20);
    let keys = Keys::new(site, 0, 50);
    let set = Set::new(&pool, 4).expect("a set");
    refused(keys.insert(site, &other, set.set()), OTHER);
    keys.insert(site, &pool, set.set()).expect("set_insert");
    // Nor is one that a kernel made, and left in a vector.
    let made = DeviceVec::<HeapHashSet<[u32; 2]>>::zeroed(&site.device, 1).expect("a set");
    let count = DeviceVec::<u32>::zeroed(&site.device, 1).expect("a count");
    let one = LaunchConfig::for_num_elems(1);
    let own = || site.kernels.set_own(&pool, one, &made, &count);
    own().expect("a set");
    let shared = || made.shared(0).expect("the set");
    refused(keys.insert(site, &other, shared()), OTHER);
    keys.insert(site, &pool, shared()).expect("set_insert");
    let words = made.to_vec().expect("the set")[0];
    // SAFETY: it is of this heap, and there for the launch.
    let assumed = unsafe { SharedArg::assume_of(&pool, words) };
    refused(keys.insert(site, &other, assumed.clone()), OTHER);
    assert_eq!(keys.ask(site, &pool, assumed), 50);
    own().expect("the end");
    drop(set);
    assert_empty(&pool);
    assert_empty(&other);
}

/// What was in a heap is refused after it was made fresh, and its owner frees nothing.
fn fresh_heap(site: &Site) {
    let mut pool = site.heap::<RandomWalkMalloc>(4 << 20);
    let keys = Keys::new(site, 0, 50);
    let set = Set::from_keys(&pool, &[[1, 2]]).expect("a set");
    let map = DeviceHashMap::<u32, u32, _>::from_pairs(&pool, &[(1, 2)]).expect("a map");
    let groups = [(1, vec![2, 3])];
    let lists = DeviceMultiMap::<u32, u32, _>::from_groups(&pool, &groups).expect("a map");
    let queue = DeviceQueue::from_slice_in(&pool, &[[1, 2]], 4).expect("a queue");
    let chunks = DeviceChunkQueue::from_slice_in(&pool, &[[1, 2]], 4).expect("a queue");
    let vector = DeviceSharedVec::from_slice_in(&pool, &[[1, 2]]).expect("a vector");
    let early = set.set();
    let (kernels, shape) = (&site.kernels, keys.shape());
    let prepared = kernels.set_insert_launch(&pool, shape, set.set(), &keys.keys, &keys.answers);
    pool.reset().expect("made fresh");
    // Who takes memory now has that of before.
    let new = Set::new(&pool, 4).expect("a set");
    keys.insert(site, &pool, new.set()).expect("set_insert");
    let used = pool.stats().expect("stats").usage.used_bytes;

    refused(keys.insert(site, &pool, early), FRESH);
    refused(keys.insert(site, &pool, set.set()), FRESH);
    refused(prepared.run(), FRESH);
    let words = || DeviceVec::from_slice(&site.device, &[PENDING; 2]).expect("words");
    let (one, [first, second]) = (LaunchConfig::for_num_elems(1), [words(), words()]);
    let events = DeviceVec::<QueueEvent>::zeroed(&site.device, 1).expect("events");
    let pops = DeviceVec::from_slice(&site.device, &[POP]).expect("ops");
    refused(
        kernels.multi_push(&pool, one, lists.map(), &first, &second),
        FRESH,
    );
    let kernels = others(site);
    refused(
        kernels.use_queue(&pool, one, queue.handle(), 1, &pops, &first, &events),
        FRESH,
    );
    refused(
        kernels.use_chunk_queue(&pool, one, chunks.handle(), 1, &pops, &first, &events),
        FRESH,
    );
    refused(
        kernels.push_shared(&pool, one, vector.handle(), 1, &first, &second),
        FRESH,
    );
    // The host's own calls are refused too.
    assert!(set.fill(&[[3, 4]]).is_err() && set.to_vec().is_err());
    assert!(map.fill(&[(3, 4)]).is_err() && map.to_vec().is_err());
    assert!(lists.to_vec().is_err());
    for stale in [queue.to_vec(), chunks.to_vec(), vector.to_vec()] {
        assert!(matches!(stale, Err(DeviceError::Stale { .. })));
    }

    drop((set, map, lists));
    drop((queue, chunks, vector));
    assert_eq!(pool.stats().expect("stats").usage.used_bytes, used);
    assert_eq!(keys.ask(site, &pool, new.set()), 50);
    drop(new);
    assert_empty(&pool);
}

/// The same for containers that a kernel made, and for their vector.
fn fresh_heap_of_a_vector(site: &Site) {
    let mut pool = site.heap::<RandomWalkMalloc>(1 << 20);
    let made = DeviceVec::<HeapSharedVec<[u32; 2]>>::zeroed(&site.device, 1).expect("a vector");
    let one = LaunchConfig::for_num_elems(1);
    let kernels = others(site);
    let make = |pool: &Heap| kernels.make_shared(pool, one, 3, &made);
    make(&pool).expect("a vector");
    let vector = made.shared(0).expect("the vector");
    pool.reset().expect("made fresh");
    let words = || DeviceVec::from_slice(&site.device, &[PENDING]).expect("words");
    let push = |pool: &Heap, vector| kernels.push_shared(pool, one, vector, 1, &words(), &words());
    refused(push(&pool, vector), FRESH);
    refused(push(&pool, made.shared(0).expect("the vector")), FRESH);
    refused(make(&pool), "made fresh since");
    made.fill_zero().expect("zeros");
    make(&pool).expect("a vector");
    push(&pool, made.shared(0).expect("the vector")).expect("pushed");
    assert!(made.shared(1).is_err());
}

fn everything(site: &Site) {
    outlives_its_owner(site);
    outlives_its_owner_on_a_stream(site);
    other_heap(site);
    fresh_heap(site);
    fresh_heap_of_a_vector(site);
}

mod host {
    use super::*;

    #[test]
    fn at_every_width() {
        for width in [1, 4, 32] {
            everything(&Site::host(width));
        }
    }
}

warpheap_container_tests::on_gpus!(everything);
