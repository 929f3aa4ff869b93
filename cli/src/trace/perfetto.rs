//! A trace as a time line in Chrome's format of trace events, which Perfetto opens: a slice for each launch, a counter of bytes in
//! use, and counters of requests.
//!
//! Counters have a value for each of [`STEPS`] steps of time at most: of bytes in use the most, of requests their number.

use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use warpheap::{Trace, TraceCall};

/// Most values of a counter.
const STEPS: u64 = 4096;

/// The whole file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeLine {
    display_time_unit: &'static str,
    trace_events: Vec<Entry>,
}

/// An event of the format. Times are microseconds.
#[derive(Debug, Serialize)]
struct Entry {
    name: String,
    ph: &'static str,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    args: BTreeMap<&'static str, u64>,
}

impl Entry {
    fn counter(name: &str, at: u64, args: &[(&'static str, u64)]) -> Self {
        Entry {
            name: name.to_owned(),
            ph: "C",
            ts: micros(at),
            dur: None,
            pid: 1,
            tid: 0,
            args: args.iter().copied().collect(),
        }
    }
}

/// Nanoseconds, or numbers of events, as the format has times.
fn micros(time: u64) -> f64 {
    time as f64 / 1000.0
}

/// A trace as a time line.
pub fn time_line(trace: &Trace) -> TimeLine {
    let mut trace_events = slices(trace);
    trace_events.extend(counters(trace));
    TimeLine {
        display_time_unit: "ns",
        trace_events,
    }
}

/// A slice for each launch, from its first request to its last; those that run at the same time lie in rows of their own.
fn slices(trace: &Trace) -> Vec<Entry> {
    let mut spans: BTreeMap<u32, (u64, u64, u64)> = BTreeMap::new();
    for event in &trace.events {
        let span = spans.entry(event.launch).or_insert((u64::MAX, 0, 0));
        *span = (span.0.min(event.time), span.1.max(event.time), span.2 + 1);
    }
    let mut spans: Vec<_> = spans.into_iter().collect();
    spans.sort_by_key(|(_, span)| span.0);
    let mut rows: Vec<u64> = Vec::new();
    let mut entries = Vec::new();
    for (launch, (first, last, requests)) in spans {
        let free = rows.iter().position(|end| *end <= first);
        let row = free.unwrap_or(rows.len());
        match rows.get_mut(row) {
            Some(end) => *end = last,
            None => rows.push(last),
        }
        let name = trace.launches.get(launch as usize);
        entries.push(Entry {
            name: name.cloned().unwrap_or_else(|| "?".to_owned()),
            ph: "X",
            ts: micros(first),
            dur: Some(micros(last - first)),
            pid: 1,
            tid: row as u32 + 1,
            args: [("requests", requests)].into(),
        });
    }
    entries
}

/// What happened in a step of time.
#[derive(Clone, Copy, Default)]
struct Step {
    most_bytes: u64,
    live_bytes: u64,
    mallocs: u64,
    frees: u64,
    failures: u64,
}

/// The counters.
fn counters(trace: &Trace) -> Vec<Entry> {
    let end = trace.events.iter().map(|event| event.time).max();
    let step = end.unwrap_or(0) / STEPS + 1;
    let mut steps: BTreeMap<u64, Step> = BTreeMap::new();
    let mut blocks: HashMap<u32, u64> = HashMap::new();
    let mut live = 0u64;
    for event in &trace.events {
        let before = live;
        let at = steps.entry(event.time / step).or_insert_with(|| Step {
            most_bytes: before,
            ..Step::default()
        });
        match event.call {
            call if call.begins() => {
                let known = blocks.insert(event.granule, event.bytes).unwrap_or(0);
                live = live.saturating_sub(known).saturating_add(event.bytes);
                at.mallocs += u64::from(call == TraceCall::Malloc);
            }
            call if call.ends() => {
                live = live.saturating_sub(blocks.remove(&event.granule).unwrap_or(0));
                at.frees += u64::from(call == TraceCall::Free);
            }
            TraceCall::Reset => {
                blocks.clear();
                live = 0;
            }
            _ => at.failures += 1,
        }
        at.most_bytes = at.most_bytes.max(live);
        at.live_bytes = live;
    }
    let mut entries = Vec::new();
    for (number, at) in &steps {
        let time = number * step;
        entries.push(Entry::counter(
            "bytes in use",
            time,
            &[("bytes", at.most_bytes)],
        ));
        let requests = [
            ("mallocs", at.mallocs),
            ("frees", at.frees),
            ("failures", at.failures),
        ];
        entries.push(Entry::counter("requests", time, &requests));
        if !steps.contains_key(&(number + 1)) {
            let none = [("mallocs", 0), ("frees", 0), ("failures", 0)];
            let after = time.saturating_add(step);
            entries.push(Entry::counter("requests", after, &none));
            let bytes = [("bytes", at.live_bytes)];
            entries.push(Entry::counter("bytes in use", after, &bytes));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use warpheap::TraceEvent;

    fn event(time: u64, launch: u32, call: TraceCall, granule: u32, bytes: u64) -> TraceEvent {
        TraceEvent {
            time,
            launch,
            lane: 0,
            call,
            granule,
            bytes,
        }
    }

    fn entries(trace: &Trace) -> Vec<Value> {
        let line = serde_json::to_value(time_line(trace)).expect("JSON");
        assert_eq!(line["displayTimeUnit"], "ns");
        line["traceEvents"].as_array().expect("entries").clone()
    }

    #[test]
    fn launches_are_slices_and_bytes_a_counter() {
        use TraceCall::{Free, Malloc};
        let trace = Trace {
            launches: vec!["fill".into(), "drain".into(), "beside".into()],
            clock: true,
            events: vec![
                event(0, 0, Malloc, 1, 100),
                event(1000, 0, Malloc, 2, 50),
                event(2000, 1, Free, 1, 100),
                event(4000, 1, Free, 2, 50),
                event(3000, 2, Malloc, 3, 7),
            ],
            ..Trace::default()
        };
        let entries = entries(&trace);
        let slice = |name: &str, ts: f64, dur: f64, tid: u32, requests: u32| json!({"name": name, "ph": "X", "ts": ts, "dur": dur, "pid": 1, "tid": tid, "args": {"requests": requests}});
        let expected = [
            slice("fill", 0.0, 1.0, 1, 2),
            slice("drain", 2.0, 2.0, 1, 2),
            slice("beside", 3.0, 0.0, 2, 1),
        ];
        assert_eq!(entries[..3], expected);
        let bytes: Vec<(f64, u64)> = entries
            .iter()
            .filter(|entry| entry["name"] == "bytes in use")
            .filter_map(|entry| Some((entry["ts"].as_f64()?, entry["args"]["bytes"].as_u64()?)))
            .collect();
        let most = bytes.iter().map(|one| one.1).max();
        assert_eq!(most, Some(150));
        assert_eq!(bytes.first(), Some(&(0.0, 100)));
        let total = |what: &str| -> u64 {
            let counts = entries.iter().filter(|entry| entry["name"] == "requests");
            counts
                .filter_map(|entry| entry["args"][what].as_u64())
                .sum()
        };
        assert_eq!(
            (total("mallocs"), total("frees"), total("failures")),
            (3, 2, 0)
        );
    }

    #[test]
    fn a_file_may_claim_any_time_and_size() {
        let trace = Trace {
            launches: vec!["fill".into()],
            events: vec![
                event(0, 0, TraceCall::Malloc, 1, u64::MAX),
                event(u64::MAX, 0, TraceCall::Malloc, 2, u64::MAX),
            ],
            ..Trace::default()
        };
        let entries = entries(&trace);
        let last = entries.last().expect("an entry");
        assert_eq!(last["args"]["bytes"], u64::MAX);
        assert!(last["ts"].as_f64() >= Some(u64::MAX as f64 / 1000.0));
    }

    #[test]
    fn a_long_trace_has_no_more_values_than_steps() {
        let events = (0..50_000).map(|at| event(at * 64, 0, TraceCall::Malloc, at as u32, 16));
        let trace = Trace {
            launches: vec!["fill".into()],
            events: events.collect(),
            ..Trace::default()
        };
        let entries = entries(&trace);
        assert!(entries.len() as u64 <= 2 * STEPS + 3, "{}", entries.len());
        let last = entries.last().expect("an entry");
        assert_eq!(last["args"]["bytes"], 50_000 * 16);
    }
}
