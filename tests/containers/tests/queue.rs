//! `HeapQueue` and `HeapChunkQueue`: nothing is lost, nothing comes twice, and what lanes do at the same time
//! could have been done one after the other.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_container_kernels::queue::{
    MakeQueuesEntry, NOTHING, POP, PUSH, QueueEvent, TidyQueuesEntry, UseChunkQueueEntry,
    UseQueueEntry, WRONG,
};
use warpheap_container_tests::history::{Timed, is_linear};
use warpheap_container_tests::{Site, assert_empty, seeds};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::{HeapChunkQueue, HeapQueue};

const EXHAUSTED: u32 = 1;
const CONTENDED: u32 = 2;

/// The kind of queue, a bounded one with its capacity.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Bounded(usize),
    Growing,
}

/// An allocator that the kernels are compiled for.
trait Subject:
    HostAlloc + MakeQueuesEntry + TidyQueuesEntry + UseQueueEntry + UseChunkQueueEntry
{
}
impl<A> Subject for A where
    A: HostAlloc + MakeQueuesEntry + TidyQueuesEntry + UseQueueEntry + UseChunkQueueEntry
{
}

/// One queue of each kind.
struct Queues<'s, A> {
    site: &'s Site,
    pool: &'s Pool<A>,
    log2: u32,
    bounded: DeviceVec<HeapQueue<[u32; 2]>>,
    chunked: DeviceVec<HeapChunkQueue<[u32; 2]>>,
}

impl<'s, A: Subject> Queues<'s, A> {
    fn empty(site: &'s Site, pool: &'s Pool<A>, log2: u32) -> Self {
        Queues {
            site,
            pool,
            log2,
            bounded: DeviceVec::zeroed(&site.device, 1).expect("a queue"),
            chunked: DeviceVec::zeroed(&site.device, 1).expect("a queue"),
        }
    }

    fn new(site: &'s Site, pool: &'s Pool<A>, log2: u32) -> Self {
        let queues = Self::empty(site, pool, log2);
        queues
            .make()
            .unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        queues
    }

    fn make(&self) -> Result<(), DeviceError> {
        let kernels = &self.site.kernels;
        let launch = kernels.make_queues(self.pool, ONE, self.log2, &self.bounded, &self.chunked);
        launch.map(|_| ())
    }

    /// Each lane does `each` of the operations, the first `each` of them lane 0.
    fn run(&self, kind: Kind, ops: &[u32], each: u32, block: u32) -> Vec<QueueEvent> {
        let device = &self.site.device;
        let config = LaunchConfig {
            grid_dim: (ops.len() as u32).div_ceil(each * block),
            block_dim: block,
        };
        let given = DeviceVec::from_slice(device, ops).expect("ops");
        let clock = DeviceVec::<u32>::zeroed(device, 1).expect("clock");
        let events = DeviceVec::<QueueEvent>::zeroed(device, ops.len()).expect("events");
        let kernels = &self.site.kernels;
        let launch = match kind {
            Kind::Bounded(_) => {
                let queue = self.bounded.shared(0).expect("a queue");
                kernels.use_queue(self.pool, config, queue, each, &given, &clock, &events)
            }
            Kind::Growing => {
                let queue = self.chunked.shared(0).expect("a queue");
                kernels.use_chunk_queue(self.pool, config, queue, each, &given, &clock, &events)
            }
        };
        launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        let events = events.to_vec().expect("events");
        assert!(
            events.iter().all(|event| event.code != WRONG),
            "{}: torn",
            A::NAME
        );
        events
    }

    /// The lengths; empty nodes are freed, and if `free` says so everything.
    fn tidy(&self, free: bool) -> [u32; 2] {
        let lens = DeviceVec::<u32>::zeroed(&self.site.device, 2).expect("lengths");
        let kernels = &self.site.kernels;
        let (bounded, chunked) = (&self.bounded, &self.chunked);
        let launch = kernels.tidy_queues(self.pool, ONE, free as u32, bounded, chunked, &lens);
        launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        let lens = lens.to_vec().expect("lengths");
        [lens[0], lens[1]]
    }

    fn free(self) {
        self.tidy(true);
        assert_empty(self.pool);
    }
}

const ONE: LaunchConfig = LaunchConfig {
    grid_dim: 1,
    block_dim: 1,
};

