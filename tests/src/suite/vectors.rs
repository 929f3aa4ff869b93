//! `HeapVec`.

use super::{ROOMY, Subject, full_with, usable};
use crate::Site;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpheap_api::host::{DeviceError, DeviceVec, LaunchConfig, Pool};
use warpheap_rt::container::HeapVec;
use warpheap_test_kernels::vectors::{
    COMPACT, FREE, GET, NONE, POP, PUSH, RELOCATE, RESERVE, SET, TRUNCATE, VecOp, VecOutcome,
};

/// Vectors on a heap, and what they must hold.
struct Vectors<'s, A> {
    site: &'s Site,
    pool: Pool<A>,
    vectors: DeviceVec<HeapVec<u32>>,
    model: Vec<Vec<u32>>,
}

fn op(kind: u32, index: u32, value: u32) -> VecOp {
    VecOp { kind, index, value }
}

impl<'s, A: Subject> Vectors<'s, A> {
    fn new(site: &'s Site, bytes: u64, lanes: usize) -> Self {
        Vectors {
            site,
            pool: site.device.reserve::<A>(bytes).expect("the heap is made"),
            vectors: DeviceVec::zeroed(&site.device, lanes).expect("vectors"),
            model: vec![Vec::new(); lanes],
        }
    }

    /// Runs the actions of each lane and compares what came of them with ordinary vectors. Each launch
    /// takes one action of every lane whose next one is of a kind.
    fn run(&mut self, program: &[Vec<VecOp>]) -> Vec<Vec<VecOutcome>> {
        let mut all: Vec<Vec<VecOutcome>> = vec![Vec::new(); program.len()];
        let mut sizes = false;
        while all
            .iter()
            .zip(program)
            .any(|(done, ops)| done.len() < ops.len())
        {
            let next: Vec<Vec<VecOp>> = program
                .iter()
                .zip(&all)
                .map(|(ops, done)| {
                    let fits = |op: &&VecOp| {
                        matches!(op.kind, RESERVE | FREE | RELOCATE | COMPACT) == sizes
                    };
                    let left = ops[done.len()..].iter();
                    left.take(1).filter(fits).copied().collect()
                })
                .collect();
            if next.iter().any(|ops| !ops.is_empty()) {
                for (lane, outcomes) in self.launch(&next, sizes).into_iter().enumerate() {
                    all[lane].extend(outcomes);
                }
            }
            sizes = !sizes;
        }
        all
    }

    fn launch(&mut self, program: &[Vec<VecOp>], sizes: bool) -> Vec<Vec<VecOutcome>> {
        let device = &self.site.device;
        let kernels = &self.site.kernels;
        let ops: Vec<VecOp> = program.iter().flatten().copied().collect();
        let starts = starts_of(program);
        let nothing = VecOutcome {
            code: u32::MAX,
            value: 0,
            len: 0,
            capacity: 0,
        };
        let outcomes = DeviceVec::from_slice(device, &vec![nothing; ops.len()]).expect("outcomes");
        let config = LaunchConfig {
            grid_dim: (program.len() as u32).div_ceil(90),
            block_dim: 90,
        };
        let ops = DeviceVec::from_slice(device, &ops).expect("actions");
        let starts = DeviceVec::from_slice(device, &starts).expect("starts");
        let (pool, vectors) = (&self.pool, &mut self.vectors);
        let result = if sizes {
            kernels.size_vectors(pool, config, vectors, &ops, &starts, &outcomes)
        } else {
            kernels.use_vectors(pool, config, vectors, &ops, &starts, &outcomes)
        };
        if let Err(error) = result {
            panic!("{} on {}: {error}", A::NAME, device.info().name);
        }
        let mut taken = outcomes.to_vec().expect("outcomes").into_iter();
        let mut all = Vec::new();
        for (lane, ops) in program.iter().enumerate() {
            let outcomes: Vec<VecOutcome> = taken.by_ref().take(ops.len()).collect();
            for (i, (op, outcome)) in ops.iter().zip(&outcomes).enumerate() {
                let before = self.model[lane].len();
                let value = follow(&mut self.model[lane], *op, outcome.code);
                let len = self.model[lane].len() as u32;
                assert_eq!(
                    (outcome.value, outcome.len),
                    (value, len),
                    "{}: lane {lane}, action {i}, {op:?} on {before} elements: {outcome:?}",
                    A::NAME
                );
                let room = outcome.capacity;
                let reserved = op.kind == RESERVE && outcome.code == 0;
                assert!(room >= len + if reserved { op.value } else { 0 });
                assert!(op.kind != FREE || room == 0);
            }
            all.push(outcomes);
        }
        all
    }

    /// Reads every element of every vector, in a launch of its own.
    fn read_all(&mut self) {
        let program: Vec<Vec<VecOp>> = self
            .model
            .iter()
            .map(|v| (0..=v.len() as u32).map(|i| op(GET, i, 0)).collect())
            .collect();
        self.run(&program);
    }
}

