//! Small histories of lanes at one or two keys, which some order has to explain.

use super::groups::{alike, nearly_full};
use super::world::World;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::HashMap;
use warpheap::{DeviceVec, LaunchConfig};
use warpheap_api::host::SharedArg;
use warpheap_container_tests::history::{Timed, is_linear};
use warpheap_container_tests::maps::Site;
use warpheap_history_kernels::Kernels;
use warpheap_history_kernels::histories::*;
use warpheap_rt::device::{AllocError, HeapHashMap, WarpHeap};

const CONTENDED: u32 = 102;

type State = HashMap<u32, u32>;

/// What an action alone does to a map of `std`, and its result.
pub fn step(state: &mut State, op: MapOp) -> u32 {
    let old = state.get(&op.key).copied();
    match op.kind {
        INSERT => {
            state.entry(op.key).or_insert(op.value);
        }
        SET => {
            state.insert(op.key, op.value);
        }
        UPSERT => {
            state.insert(
                op.key,
                old.map_or(op.value, |old| old.wrapping_mul(2).wrapping_add(op.value)),
            );
        }
        ADD => {
            state.insert(
                op.key,
                old.map_or(op.value, |old| old.wrapping_add(op.value)),
            );
        }
        GET => return old.unwrap_or(NONE),
        _ => {
            state.remove(&op.key);
            return old.is_some() as u32;
        }
    }
    old.is_none() as u32
}

/// The kernels of histories on this device.
pub fn history_kernels(site: &Site) -> Kernels {
    warpheap_history_kernels::load(&site.device).expect("the kernels load")
}

/// Small random programs of a few lanes on one or two keys, checked by trying all orders. Before them, each key may
/// be there or have been removed. False if a lane gave up because another one stood still in the middle of
/// an action, which schedules that are explored may do to it; what it wanted then did not happen.
pub fn histories(
    site: &Site,
    kernels: &Kernels,
    seed: u64,
    shape: LaunchConfig,
    wide: bool,
) -> bool {
    let mut dice = SmallRng::seed_from_u64(seed);
    // Values of two words have no slots.
    let (world, keys) = if wide {
        (World::<WarpHeap>::new(site, 1 << 20, 0), [0, 1])
    } else {
        world_of(site, seed)
    };
    let lanes = (shape.grid_dim * shape.block_dim) as usize;
    let mut op = |kinds: &[u32]| MapOp {
        kind: kinds[dice.random_range(0..kinds.len())],
        key: keys[dice.random_range(0..2)],
        also: 3,
        value: dice.random_range(1..1000),
    };
    // One lane before, many at once, one lane after.
    let before: Vec<MapOp> = (0..3).map(|_| op(&[INSERT, REMOVE])).collect();
    let kinds: &[u32] = if wide {
        &[INSERT, SET, UPSERT, GET, GET, REMOVE, REMOVE]
    } else {
        &[INSERT, SET, UPSERT, ADD, ADD, GET, GET, REMOVE, REMOVE]
    };
    let during: Vec<MapOp> = (0..lanes * 3).map(|_| op(kinds)).collect();
    let what = format!("seed {seed}, {shape:?}");
    let complete = is_explained(&world, kernels, &what, wide, keys, shape, [before, during]);
    if !wide {
        world.free();
    }
    complete
}

/// A map for histories, and two keys: a trie alone; a group with slots for both, for one, for none; the same in a branch.
fn world_of(site: &Site, seed: u64) -> (World<'_, WarpHeap>, [u32; 2]) {
    let number = seed as u32 / 3 % 8;
    if number < 2 {
        return (World::new(site, 1 << 20, 0), [0, 1]);
    }
    let world = nearly_full(site, 1 + number / 5, [2, 1, 0][number as usize % 3]);
    let keys = alike(3, 0, 16);
    // Both of one bucket, or of two.
    (world, [keys[0], keys[8 - number as usize % 2]])
}