/// Many lanes push and pop; what was appended and not removed is there in the end, once.
fn nothing_is_lost<A: Subject>(site: &Site, lanes: u32, log2: u32) {
    let pool = site.heap::<A>(32 << 20);
    let mut dice = SmallRng::seed_from_u64(lanes as u64);
    for kind in [Kind::Bounded(1 << log2.max(1)), Kind::Growing] {
        let queues = Queues::new(site, &pool, log2);
        let ops: Vec<u32> = (0..lanes * 6)
            .map(|_| dice.random_range(0..5) / 3)
            .collect();
        let events = queues.run(kind, &ops, 6, 96);
        let of = |op: u32| {
            let done = ops
                .iter()
                .zip(&events)
                .filter(move |(o, e)| **o == op && e.code == 0);
            let mut values: Vec<u32> = done.map(|(_, event)| event.value).collect();
            values.sort();
            values
        };
        let (pushed, mut popped) = (of(PUSH), of(POP));
        assert!(!pushed.is_empty(), "{}: nothing was appended", A::NAME);
        for event in &events {
            assert!(
                [0, NOTHING, CONTENDED].contains(&event.code),
                "{}: {event:?}",
                A::NAME
            );
        }
        let len = queues.tidy(false)[matches!(kind, Kind::Growing) as usize] as usize;
        assert_eq!(pushed.len() - popped.len(), len, "{}: {kind:?}", A::NAME);
        if let Kind::Bounded(capacity) = kind {
            assert!(len <= capacity);
        }
        // One lane empties it.
        let rest = queues.run(kind, &vec![POP; len + 1], len as u32 + 1, 1);
        assert_eq!(rest[len].code, NOTHING, "{}: {kind:?}", A::NAME);
        popped.extend(
            rest[..len]
                .iter()
                .inspect(|e| assert_eq!(e.code, 0))
                .map(|e| e.value),
        );
        popped.sort();
        assert_eq!(pushed, popped, "{}: {kind:?}", A::NAME);
        queues.free();
    }
}

/// One lane's operations are those of a `VecDeque`.
fn like_a_deque<A: Subject>(site: &Site, cases: u32) {
    let ops = proptest::collection::vec(prop_oneof![3 => Just(PUSH), 2 => Just(POP)], 1..60);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let run = |(ops, log2): (Vec<u32>, u32)| {
        let pool = site.heap::<A>(4 << 20);
        for kind in [Kind::Bounded(1 << log2.max(1)), Kind::Growing] {
            let queues = Queues::new(site, &pool, log2);
            let events = queues.run(kind, &ops, ops.len() as u32, 1);
            let mut model = VecDeque::new();
            for (i, (op, event)) in ops.iter().zip(&events).enumerate() {
                let found = (event.code == 0).then_some(event.value);
                let expected = match (*op, kind) {
                    (POP, _) => model.pop_front(),
                    (_, Kind::Bounded(capacity)) if model.len() == capacity => None,
                    _ => {
                        model.push_back(i as u32);
                        Some(i as u32)
                    }
                };
                prop_assert_eq!(found, expected, "{:?}: operation {} of {:?}", kind, i, ops);
            }
            let len = queues.tidy(false)[matches!(kind, Kind::Growing) as usize];
            prop_assert_eq!(len as usize, model.len());
            queues.free();
        }
        Ok(())
    };
    let result = runner.run(&(ops, 0..4u32), run);
    result.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
}

/// However many elements come and go, a queue takes no more memory than the most that were in it need; tidying frees what was used,
/// and the queue goes on.
fn tidies<A: Subject>(site: &Site) {
    let pool = site.heap::<A>(8 << 20);
    let queues = Queues::new(site, &pool, 3);
    let used = || pool.stats().expect("stats").usage.used_bytes;
    let fresh = used();
    let turns: Vec<u32> = (0..2000).map(|k| k % 8 / 4).collect();
    queues.run(Kind::Growing, &turns, 2000, 1);
    assert_eq!(used(), fresh, "four elements at a time need no more room");
    for _ in 0..3 {
        let events = queues.run(Kind::Growing, &[PUSH; 400], 400, 1);
        assert!(events.iter().all(|event| event.code == 0));
        let full = used();
        assert!(full > fresh);
        queues.run(Kind::Growing, &[POP; 300], 300, 1);
        assert_eq!(used(), full, "rings stay until somebody tidies up");
        assert_eq!(queues.tidy(false)[1], 100);
        assert!(used() < full && used() > fresh);
        let events = queues.run(Kind::Growing, &[POP; 101], 101, 1);
        assert_eq!(
            (events[0].value, events[99].value, events[100].code),
            (300, 399, NOTHING)
        );
        queues.tidy(false);
        assert_eq!(used(), fresh);
    }
    queues.free();
}

/// Each request fails once. Without its first blocks there is no queue; where a larger ring fails, one of the same size does.
fn one_request_fails(site: &Site) {
    let pool = site.heap::<Failing<RandomWalkMalloc>>(8 << 20);
    for n in 1..12 {
        let queues = Queues::empty(site, &pool, 1);
        Failing::refuse(&pool, n).expect("refuses");
        let made = queues.make();
        // The bounded queue's block, and the other one's control block and ring.
        assert_eq!(made.is_err(), n <= 3, "request {n}");
        if made.is_ok() {
            let ops = [vec![PUSH; 60], vec![POP; 40]].concat();
            let events = queues.run(Kind::Growing, &ops, 5, 20);
            assert!(events[..60].iter().all(|event| event.code == 0), "{n}");
            let popped = events[60..].iter().filter(|e| e.code == 0).count();
            let rest = queues.run(Kind::Growing, &[POP; 61], 61, 1);
            let left = rest.iter().filter(|event| event.code == 0).count();
            assert_eq!(60, popped + left, "{n}");
        }
        Failing::refuse(&pool, 0).expect("refuses none");
        queues.free();
    }
}

