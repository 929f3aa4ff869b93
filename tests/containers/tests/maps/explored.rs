//! Maps under explored schedules: histories, changes that come late, cursors beside insertions.

use super::*;

#[test]
fn histories_are_linear() {
    let (mut complete, mut tried) = (0, 0);
    for seed in seeds(400) {
        let width = [1, 4, 32][seed as usize % 3];
        let site = Site::explored(width, seed);
        let kernels = history_kernels(&site);
        for shape in SHAPES {
            complete += histories(&site, &kernels, seed, shape, false) as u32;
            complete += histories(&site, &kernels, seed, shape, true) as u32;
            tried += 2;
        }
    }
    assert!(
        complete * 120 >= tried * 119,
        "only {complete} of {tried} had no lane that gave up"
    );
}

#[test]
fn late_changes_are_seen_whole_or_not_at_all() {
    let (mut complete, mut tried) = (0, 0);
    for seed in seeds(8000) {
        let site = Site::explored(1, seed);
        let kind = [ADD, SET, UPSERT][seed as usize % 3];
        complete += late_change(&site, &history_kernels(&site), seed, kind) as u32;
        tried += 1;
    }
    // With the model of memory a lane may see old values until it gives up.
    assert!(
        complete == tried || std::env::var_os("WARPHEAP_RACES").is_some(),
        "only {complete} of {tried} had no lane that gave up"
    );
}

#[test]
fn keys_are_listed_once_while_others_come() {
    for seed in seeds(60) {
        lists_while_growing(&Site::explored([1, 4, 32][seed as usize % 3], seed), 3);
    }
}

#[test]
fn memory_runs_out() {
    for seed in 0..3 {
        all_run_out(&Site::explored(4, seed));
    }
}

#[test]
fn all_ask_for_what_has_no_room() {
    for seed in 0..6 {
        asked_by_all(&Site::explored([1, 4, 32][seed as usize % 3], seed));
    }
}

#[test]
fn all_find_a_full_group() {
    for seed in seeds(30) {
        few_bring_branches(&Site::explored([1, 4, 32][seed as usize % 3], seed));
    }
}

#[test]
fn collisions() {
    for seed in 0..10 {
        collides(&Site::explored(8, seed));
        collides_in_slots(&Site::explored(8, seed));
    }
}
