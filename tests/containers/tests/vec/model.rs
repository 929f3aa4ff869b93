//! Actions on vectors, beside the same ones on `std`'s.

use super::config;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use warpheap_api::host::{DeviceVec, HostAlloc, Pool};
use warpheap_container_kernels::vec::{
    ActOnVectorsEntry, Element, NOTHING, VecAction, VecAnswer, action, weighed,
};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapVec;
use warpheap_rt::host::container::{free_vectors, read_vectors};

const EXHAUSTED: u32 = 1;
const UNSUPPORTED: u32 = 3;

/// The two vectors of each lane, and what they are to hold.
struct Vectors<'s, A> {
    site: &'s Site,
    pool: Pool<A>,
    vectors: [DeviceVec<HeapVec<Element>>; 2],
    model: Vec<[Vec<Element>; 2]>,
}

impl<'s, A: HostAlloc + ActOnVectorsEntry> Vectors<'s, A> {
    fn new(site: &'s Site, lanes: usize, bytes: u64) -> Self {
        let vectors = || DeviceVec::zeroed(&site.device, lanes).expect("vectors");
        Vectors {
            site,
            pool: site.heap::<A>(bytes),
            vectors: [vectors(), vectors()],
            model: vec![Default::default(); lanes],
        }
    }

    /// Each lane does its actions, the same number each; their answers are those of `std`'s vectors. Which actions
    /// failed for want of memory, which then have changed nothing.
    fn act(&mut self, programs: &[Vec<VecAction>]) -> usize {
        let device = &self.site.device;
        let each = programs[0].len() as u32;
        let actions = DeviceVec::from_slice(device, &programs.concat()).expect("actions");
        let slice = DeviceVec::from_slice(device, &slice()).expect("a slice");
        let answers = DeviceVec::<VecAnswer>::zeroed(device, actions.len()).expect("answers");
        let shape = config(programs.len() as u32, 48);
        let [vectors, others] = &mut self.vectors;
        let launch = self.site.kernels.act_on_vectors(
            &self.pool, shape, vectors, others, each, &actions, &slice, &answers,
        );
        launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        let answers = answers.to_vec().expect("answers");
        let mut refused = 0;
        for (lane, program) in programs.iter().enumerate() {
            let answers = &answers[lane * each as usize..];
            for (i, (&action, &answer)) in program.iter().zip(answers).enumerate() {
                let place = || format!("lane {lane}, action {i}: {action:?}: {answer:?}");
                let mine = &mut self.model[lane];
                let (mut code, mut found) = (answer.code, NOTHING);
                if answer.code == EXHAUSTED {
                    refused += 1;
                } else {
                    (code, found) = follow(mine, action);
                }
                assert_eq!((answer.code, answer.found), (code, found), "{}", place());
                assert_eq!(answer.len as usize, mine[0].len(), "{}", place());
                assert!(answer.capacity >= answer.len, "{}", place());
                if action.kind == action::SHRINK_TO_FIT && code == 0 {
                    assert_eq!(answer.capacity, answer.len, "{}", place());
                }
                if action.kind == action::RESERVE && code == 0 {
                    assert!(
                        answer.capacity - answer.len >= action.a % 100,
                        "{}",
                        place()
                    );
                }
                // Who could not grow has what was there.
                if answer.code == EXHAUSTED && i > 0 && program[i - 1].kind != action::EXCHANGE {
                    assert_eq!(answer.capacity, answers[i - 1].capacity, "{}", place());
                }
            }
        }
        refused
    }

    /// All elements are there; then nothing is left in the heap.
    fn check(mut self) {
        for (which, vectors) in self.vectors.iter_mut().enumerate() {
            let found = read_vectors(&self.pool, vectors).expect("reads");
            for (lane, (found, model)) in found.iter().zip(&self.model).enumerate() {
                assert_eq!(*found, model[which], "vector {which} of lane {lane}");
            }
            // SAFETY: they are of this heap, and are used no more.
            unsafe { free_vectors(&self.pool, vectors) }.expect("frees");
        }
        assert_empty(&self.pool);
    }
}

/// What is appended from.
fn slice() -> Vec<Element> {
    (0..68).map(|i| [i * 7919 % 101, i]).collect()
}

