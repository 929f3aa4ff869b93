//! What may become of blocks.

use super::*;
use warpheap_bench_kernels::soak::{CALLOC, COUNTS, FREE, FREE_WARP, MALLOC, MALLOC_WARP, NONE};

const NUMBERS: u32 = 8;

fn at(granule: u32, bytes: u32) -> Place {
    Place {
        block: DevicePtr::from_granule(granule),
        bytes,
    }
}

fn plan(steps: &[[u32; 3]]) -> Plan {
    let steps = steps.iter();
    Plan {
        steps: steps
            .map(|&[what, block, bytes]| Step {
                what,
                block,
                bytes,
                align: 16,
            })
            .collect(),
        ..Plan::default()
    }
}

/// Counts of blocks had, resized, freed, and of requests that failed.
fn counts([had, resized, freed, failed]: [u32; 4]) -> [u32; COUNTS] {
    let mut counts = [0; COUNTS];
    (counts[HAD], counts[RESIZED]) = (had, resized);
    (counts[FREED], counts[FAILED]) = (freed, failed);
    counts
}

/// Blocks 1 (100 bytes) and 2 (50 bytes), and the table on the device.
fn table() -> (Table, Vec<Place>) {
    let mut table = Table::new(NUMBERS);
    let mut places = vec![NOWHERE; NUMBERS as usize];
    (places[1], places[2]) = (at(10, 100), at(20, 50));
    let plan = plan(&[[MALLOC, 1, 100], [MALLOC, 2, 50]]);
    let settled = table.settle(&plan, &places, &counts([2, 0, 0, 0]));
    assert_eq!(settled.expect("two blocks").operations, 2);
    (table, places)
}

#[test]
fn what_is_done_is_taken_over() {
    let (mut table, mut places) = table();
    assert_eq!((table.bytes(), table.live().len()), (150, 2));
    let plan = plan(&[
        [FREE, 1, 0],
        [RESIZE, 2, 70],
        [MALLOC, 3, 10],
        [RESIZE, 3, 30],
        [CALLOC, 4, 7],
        [MALLOC, 5, 9],
        [FREE, 5, 0],
        [MALLOC_WARP, 6, 5],
        [MALLOC, 7, 6],
    ]);
    // The kernel leaves the bytes of what is gone.
    places[1].block = DevicePtr::NULL;
    (places[2], places[3], places[4]) = (at(30, 70), at(40, 30), at(50, 7));
    let counts = counts([3, 2, 2, 2]);
    let settled = table.settle(&plan, &places, &counts).expect("all is right");
    assert_eq!((settled.operations, settled.failed), (3 + 2 + 2, 2));
    let mut live = table.live().to_vec();
    live.sort_unstable();
    assert_eq!((live, table.bytes()), (vec![2, 3, 4], 107));
    assert_eq!(table.free().len(), 5);
    table.clear();
    assert_eq!((table.live().len(), table.bytes()), (0, 0));
}

/// Lanes that go along with their warp have no block, and count nothing.
#[test]
fn warps_give_back_what_their_lanes_have() {
    let (mut table, mut places) = table();
    let plan = plan(&[
        [FREE_WARP, 1, 0],
        [FREE_WARP, NONE, 0],
        [FREE_WARP, 2, 0],
        [FREE_WARP, NONE, 0],
    ]);
    assert_eq!(plan.requests(), 0);
    let mut one = places.clone();
    one[1] = NOWHERE;
    let fault = table.clone().settle(&plan, &one, &counts([0, 0, 1, 0]));
    let text = fault.expect_err("one is left").to_string();
    assert!(text.ends_with("last is: free_warp"), "{text}");
    (places[1], places[2]) = (NOWHERE, NOWHERE);
    let settled = table.settle(&plan, &places, &counts([0, 0, 2, 0]));
    assert_eq!(settled.expect("both are gone").operations, 2);
    assert!(table.live().is_empty());
}