/// One lane changes the value of a key while others remove it and insert it again: a change that comes late is seen
/// in the new value or not at all. False as in [`histories`].
pub fn late_change(site: &Site, kernels: &Kernels, seed: u64, kind: u32) -> bool {
    let (world, keys) = world_of(site, seed);
    let op = |kind, value| MapOp {
        kind,
        key: keys[0],
        also: 3,
        value,
    };
    // Three lanes change, one removes, one inserts; each looks afterwards.
    let mut during = [op(kind, 5), op(GET, 0)].repeat(3);
    during.extend([op(REMOVE, 0), op(GET, 0), op(INSERT, 70), op(GET, 0)]);
    let shape = LaunchConfig {
        grid_dim: 5,
        block_dim: 1,
    };
    let what = format!("seed {seed}, a late change of kind {kind}");
    let before = vec![op(INSERT, 100)];
    let complete = is_explained(&world, kernels, &what, false, keys, shape, [before, during]);
    world.free();
    complete
}

/// Runs actions of one lane before, and of lanes of this shape, as many each; then asks for the values. Fails
/// unless an order explains what they saw. False as in [`histories`].
fn is_explained(
    world: &World<WarpHeap>,
    kernels: &Kernels,
    what: &str,
    wide: bool,
    keys: [u32; 2],
    shape: LaunchConfig,
    [before, during]: [Vec<MapOp>; 2],
) -> bool {
    let site = world.site;
    let last = MapOp {
        kind: GET,
        key: keys[0],
        also: 3,
        value: 0,
    };
    let other = MapOp {
        key: keys[1],
        ..last
    };
    let after = vec![last, other];
    let clock = DeviceVec::<u32>::zeroed(&site.device, 1).expect("a clock");
    let one = LaunchConfig {
        grid_dim: 1,
        block_dim: 1,
    };
    let mut actions = Vec::new();
    for (ops, shape) in [(before, one), (during, shape), (after, one)] {
        let lanes = shape.grid_dim * shape.block_dim;
        let each = ops.len() as u32 / lanes;
        let starts: Vec<u32> = (0..=lanes).map(|lane| lane * each).collect();
        let outcomes = DeviceVec::zeroed(&site.device, ops.len()).expect("outcomes");
        let listed = DeviceVec::from_slice(&site.device, &ops).expect("ops");
        let starts = world.vec(&starts);
        let pool = &world.pool;
        if wide {
            let table = world.map().table();
            // SAFETY: an empty map has no keys of any width, and this one is used with these alone.
            let map = unsafe { HeapHashMap::with_root(table.root(), table.root_bits()) };
            // SAFETY: it is of this heap, and freed with the world.
            let map = unsafe { SharedArg::assume_of(pool, map) };
            kernels.map_wide_histories(pool, shape, map, &listed, &starts, &clock, &outcomes)
        } else {
            kernels.map_histories(
                pool,
                shape,
                world.shared(),
                &listed,
                &starts,
                &clock,
                &outcomes,
            )
        }
        .expect("the actions");
        let outcomes = outcomes.to_vec().expect("outcomes");
        actions.extend(ops.iter().zip(outcomes).map(|(&op, outcome)| Timed {
            op,
            begin: outcome.begin,
            end: outcome.end,
            result: outcome.result,
        }));
    }
    let count = actions.len();
    actions.retain(|action| action.result != CONTENDED);
    // Who looked for a value in vain has no other way to say so.
    let stats = world.pool.stats().expect("stats");
    let looked = stats.failures[AllocError::Contended.code() as usize - 1];
    let complete = actions.len() == count && looked == 0;
    assert!(
        looked > 0 || is_linear(&actions, &State::new(), &step),
        "{what}: no order explains {actions:#?}"
    );
    complete
}

/// The shapes in which lanes of histories run: in one warp, in several, alone.
pub const SHAPES: [LaunchConfig; 3] = [
    LaunchConfig {
        grid_dim: 1,
        block_dim: 4,
    },
    LaunchConfig {
        grid_dim: 2,
        block_dim: 2,
    },
    LaunchConfig {
        grid_dim: 3,
        block_dim: 1,
    },
];
