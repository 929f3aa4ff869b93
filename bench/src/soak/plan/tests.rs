//! Plans.

use super::*;
use std::collections::HashMap;
use warpheap_api::DevicePtr;
use warpheap_bench_kernels::churn::{FAILED, FREED};
use warpheap_bench_kernels::replay::{HAD, Place, RESIZED};
use warpheap_bench_kernels::soak::COUNTS;

fn planner(seed: u64, lanes: u32, width: u32) -> Planner {
    Planner {
        dice: Dice::new(seed),
        sizes: Sizes::new(32 << 20, u64::MAX, 1 << 16),
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
    for step in plan.of_blocks() {
        let place = &mut places[step.block as usize];
        let there = !place.block.is_null();
        match step.what {
            FREE | FREE_WARP => {
                assert!(there, "a block is freed that is not there");
                place.block = DevicePtr::NULL;
                counts[FREED] += 1;
            }
            what => {
                assert_eq!(there, what == RESIZE, "{step:?}");
                assert!(what != CALLOC || step.bytes <= MOST_ZEROS);
                counts[if there { RESIZED } else { HAD }] += 1;
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

/// What is done together is the first step of all lanes of a warp that is there as a whole, and never a later one.
fn warps_stay_together(plan: &Plan, width: u32) {
    let together = |step: &Step| [MALLOC_WARP, FREE_WARP].contains(&step.what);
    let lanes: Vec<&[Step]> = plan
        .begins
        .windows(2)
        .map(|ends| &plan.steps[ends[0] as usize..ends[1] as usize])
        .collect();
    for warp in lanes.chunks(width as usize) {
        let first = warp.iter().find_map(|steps| steps.first());
        if let Some(first) = first.filter(|step| together(step)) {
            assert_eq!(warp.len(), width as usize, "a part of a warp");
            let same = |steps: &&[Step]| steps.first().is_some_and(|one| one.what == first.what);
            assert!(warp.iter().all(same), "{warp:?}");
        } else {
            let firsts = warp.iter().filter_map(|steps| steps.first());
            assert_eq!(firsts.filter(|step| together(step)).count(), 0, "{warp:?}");
        }
        let later = warp.iter().flat_map(|steps| steps.iter().skip(1));
        assert_eq!(later.filter(|step| together(step)).count(), 0, "{warp:?}");
    }
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
                for step in steps.iter().filter(|step| step.block != NONE) {
                    let owner = *owners.entry(step.block).or_insert(lane);
                    assert_eq!(owner, lane, "a block has steps of two lanes");
                    let old = table.place(step.block);
                    let align = table.align(step.block);
                    assert!(old.block.is_null() || step.align == align, "{step:?}");
                }
            }
            warps_stay_together(&plan, width);
            let requests = plan.steps.iter().filter(|step| !gives_back(step));
            let bytes = requests.map(|step| footprint(step.bytes, step.align));
            let asked: u64 = bytes.map(u64::from).sum();
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
    let (mut zeros, mut aligned, mut moved) = (0, 0, 0);
    let (mut ask, mut ask_the_same, mut give, mut go_along) = (0, 0, 0, 0);
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
            let begin = first.first().map_or(NONE, |step| step.what);
            ask += u32::from(begin == MALLOC_WARP);
            let bytes = |bytes| first.iter().all(|step| step.bytes == bytes);
            ask_the_same += u32::from(begin == MALLOC_WARP && bytes(first[0].bytes));
            give += u32::from(begin == FREE_WARP);
            same += u32::from(
                all && first
                    .iter()
                    .all(|step| (step.what, step.bytes) == (MALLOC, first[0].bytes)),
            );
        }
        for lane in 0..256 {
            for pair in steps(lane).windows(2) {
                let together = pair[0].block == pair[1].block && !gives_back(&pair[0]);
                at_once += u32::from(together && pair[1].what == FREE);
                resized_at_once += u32::from(together && pair[1].what == RESIZE);
            }
            for step in steps(lane) {
                zeros += u32::from(step.what == CALLOC);
                aligned += u32::from(step.align > GRANULE && !gives_back(step));
                moved += u32::from(step.align > GRANULE && step.what == RESIZE);
                go_along += u32::from(step.block == NONE);
                if step.block == NONE {
                    continue;
                }
                let old = table.place(step.block);
                match step.what {
                    MALLOC | CALLOC | MALLOC_WARP => drop(owner.insert(step.block, lane)),
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
        ("blocks of zeros", zeros),
        ("blocks at multiples of more", aligned),
        ("those that get another size", moved),
        ("warps that ask together", ask),
        ("those that ask for the same", ask_the_same),
        ("those that ask for what each likes", ask - ask_the_same),
        ("warps that give back together", give),
        ("lanes that go along", go_along),
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

/// Whole warps give back no more than is right, also where a few large blocks are all that may be asked for.
#[test]
fn many_lanes_fill_a_heap() {
    let (room, numbers) = (32u64 << 20, 1 << 14);
    let (mut planner, mut table) = (planner(7, 4096, 32), Table::new(numbers));
    let mut rounds = 0;
    while table.bytes() < room * 3 / 4 && rounds < 60 {
        let aim = Aim {
            mallocs: 12,
            frees: 1,
            budget: room / 16,
            ..AIM
        };
        let plan = planner.plan(&table, aim);
        done(&mut table, &plan, numbers);
        rounds += 1;
    }
    let live = table.bytes();
    assert!(live >= room * 3 / 4, "{live} bytes after {rounds} rounds");
}