#[test]
fn alignments_are_kept_as_long_as_a_block_is_there() {
    let (mut table, mut places) = table();
    let aligned = |steps: &[[u32; 3]], align| {
        let mut plan = plan(steps);
        plan.steps.iter_mut().for_each(|step| step.align = align);
        plan
    };
    places[3] = at(32, 10);
    let new = aligned(&[[MALLOC, 3, 10]], 512);
    let settled = table.settle(&new, &places, &counts([1, 0, 0, 0]));
    settled.expect("a block");
    assert_eq!([1, 2, 3].map(|block| table.align(block)), [16, 16, 512]);
    let resize = aligned(&[[RESIZE, 3, 70]], 512);
    let fault = table.settle(&resize, &places, &counts([0, 1, 0, 0]));
    fault.expect("it may be as it was");
    assert_eq!(table.align(3), 512);
    places[3] = NOWHERE;
    let text = Operation(Some(resize.steps[0])).to_string();
    assert_eq!(text, "realloc to 70 bytes at a multiple of 512");
}

#[test]
fn a_request_that_fails_leaves_a_block_as_it_was() {
    let (mut table, mut places) = table();
    let resize = plan(&[[RESIZE, 2, 70], [MALLOC, 3, 10], [RESIZE, 3, 30]]);
    places[3] = at(40, 10);
    let all = table.settle(&resize, &places, &counts([1, 0, 0, 2]));
    assert_eq!(all.expect("nothing was resized").failed, 2);
    assert_eq!(table.bytes(), 160);
    // It was moved, and is as large as before.
    places[2] = at(60, 50);
    let again = plan(&[[RESIZE, 2, 70]]);
    let fault = table.settle(&again, &places, &counts([0, 0, 0, 1]));
    let text = fault.unwrap_err().to_string();
    assert!(
        text.starts_with("block 2 of 50 bytes became one of 50 bytes at 960"),
        "{text}"
    );
    assert!(text.ends_with("last is: realloc to 70 bytes"), "{text}");
}

#[test]
fn what_cannot_be_is_told() {
    let [free, malloc, resize] = [[FREE, 1, 0], [MALLOC, 3, 10], [RESIZE, 2, 70]];
    let there = [free, malloc, resize];
    let right = |places: &mut [Place]| {
        places[1] = NOWHERE;
        (places[2], places[3]) = (at(30, 70), at(40, 10));
    };
    let full = counts([1, 1, 1, 0]);
    let mut damaged = full;
    damaged[DAMAGED] = 3;
    let mut dirty = full;
    dirty[DIRTY] = 2;
    for (change, counts, part) in [
        (
            (|_| ()) as fn(&mut [Place]),
            damaged,
            "3 blocks did not hold",
        ),
        (
            |_| (),
            dirty,
            "2 blocks of calloc were not all zero when they were handed out",
        ),
        (
            |p| p[1] = at(10, 100),
            full,
            "block 1 of 100 bytes became one of 100 bytes",
        ),
        (|p| p[2] = NOWHERE, full, "block 2 of 50 bytes became none"),
        (|p| p[2] = at(30, 71), full, "became one of 71 bytes"),
        (
            |p| p[3] = at(40, 11),
            full,
            "block 3 of 0 bytes became one of 11",
        ),
        (
            |p| p[4] = at(50, 1),
            full,
            "block 4 of 0 bytes became one of 1 bytes at 800",
        ),
        (
            |p| p[3] = NOWHERE,
            full,
            "lanes count 2 blocks, and what they were to do comes to 1",
        ),
        (|_| (), counts([1, 1, 0, 0]), "lanes count 0 frees, and"),
        (
            |_| (),
            counts([0, 1, 1, 0]),
            "lanes count 1 requests, served or failed, and",
        ),
        (
            |_| (),
            counts([1, 1, 1, 1]),
            "lanes count 3 requests, served or failed, and",
        ),
        (|_| (), counts([0, 1, 1, 1]), "lanes count 1 blocks, and"),
    ] {
        let (mut table, mut places) = table();
        right(&mut places);
        change(&mut places);
        let fault = table.settle(&plan(&there), &places, &counts);
        let text = fault.expect_err(part).to_string();
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}