/// Does to a vector of the host what an action did; the value that it gives. An action with an error
/// did nothing.
fn follow(vector: &mut Vec<u32>, op: VecOp, code: u32) -> u32 {
    if code != 0 {
        assert!(code <= 3, "code {code} of {op:?}");
        return 0;
    }
    let index = op.index as usize;
    match op.kind {
        PUSH => vector.push(op.value),
        POP => return vector.pop().unwrap_or(NONE),
        GET => return vector.get(index).copied().unwrap_or(NONE),
        SET => match vector.get_mut(index) {
            Some(element) => {
                *element = op.value;
                return 1;
            }
            None => return 0,
        },
        TRUNCATE => vector.truncate(index),
        FREE => vector.clear(),
        _ => {}
    }
    0
}

/// Random actions that mostly push.
fn random(dice: &mut SmallRng, number: usize) -> Vec<VecOp> {
    let mut one = || {
        let kind = [
            PUSH, PUSH, PUSH, PUSH, POP, GET, SET, RESERVE, TRUNCATE, FREE,
        ][dice.random_range(0..10)];
        // Every eighth truncation and free alone, or vectors would stay short.
        let kind = match kind {
            TRUNCATE | FREE if dice.random_range(0..4) != 0 => PUSH,
            kind => kind,
        };
        let value = match kind {
            RESERVE => dice.random_range(0..40),
            _ => dice.random(),
        };
        op(kind, dice.random_range(0..60), value)
    };
    (0..number).map(|_| one()).collect()
}

/// Random actions give what they give on a vector of the host.
pub fn like_a_vec<A: Subject>(site: &Site) {
    let lanes = 130;
    let mut vectors = Vectors::<A>::new(site, ROOMY, lanes);
    let mut dice = SmallRng::seed_from_u64(7);
    let program: Vec<_> = (0..lanes).map(|_| random(&mut dice, 80)).collect();
    vectors.run(&program);
    vectors.read_all();
}

/// Vectors lie in a buffer between launches and go on growing.
pub fn across_launches<A: Subject>(site: &Site) {
    let lanes = 70;
    let mut vectors = Vectors::<A>::new(site, ROOMY, lanes);
    let mut dice = SmallRng::seed_from_u64(8);
    for _ in 0..4 {
        let program: Vec<_> = (0..lanes)
            .map(|lane| random(&mut dice, lane % 20 + 5))
            .collect();
        vectors.run(&program);
    }
    vectors.read_all();
    let free: Vec<_> = (0..lanes).map(|_| vec![op(FREE, 0, 0)]).collect();
    vectors.run(&free);
    if A::CAPS.frees {
        let usage = vectors.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all vectors were freed: {usage:?}");
    }
}

/// Vectors that move in a compaction hold what they held, and go on growing.
pub fn relocated<A: Subject>(site: &Site) {
    let lanes = 600;
    let mut vectors = Vectors::<A>::new(site, ROOMY, lanes);
    let fill = |lane: u32, count: u32| (0..count).map(move |i| op(PUSH, 0, lane * 100 + i));
    let program: Vec<Vec<VecOp>> = (0..lanes as u32)
        .map(|lane| {
            let mut ops: Vec<_> = fill(lane, 1 + lane % 9).collect();
            // Those that stay come to the same actions at the same time.
            ops.extend((ops.len()..9).map(|_| op(GET, 0, 0)));
            ops.extend((lane % 7 != 0).then_some(op(FREE, 0, 0)));
            ops
        })
        .collect();
    vectors.run(&program);
    for action in [op(COMPACT, 0, 80), op(RELOCATE, 0, 0), op(COMPACT, 0, 0)] {
        vectors.run(&vec![vec![action]; lanes]);
    }
    vectors.read_all();
    let program: Vec<Vec<VecOp>> = (0..lanes as u32)
        .map(|lane| fill(lane, 7).chain([op(GET, lane % 5, 0)]).collect())
        .collect();
    vectors.run(&program);
    vectors.read_all();
    vectors.run(&vec![vec![op(FREE, 0, 0)]; lanes]);
    if A::CAPS.frees {
        let usage = vectors.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all vectors were freed: {usage:?}");
    }
}

