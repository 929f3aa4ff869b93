//! Traces of heaps: files, tables, time lines, replays.

use super::dice::Dice;
use std::collections::HashMap;
use warpheap::api::AllocError;
use warpheap::{Trace, TraceCall, TraceEvent};
use warpheap_bench::replay::Script;
use warpheap_bench_kernels::replay::{DROP, FREE, MALLOC, RESIZE, TRY};
use warpheap_jobs::trace::file::{TraceError, from_bytes, to_bytes};
use warpheap_jobs::trace::summary::{Row, Summary};

/// How the command line makes a time line.
#[path = "../../../cli/src/trace/perfetto.rs"]
mod perfetto;

/// The first byte says what the others are: a file, or events.
pub fn run(bytes: &[u8]) {
    let Some((&control, bytes)) = bytes.split_first() else {
        return;
    };
    let trace = match control % 2 {
        0 => match from_bytes(bytes) {
            Ok(trace) => trace,
            Err(TraceError::Foreign) => return assert!(!bytes.starts_with(b"WHPTRACE")),
            Err(error) => return assert!(!error.to_string().is_empty()),
        },
        _ => events(Dice(bytes)),
    };
    assert_eq!(from_bytes(&to_bytes(&trace)).as_ref(), Ok(&trace));
    tables(&trace);
    let line = perfetto::time_line(&trace);
    let json = serde_json::to_value(&line).expect("a time line is JSON");
    let entries = json["traceEvents"].as_array().expect("it has events");
    let good = |entry: &serde_json::Value| {
        let number = |key: &str| entry[key].as_f64().is_none_or(|number| number >= 0.0);
        number("ts") && number("dur")
    };
    assert!(entries.iter().all(good), "{json}");
    if let Ok(script) = Script::new(&trace, "t") {
        replay(&script);
    }
}

/// A trace of a few lanes and blocks: five bytes for each event.
fn events(mut dice: Dice<'_>) -> Trace {
    let mut trace = Trace {
        allocator: "WarpHeap".into(),
        clock: true,
        launches: vec!["a".into(), "b".into()],
        ..Trace::default()
    };
    while let Some(event) = event(&mut dice) {
        trace.events.push(event);
    }
    trace
}

fn event(dice: &mut Dice<'_>) -> Option<TraceEvent> {
    let error = AllocError::Exhausted;
    let what = dice.byte()?;
    let call = match what % 8 {
        0 | 1 => TraceCall::Malloc,
        2 | 3 => TraceCall::Free,
        4 => TraceCall::ResizedFrom,
        5 => TraceCall::ResizedTo,
        6 => TraceCall::Failed(error),
        _ => [TraceCall::Reset, TraceCall::NotResized(error)][usize::from(what >> 3) % 2],
    };
    Some(TraceEvent {
        time: u64::from(what >> 4),
        launch: u32::from(what >> 3) % 2,
        lane: dice.below(130)?,
        call,
        granule: dice.below(16)?,
        bytes: dice.wide()?,
    })
}

/// Tables count each event once.
fn tables(trace: &Trace) {
    let summary = Summary::new(trace);
    let all = summary.all;
    let sum = |of: fn(&Row) -> u64| {
        let kernels = summary.kernels.iter().map(|(_, row)| of(row));
        let sizes = summary.sizes.iter().map(|(_, row)| of(row));
        let sum = |counts: &mut dyn Iterator<Item = u64>| {
            counts.fold(0u64, |sum, count| sum.saturating_add(count))
        };
        [sum(&mut { kernels }), sum(&mut { sizes })]
    };
    assert_eq!(sum(|row| row.mallocs), [all.mallocs; 2]);
    assert_eq!(sum(|row| row.frees), [all.frees; 2]);
    assert_eq!(sum(|row| row.resizes), [all.resizes; 2]);
    assert_eq!(sum(|row| row.failures), [all.failures; 2]);
    assert_eq!(sum(|row| row.ended), [all.ended; 2]);
    assert_eq!(sum(|row| row.bytes), [all.bytes; 2]);
    let kernels = summary.kernels.iter().map(|(_, row)| row);
    for row in kernels.chain(summary.sizes.iter().map(|(_, row)| row)) {
        assert!(row.live_bytes <= row.peak_bytes && row.peak_bytes <= all.peak_bytes);
    }
    let classes = summary.sizes.iter().map(|(size, _)| *size);
    assert!(classes.is_sorted() && summary.sizes.iter().all(|(size, _)| *size >= 16));
}

/// A block has steps of one lane in a round, in an order that makes sense.
fn replay(script: &Script) {
    assert!(script.requests > 0);
    let mut blocks: HashMap<u32, u32> = HashMap::new();
    let mut next = 0;
    for round in &script.rounds {
        assert_eq!(round.first, next);
        next += round.lanes + 1;
        assert!(round.lanes <= script.lanes());
        if round.fresh {
            blocks.clear();
        }
        let mut owners: HashMap<u32, u32> = HashMap::new();
        for lane in 0..round.lanes {
            let at = (round.first + lane) as usize;
            let [begin, end] = [script.begins[at], script.begins[at + 1]];
            for step in &script.steps[begin as usize..end as usize] {
                let known = *owners.entry(step.block).or_insert(lane);
                assert_eq!(known, lane, "block {} has two lanes", step.block);
                assert!(step.block < script.blocks && step.block >= round.since);
                let was = match step.what {
                    MALLOC | TRY => blocks.insert(step.block, step.bytes).is_none(),
                    RESIZE => blocks.insert(step.block, step.bytes).is_some(),
                    FREE | DROP => blocks.remove(&step.block).is_some(),
                    _ => false,
                };
                assert!(was, "{step:?} of round {round:?}");
            }
        }
        let live: u64 = blocks.values().map(|bytes| u64::from(*bytes)).sum();
        assert_eq!(round.live, live);
    }
    assert_eq!(next as usize, script.begins.len());
}
