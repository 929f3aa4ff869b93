//! Plans.

use super::*;
use std::collections::HashMap;
use warpheap_api::DevicePtr;
use warpheap_bench_kernels::churn::{FAILED, FREED};
use warpheap_bench_kernels::replay::{COUNTS, HAD, Place, RESIZED};

fn planner(seed: u64, lanes: u32, width: u32) -> Planner {
    Planner {
        dice: Dice::new(seed),
        sizes: Sizes::new(32 << 20, u64::MAX),
        lanes,
        width,
    }
}

const AIM: Aim = Aim {
    mallocs: 5,
    frees: 3,
    resizes: 2,
    tries: false,
    budget: 1 << 20,
    law: Law::Mixed,
    long: false,
};

/// A table in which the steps of a plan were done by a heap that has room for all.
fn done(table: &mut Table, plan: &Plan, numbers: u32) {
    let mut places: Vec<Place> = (0..numbers).map(|block| table.place(block)).collect();
    let mut counts = [0; COUNTS];
    for step in &plan.steps {
        let place = &mut places[step.block as usize];
        let there = !place.block.is_null();
        match step.what {
            FREE => {
                assert!(there, "a block is freed that is not there");
                place.block = DevicePtr::NULL;
                counts[FREED] += 1;
            }
            what => {
                assert_eq!(there, what == RESIZE, "{step:?}");
                counts[if there { RESIZED } else { HAD }] += u32::from(what != TRY);
                let block = DevicePtr::from_granule(1 + step.block);
                *place = Place {
                    block,
                    bytes: step.bytes,
                };
            }
        }
    }
    assert_eq!(counts[FAILED], 0);
    table.settle(plan, &places, &counts).expect("all is right");
}

#[test]
fn plans_are_sound_whatever_the_seed() {
    for seed in 0..60u64 {
        let (lanes, width) = (
            1 + seed as u32 * 7 % 200,
            [1, 4, 8, 32, 64][seed as usize % 5],
        );
        let mut planner = planner(seed, lanes, width);
        let numbers = 100 + 40 * (seed as u32 % 20);
        let mut table = Table::new(numbers);
        for round in 0..40u32 {
            let aim = Aim {
                tries: round % 3 == 0,
                mallocs: if round % 10 == 9 { 0 } else { 5 },
                frees: round % 4,
                ..AIM
            };
            let plan = planner.plan(&table, aim);
            assert_eq!(plan.lanes(), lanes);
            assert!(plan.begins.is_sorted());
            assert_eq!(*plan.begins.last().unwrap() as usize, plan.steps.len());
            let mut owners: HashMap<u32, usize> = HashMap::new();
            for (lane, ends) in plan.begins.windows(2).enumerate() {
                let steps = &plan.steps[ends[0] as usize..ends[1] as usize];
                assert!(steps.len() <= MOST_STEPS as usize);
                for step in steps {
                    let owner = *owners.entry(step.block).or_insert(lane);
                    assert_eq!(owner, lane, "a block has steps of two lanes");
                }
            }
            let requests = plan.steps.iter().filter(|step| step.what != FREE);
            let asked: u64 = requests.map(|step| u64::from(step.bytes)).sum();
            assert_eq!(asked, plan.asked);
            // A block that goes at once may have been resized, too.
            assert!(plan.asked <= aim.budget + 2 * u64::from(plan.largest) * u64::from(lanes));
            done(&mut table, &plan, numbers);
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_plans() {
    let plans = |seed| {
        let (mut planner, mut table) = (planner(seed, 96, 32), Table::new(500));
        let mut plans = Vec::new();
        for _ in 0..20 {
            let plan = planner.plan(&table, AIM);
            done(&mut table, &plan, 500);
            plans.push(plan);
        }
        plans
    };
    assert_eq!(plans(5), plans(5));
    assert_ne!(plans(5), plans(6));
}

/// What a plan is for: each kind of warp, step, and block.
#[test]
fn plans_have_all_that_lanes_do() {
    let (mut planner, mut table) = (planner(2, 256, 32), Table::new(8192));
    let (mut alone, mut idle, mut same, mut at_once, mut resized_at_once) = (0, 0, 0, 0, 0);
    let (mut owned_by_others, mut grown, mut shrunk) = (0, 0, 0);
    let mut owner: HashMap<u32, usize> = HashMap::new();
    for _ in 0..60 {
        let aim = Aim {
            budget: 4 << 20,
            ..AIM
        };
        let plan = planner.plan(&table, aim);
        let steps = |lane: usize| {
            let [begin, end] = [plan.begins[lane], plan.begins[lane + 1]].map(|at| at as usize);
            &plan.steps[begin..end]
        };
        for warp in (0..256).step_by(32) {
            let busy = (warp..warp + 32).filter(|&lane| !steps(lane).is_empty());
            let first: Vec<Step> = busy.map(|lane| steps(lane)[0]).collect();
            alone += u32::from(first.len() == 1);
            idle += u32::from(first.is_empty());
            let all = first.len() == 32;
            same += u32::from(
                all && first
                    .iter()
                    .all(|step| (step.what, step.bytes) == (MALLOC, first[0].bytes)),
            );
        }
        for lane in 0..256 {
            for pair in steps(lane).windows(2) {
                let together = pair[0].block == pair[1].block && pair[0].what == MALLOC;
                at_once += u32::from(together && pair[1].what == FREE);
                resized_at_once += u32::from(together && pair[1].what == RESIZE);
            }
            for step in steps(lane) {
                let old = table.place(step.block);
                match step.what {
                    MALLOC => drop(owner.insert(step.block, lane)),
                    RESIZE if old.bytes > step.bytes => shrunk += 1,
                    RESIZE => grown += 1,
                    _ => owned_by_others += u32::from(owner.get(&step.block) != Some(&lane)),
                }
            }
        }
        done(&mut table, &plan, 8192);
    }
    for (what, count) in [
        ("one lane of a warp", alone),
        ("none", idle),
        ("a warp with one size", same),
        ("a block that goes at once", at_once),
        ("one that is resized at once", resized_at_once),
        ("frees by other lanes", owned_by_others),
        ("blocks that grow", grown),
        ("blocks that shrink", shrunk),
    ] {
        assert!(count > 3, "{what}: {count}");
    }
    // Those that live long are left when most have gone.
    while table.live().len() > 400 {
        let aim = Aim { mallocs: 0, ..AIM };
        let plan = planner.plan(&table, aim);
        done(&mut table, &plan, 8192);
    }
    let long = table.live().iter().filter(|&&block| block % LONG == 0);
    assert!(long.count() * LONG as usize > 2 * table.live().len());
}