/// Does an action with `std`'s vectors: the code and the answer.
fn follow(mine: &mut [Vec<Element>; 2], VecAction { kind, a, b }: VecAction) -> (u32, Element) {
    let [vector, other] = mine;
    let (i, j) = (a as usize, b as usize);
    let len = vector.len();
    let mut found = NOTHING;
    let sum = |elements: &[Element]| elements.iter().fold(0, |sum, [key, _]| weighed(sum, *key));
    match kind {
        action::PUSH => vector.push([a, b]),
        action::INSERT if i > len => return (UNSUPPORTED, NOTHING),
        action::INSERT => vector.insert(i, [b, a]),
        action::REMOVE if i < len => found = vector.remove(i),
        action::SWAP_REMOVE if i < len => found = vector.swap_remove(i),
        action::EXTEND_FROM_SLICE if i % 64 == 63 => vector.extend_from_slice(&slice()),
        action::EXTEND_FROM_SLICE => {
            let part = slice().into_iter().skip(j % 8).take(i % 64);
            vector.extend(part);
        }
        action::EXTEND_FROM_VEC => vector.extend_from_slice(other),
        action::APPEND => vector.append(other),
        action::DRAIN => {
            let end = j.min(len);
            let gone: Vec<Element> = vector.drain(i.min(end)..end).collect();
            found = [sum(&gone), gone.len() as u32];
        }
        action::RETAIN => vector.retain(|[key, _]| key % (a % 8 + 1) != 0),
        action::TRUNCATE => vector.truncate(i),
        action::SORT => vector.sort_unstable(),
        action::SWAP => {
            let inside = i < len && j < len;
            if inside {
                vector.swap(i, j);
            }
            found = [u32::from(inside), 0];
        }
        action::SUM => found = [sum(vector), 0],
        action::EXCHANGE => core::mem::swap(vector, other),
        action::POP => found = vector.pop().unwrap_or(NOTHING),
        action::CLEAR => vector.clear(),
        _ => {}
    }
    (0, found)
}

/// Random actions of a few lanes, in two launches.
pub fn proptest(site: &Site, cases: u32) {
    let action = (0..action::COUNT, 0u32..70, 0u32..90);
    let action = action.prop_map(|(kind, a, b)| VecAction { kind, a, b });
    let program = prop::collection::vec(action, 1..24);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let tested = runner.run(&prop::collection::vec(program, 1..9), |mut programs| {
        // The same number for all: what is missing sums up.
        let each = programs.iter().map(Vec::len).max().unwrap_or(1);
        for program in &mut programs {
            program.resize(each, of(action::SUM, 0, 0));
        }
        let mut vectors = Vectors::<RandomWalkMalloc>::new(site, programs.len(), 1 << 20);
        for _ in 0..2 {
            assert_eq!(vectors.act(&programs), 0);
        }
        vectors.check();
        Ok(())
    });
    if let Err(error) = tested {
        panic!("{error}");
    }
}

fn of(kind: u32, a: u32, b: u32) -> VecAction {
    VecAction { kind, a, b }
}

/// Lanes whose vectors are long grow beside others whose are short: each has its own elements afterwards.
pub fn grows_long(site: &Site) {
    let lanes = if site.is_slow() { 150 } else { 3000 };
    let mut vectors = Vectors::<RandomWalkMalloc>::new(site, lanes as usize, 32 << 20);
    for round in 0..5 {
        let program = |lane: u32| {
            let few = if (lane + round) % 3 == 0 { 2 } else { 63 };
            vec![
                of(action::PUSH, lane, round),
                of(action::EXTEND_FROM_SLICE, few, lane),
                of(action::SHRINK_TO_FIT, 0, 0),
                of(action::PUSH, round, lane),
            ]
        };
        assert_eq!(vectors.act(&(0..lanes).map(program).collect::<Vec<_>>()), 0);
    }
    vectors.check();
}

/// The same of two warps, of which one is not full.
pub fn grow_at_once(site: &Site) {
    let lanes = site.device.info().warp_width + 3;
    let mut vectors = Vectors::<RandomWalkMalloc>::new(site, lanes as usize, 1 << 20);
    let program = |lane: u32| {
        let many = if lane % 3 == 1 { 3 } else { 40 };
        vec![
            of(action::EXTEND_FROM_SLICE, many, lane),
            of(action::RESERVE, 90, 0),
            of(action::SHRINK_TO_FIT, 0, 0),
        ]
    };
    assert_eq!(vectors.act(&(0..lanes).map(program).collect::<Vec<_>>()), 0);
    vectors.check();
}

/// Each request fails once, until there is none to fail: that action has done nothing, and all others are done.
pub fn runs_out(site: &Site) {
    let program = |lane: u32| {
        vec![
            of(action::EXTEND_FROM_SLICE, 30 + lane, 1),
            of(action::INSERT, 2, lane),
            of(action::EXCHANGE, 0, 0),
            of(action::PUSH, lane, 5),
            of(action::INSERT, 1, lane),
            of(action::APPEND, 0, 0),
            of(action::EXTEND_FROM_VEC, 0, 0),
            of(action::EXTEND_FROM_SLICE, 50, lane),
            of(action::EXCHANGE, 0, 0),
            of(action::EXTEND_FROM_VEC, 0, 0),
            of(action::TRUNCATE, 50, 0),
            of(action::SHRINK_TO_FIT, 0, 0),
            of(action::RESERVE, 99, 0),
            of(action::SUM, 0, 0),
        ]
    };
    let programs: Vec<_> = (0..3).map(program).collect();
    let mut n = 0;
    loop {
        n += 1;
        let mut vectors = Vectors::<Failing<RandomWalkMalloc>>::new(site, programs.len(), 1 << 20);
        Failing::refuse(&vectors.pool, n).expect("refuses");
        let refused = vectors.act(&programs);
        Failing::refuse(&vectors.pool, 0).expect("refuses none");
        vectors.check();
        if refused == 0 {
            break;
        }
        assert_eq!(refused, 1, "request {n}");
    }
    assert!(n > 3 * 6, "only {} requests", n - 1);
}