/// Where the heap has no room for another ring the queue goes on with those that it has.
fn a_full_heap(site: &Site) {
    let bytes = 1 << 18;
    let pool = site.heap::<RandomWalkMalloc>(bytes);
    let queues = Queues::new(site, &pool, 1);
    // Rings have 12 bytes for each, and the last one that fits leaves no room for a larger one. Few more are tried: a lone lane looks
    // through the whole heap for each, so thousands keep a GPU for seconds, and drivers give up on a launch that others delay.
    let number = bytes as usize / 16 + 100;
    let events = queues.run(Kind::Growing, &vec![PUSH; number], number as u32, 1);
    let full = events.iter().position(|event| event.code != 0);
    let full = full.expect("a heap that is full");
    assert!(full > number / 5, "{full} elements in {bytes} bytes");
    assert!(events[full..].iter().all(|event| event.code == EXHAUSTED));
    assert_eq!(queues.tidy(false)[1] as usize, full);
    let events = queues.run(Kind::Growing, &vec![POP; full], full as u32, 1);
    for (at, event) in events.iter().enumerate() {
        assert_eq!((event.code, event.value), (0, at as u32));
    }
    let events = queues.run(Kind::Growing, &[POP, PUSH, POP], 3, 1);
    let codes = events.iter().map(|event| event.code);
    assert_eq!(codes.collect::<Vec<_>>(), [NOTHING, 0, 0]);
    queues.free();
}

fn everything(site: &Site) {
    let many = if site.is_slow() { 300 } else { 20_000 };
    let cases = if site.is_slow() { 20 } else { 10 };
    for log2 in [1, 5, 10] {
        nothing_is_lost::<RandomWalkMalloc>(site, many, log2);
    }
    like_a_deque::<RandomWalkMalloc>(site, cases);
    tidies::<RandomWalkMalloc>(site);
    one_request_fails(site);
    a_full_heap(site);
}

mod host {
    use super::*;

    #[test]
    fn at_every_width() {
        for width in [1, 4, 8, 32, 64] {
            everything(&Site::host(width));
        }
    }

    /// Whether an order explains operations, of which those that were contended have done nothing; and whether
    /// there were such.
    fn is_explained(kind: Kind, ops: &[u32], events: &[QueueEvent]) -> (bool, bool) {
        let nothing = u32::MAX;
        let given = (0..ops.len()).filter(|&i| events[i].code != CONTENDED);
        let actions: Vec<Timed<(u32, u32)>> = given
            .map(|i| Timed {
                op: (ops[i], events[i].value),
                begin: events[i].began,
                end: events[i].ended,
                result: match events[i].code {
                    0 => events[i].value,
                    NOTHING => nothing,
                    other => panic!("code {other}"),
                },
            })
            .collect();
        let step = |queue: &mut VecDeque<u32>, (op, value): (u32, u32)| match kind {
            _ if op == POP => queue.pop_front().unwrap_or(nothing),
            Kind::Bounded(capacity) if queue.len() == capacity => nothing,
            _ => {
                queue.push_back(value);
                value
            }
        };
        let complete = actions.len() == ops.len();
        (is_linear(&actions, &VecDeque::new(), &step), complete)
    }

    /// Small histories of two to four lanes under explored schedules.
    fn histories(width: u32) {
        let (mut complete, mut tried) = (0, 0);
        for seed in seeds(600) {
            let site = Site::explored(width, seed);
            let pool = site.heap::<RandomWalkMalloc>(1 << 20);
            let mut dice = SmallRng::seed_from_u64(seed);
            let log2 = dice.random_range(0..3);
            let (lanes, each) = (dice.random_range(2..=4), dice.random_range(2..=3));
            let ops: Vec<u32> = (0..lanes * each).map(|_| dice.random_range(0..2)).collect();
            // All lanes in a warp, or each in a warp of its own.
            let block = [1, lanes][dice.random_range(0..2)];
            for kind in [Kind::Bounded(1 << log2.max(1)), Kind::Growing] {
                let queues = Queues::new(&site, &pool, log2);
                let events = queues.run(kind, &ops, each, block);
                let (explained, all) = is_explained(kind, &ops, &events);
                complete += all as u32;
                tried += 1;
                assert!(
                    explained,
                    "width {width}, seed {seed}: no order explains {kind:?}, {each} each: {:?}",
                    ops.iter().zip(&events).collect::<Vec<_>>()
                );
                queues.free();
            }
        }
        assert!(
            complete * 120 >= tried * 119,
            "width {width}: only {complete} of {tried} had no lane that gave up"
        );
    }

    #[test]
    fn linearisable_1() {
        histories(1);
    }

    #[test]
    fn linearisable_4() {
        histories(4);
    }

    #[test]
    fn linearisable_8() {
        histories(8);
    }

    #[test]
    fn linearisable_32() {
        histories(32);
    }
}

warpheap_container_tests::on_gpus!(everything);