/// A vector that cannot grow is as it was.
pub fn out_of_memory<A: Subject>(site: &Site) {
    let lanes = 24;
    let mut vectors = Vectors::<A>::new(site, full_with::<A>(20), lanes);
    // Each one reserves a part of the heap that there is not for all of them.
    let part = (usable(&vectors.pool) / 4 / 10) as u32;
    let program: Vec<Vec<VecOp>> = (0..lanes as u32)
        .map(|lane| {
            let mut ops: Vec<VecOp> = (0..7).map(|i| op(PUSH, 0, lane * 100 + i)).collect();
            ops.push(op(RESERVE, 0, part));
            ops.push(op(RESERVE, 0, part * 20));
            ops.extend((0..8).map(|i| op(GET, i, 0)));
            ops.push(op(SET, 3, 9));
            ops
        })
        .collect();
    let outcomes = vectors.run(&program);
    let refused = outcomes.iter().filter(|lane| lane[7].code != 0).count();
    assert!(refused > 0, "more was handed out than there is");
    assert!(
        outcomes.iter().all(|lane| lane[8].code != 0),
        "a vector larger than the heap"
    );
    vectors.read_all();
}

/// Vectors of vectors, built in some launches, read and freed in another.
pub fn nested<A: Subject>(site: &Site) {
    let (device, lanes, each) = (&site.device, 60, 4);
    let mut vectors = Vectors::<A>::new(site, ROOMY, lanes * each);
    let fill: Vec<Vec<VecOp>> = (0..lanes * each)
        .map(|i| {
            (0..i as u32 % 13)
                .map(|k| op(PUSH, 0, i as u32 + k))
                .collect()
        })
        .collect();
    vectors.run(&fill);
    let inners = |lane| vectors.model.iter().skip(lane).step_by(lanes);
    let sums: Vec<u32> = (0..lanes)
        .map(|lane| inners(lane).flatten().sum())
        .collect();
    let pool = &vectors.pool;
    let mut outers = DeviceVec::<HeapVec<HeapVec<u32>>>::zeroed(device, lanes).expect("vectors");
    let config = LaunchConfig {
        grid_dim: 2,
        block_dim: 48,
    };
    let mut found = DeviceVec::<u32>::zeroed(device, lanes).expect("sums");
    let kernels = &site.kernels;
    let mut launches: Vec<_> = (0..each)
        .map(|k| {
            let first = (k * lanes) as u32;
            kernels.nest_launch(pool, config, &mut outers, &vectors.vectors, first)
        })
        .collect();
    launches.push(kernels.sum_nested_launch(pool, config, &mut outers, &mut found));
    for launch in launches {
        if let Err(error) = launch.run() {
            panic!("{} on {}: {error}", A::NAME, device.info().name);
        }
    }
    assert_eq!(found.to_vec().expect("sums"), sums, "{}", A::NAME);
    if A::CAPS.frees {
        let usage = pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all vectors were freed: {usage:?}");
    }
}

/// The error of a kernel that could not grow a vector reaches the host, and what was built before it
/// is whole.
pub fn kernel_runs_out<A: Subject>(site: &Site) {
    let device = &site.device;
    let bytes = full_with::<A>(40);
    let pool = device.reserve::<A>(bytes).expect("the heap is made");
    let lanes = 64;
    // Of 12 bytes each: twice as many as there is room for.
    let most = (usable(&pool) / 6) as usize / lanes;
    let mut outers = DeviceVec::<HeapVec<HeapVec<u32>>>::zeroed(device, lanes).expect("vectors");
    let inners = DeviceVec::<HeapVec<u32>>::zeroed(device, lanes).expect("vectors");
    let shape = LaunchConfig {
        grid_dim: 2,
        block_dim: 48,
    };
    // Until a lane is refused for want of memory: that others came first says nothing of the heap.
    let mut nest = |_| {
        let nested = site.kernels.nest(&pool, shape, &mut outers, &inners, 0);
        let contended = |error: &DeviceError| match error {
            DeviceError::Kernel(failure) => failure.by_cause == [0, failure.lanes, 0],
            _ => false,
        };
        nested.err().filter(|error| !contended(error))
    };
    match (0..most).find_map(&mut nest) {
        Some(DeviceError::Kernel(failure)) => {
            let [exhausted, contended, unsupported] = failure.by_cause;
            assert_eq!((exhausted + contended, unsupported), (failure.lanes, 0));
            assert!(exhausted > 0 && failure.lanes <= lanes as u32, "{failure}");
            assert!(
                failure.block * 48 + failure.lane < lanes as u32,
                "{failure}"
            );
        }
        other => panic!("{}: {other:?} for {most} vectors each", A::NAME),
    }
    let mut sums = DeviceVec::from_slice(device, &vec![1u32; lanes]).expect("sums");
    site.kernels
        .sum_nested(&pool, shape, &mut outers, &mut sums)
        .expect("nothing is allocated");
    let sums = sums.to_vec().expect("sums");
    assert_eq!(sums, vec![0; lanes], "empty vectors, all of them");
    if A::CAPS.frees {
        let usage = pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all vectors were freed: {usage:?}");
    }
}

/// Where the actions of each lane begin, and the last ones end.
fn starts_of(program: &[Vec<VecOp>]) -> Vec<u32> {
    let mut starts = vec![0];
    for ops in program {
        starts.push(starts[starts.len() - 1] + ops.len() as u32);
    }
    starts
}
