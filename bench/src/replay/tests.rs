//! What lanes have to do.

use super::*;
use warpheap_api::AllocError;

/// An event: launch, lane, what, granule, bytes.
type Told = (u32, u32, TraceCall, u32, u64);

fn script(events: &[Told]) -> Script {
    let event = |&(launch, lane, call, granule, bytes): &Told| TraceEvent {
        time: 0,
        launch,
        lane,
        call,
        granule,
        bytes,
    };
    let trace = Trace {
        events: events.iter().map(event).collect(),
        ..Trace::default()
    };
    Script::new(&trace, "a.trace").unwrap()
}

/// The steps of each lane of a round that has some.
fn of_round(script: &Script, round: usize) -> Vec<(u32, Vec<[u32; 3]>)> {
    let round = script.rounds[round];
    let begin = |lane| script.begins[(round.first + lane) as usize] as usize;
    let steps = |lane| &script.steps[begin(lane)..begin(lane + 1)];
    let lanes = (0..round.lanes).filter(|&lane| !steps(lane).is_empty());
    lanes
        .map(|lane| {
            let steps = steps(lane).iter();
            let steps = steps.map(|step| [step.what, step.block, step.bytes]);
            (lane, steps.collect())
        })
        .collect()
}

use TraceCall::{Failed, Free, Malloc, NotResized, Reset, ResizedFrom, ResizedTo};

#[test]
fn what_another_lane_had_comes_in_a_later_round() {
    let script = script(&[
        (0, 0, Malloc, 10, 16),
        (0, 0, Free, 10, 16),
        (0, 1, Malloc, 10, 32),
        // Of another lane, whose next requests wait, too.
        (0, 0, Free, 10, 32),
        (0, 0, Malloc, 11, 64),
        (0, 2, Free, 11, 64),
        (1, 5, Malloc, 12, 8),
        (1, 5, Free, 12, 8),
    ]);
    let lives: Vec<_> = script.rounds.iter().map(|round| round.live).collect();
    assert_eq!(lives, [32, 64, 0, 0]);
    let (malloc, free) = (|n, bytes| [MALLOC, n, bytes], |n| [FREE, n, 0]);
    let first = [(0, vec![malloc(0, 16), free(0)]), (1, vec![malloc(1, 32)])];
    assert_eq!(of_round(&script, 0), first);
    assert_eq!(of_round(&script, 1), [(0, vec![free(1), malloc(2, 64)])]);
    assert_eq!(of_round(&script, 2), [(2, vec![free(2)])]);
    assert_eq!(of_round(&script, 3), [(5, vec![malloc(3, 8), free(3)])]);
    assert_eq!((script.requests, script.blocks, script.lanes()), (4, 4, 6));
}

#[test]
fn lanes_keep_their_places_in_warps_that_follow_each_other() {
    let script = script(&[
        (0, 70, Malloc, 1, 16),
        (0, 6_400_003, Malloc, 2, 16),
        (0, 64, Malloc, 3, 16),
    ]);
    let lanes: Vec<u32> = of_round(&script, 0).iter().map(|lane| lane.0).collect();
    assert_eq!(lanes, [0, 6, 67]);
    assert_eq!(script.lanes(), 68);
}

#[test]
fn failures_are_asked_for_again_and_given_back() {
    let script = script(&[
        (0, 3, Failed(AllocError::Exhausted), 0, 1 << 40),
        (0, 3, NotResized(AllocError::Exhausted), 0, 100),
    ]);
    let steps = vec![
        [TRY, 0, u32::MAX],
        [DROP, 0, 0],
        [TRY, 1, 100],
        [DROP, 1, 0],
    ];
    assert_eq!(of_round(&script, 0), [(3, steps)]);
    assert_eq!((script.requests, script.rounds[0].live), (2, 0));
}

#[test]
fn a_resize_is_one_step_also_where_other_lanes_come_between() {
    let script = script(&[
        (0, 0, Malloc, 10, 16),
        (0, 0, ResizedFrom, 10, 16),
        // Has the memory that is left.
        (0, 1, Malloc, 10, 16),
        (0, 0, ResizedTo, 20, 32),
        // The clock did not tell which was first.
        (0, 1, ResizedTo, 30, 48),
        (0, 1, ResizedFrom, 10, 16),
        (0, 1, ResizedFrom, 30, 48),
        (0, 1, ResizedTo, 40, 64),
        (1, 2, Free, 20, 32),
        (1, 2, Free, 40, 64),
    ]);
    let first = [
        (0, vec![[MALLOC, 0, 16], [RESIZE, 0, 32]]),
        (
            1,
            vec![
                [MALLOC, 1, 16],
                [MALLOC, 2, 48],
                [FREE, 1, 0],
                [RESIZE, 2, 64],
            ],
        ),
    ];
    assert_eq!(of_round(&script, 0), first);
    assert_eq!(script.rounds[0].live, 96);
    assert_eq!(
        of_round(&script, 1),
        [(2, vec![[FREE, 0, 0], [FREE, 2, 0]])]
    );
    assert_eq!((script.rounds[1].live, script.left_out), (0, 0));
}

#[test]
fn what_the_trace_does_not_have_is_left_out() {
    let script = script(&[
        (0, 0, Free, 5, 16),
        (0, 0, ResizedFrom, 6, 16),
        (0, 0, ResizedTo, 7, 32),
        (0, 1, Malloc, 8, 16),
        // Its free was lost; and what it became.
        (0, 2, Malloc, 8, 24),
        (0, 2, ResizedFrom, 8, 24),
    ]);
    assert_eq!(script.left_out, 2);
    let first = [
        (0, vec![[MALLOC, 0, 32]]),
        (1, vec![[MALLOC, 1, 16]]),
        (2, vec![[MALLOC, 2, 24]]),
    ];
    assert_eq!(of_round(&script, 0), first);
    assert_eq!(
        of_round(&script, 1),
        [(2, vec![[FREE, 1, 0], [FREE, 2, 0]])]
    );
    assert_eq!(script.rounds[1].live, 32);
}

#[test]
fn a_heap_that_is_made_fresh_forgets_its_blocks() {
    let script = script(&[
        (0, 0, Malloc, 10, 16),
        (0, 0, Reset, 0, 0),
        (0, 1, Malloc, 10, 32),
        (0, 1, Free, 10, 32),
    ]);
    let rounds: Vec<_> = script
        .rounds
        .iter()
        .map(|round| (round.fresh, round.since, round.live))
        .collect();
    assert_eq!(rounds, [(false, 0, 16), (true, 1, 0)]);
}

#[test]
fn a_trace_without_requests_is_refused() {
    let error = Script::new(&Trace::default(), "a.trace").unwrap_err();
    assert!(error.to_string().contains("a.trace"), "{error}");
}
