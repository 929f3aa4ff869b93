//! Events of many rings become one sequence.
//!
//! Rings are read one after the other. A launch's events are put in the order of their times. Where these are equal, or there is no
//! clock, what happened to a block decides: it is handed out before it is freed, and freed before it is handed out again.

use super::take::Kept;
use super::trace::{TraceCall, TraceEvent};
use std::collections::{HashMap, HashSet, VecDeque};
use std::vec::Vec;

/// Nanoseconds of a step of the clock.
const STEP: u64 = 64;
/// Nanoseconds that a device's clock may stand still.
const STILL: u64 = 1024;

/// The time of each event: with a clock nanoseconds since the first one, otherwise the number of its place.
pub(super) fn times(kept: &[Kept], clock: bool) -> Vec<u64> {
    if !clock {
        return kept.iter().map(|one| u64::from(one.time)).collect();
    }
    // The clock has a word: what is seen is how far it is from the last time that is known, of this launch or the one before.
    let launches = kept.iter().map(|one| one.launch).max().unwrap_or(0);
    let mut last = vec_of(launches as usize + 1);
    for one in kept {
        let seen: &mut Option<u32> = &mut last[one.launch as usize];
        *seen = Some(match *seen {
            Some(time) if later(one.time, time) <= 0 => time,
            _ => one.time,
        });
    }
    let mut bases = Vec::new();
    let mut base: Option<(u32, i64)> = None;
    for &latest in &last {
        base = match (base, latest) {
            (Some((word, time)), Some(latest)) => Some((latest, time + later(latest, word))),
            (None, Some(latest)) => Some((latest, 0)),
            (base, None) => base,
        };
        bases.push(base.unwrap_or((0, 0)));
    }
    let whole: Vec<i64> = kept
        .iter()
        .map(|one| {
            let (word, time) = bases[one.launch as usize];
            time + later(one.time, word)
        })
        .collect();
    let first = whole.iter().copied().min().unwrap_or(0);
    whole
        .into_iter()
        .map(|time| time.abs_diff(first) * STEP)
        .collect()
}

fn vec_of(len: usize) -> Vec<Option<u32>> {
    std::vec![None; len]
}

/// How much later a word of the clock is than another one.
fn later(time: u32, than: u32) -> i64 {
    i64::from(time.wrapping_sub(than) as i32)
}

/// The events in order; those of a ring come in the order of their places.
pub(super) fn ordered(mut events: Vec<TraceEvent>, clock: bool) -> Vec<TraceEvent> {
    events.sort_by_key(|event| (event.launch, event.time));
    let mut sequence = Sequence::default();
    let mut rest = &events[..];
    while let Some(first) = rest.first() {
        let together = |event: &TraceEvent| {
            event.launch == first.launch && (!clock || event.time - first.time < STILL)
        };
        let end = rest.iter().position(|event| !together(event));
        let (now, later) = rest.split_at(end.unwrap_or(rest.len()));
        sequence.put_all(now);
        rest = later;
    }
    let mut events = sequence.events;
    if !clock {
        for (event, number) in events.iter_mut().zip(0..) {
            event.time = number;
        }
    }
    events
}

/// Events in order, and what is in use behind them.
#[derive(Default)]
struct Sequence {
    events: Vec<TraceEvent>,
    live: HashSet<u32>,
    /// By granule, events that cannot be next.
    waiting: HashMap<u32, VecDeque<TraceEvent>>,
}

impl Sequence {
    /// Events whose times do not tell their order.
    fn put_all(&mut self, events: &[TraceEvent]) {
        for &event in events {
            let granule = event.granule;
            if self.can_be_next(event) {
                self.put(event);
                self.put_waiting(granule);
            } else {
                self.waiting.entry(granule).or_default().push_back(event);
            }
        }
        // Blocks of before the trace, and those of which an event was lost.
        let mut left: Vec<TraceEvent> = self.waiting.drain().flat_map(|(_, all)| all).collect();
        left.sort_by_key(|event| (event.time, event.lane, event.granule));
        left.into_iter().for_each(|event| self.put(event));
    }

    fn can_be_next(&self, event: TraceEvent) -> bool {
        let live = self.live.contains(&event.granule);
        (!event.call.begins() || !live) && (!event.call.ends() || live)
    }

    fn put(&mut self, event: TraceEvent) {
        match event.call {
            call if call.begins() => {
                self.live.insert(event.granule);
            }
            call if call.ends() => {
                self.live.remove(&event.granule);
            }
            TraceCall::Reset => self.live.clear(),
            _ => {}
        }
        self.events.push(event);
    }

    /// Events of a block that can be next by now.
    fn put_waiting(&mut self, granule: u32) {
        while let Some(mut all) = self.waiting.remove(&granule) {
            let next = all.iter().position(|&event| self.can_be_next(event));
            let event = next.and_then(|at| all.remove(at));
            if !all.is_empty() {
                self.waiting.insert(granule, all);
            }
            match event {
                Some(event) => self.put(event),
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time: u64, call: TraceCall, granule: u32) -> TraceEvent {
        TraceEvent {
            time,
            launch: 0,
            lane: granule,
            call,
            granule,
            bytes: 8,
        }
    }

    fn kept(launch: u32, time: u32) -> Kept {
        Kept {
            launch,
            time,
            lane: 0,
            granule: 0,
            packed: 0,
        }
    }

    #[test]
    fn a_block_decides_where_times_do_not() {
        use TraceCall::{Free, Malloc};
        let all = [
            event(64, Free, 5),
            event(64, Malloc, 5),
            event(0, Malloc, 5),
            event(64, Free, 5),
            event(128, Malloc, 9),
            // Of a block of before.
            event(5000, Free, 7),
        ];
        let calls = |clock| -> Vec<(TraceCall, u32)> {
            let events = ordered(all.to_vec(), clock);
            events.iter().map(|one| (one.call, one.granule)).collect()
        };
        let (m, f) = (|at| (Malloc, at), |at| (Free, at));
        let expected = [m(5), f(5), m(5), f(5), m(9), f(7)];
        assert_eq!(calls(true), expected);
        assert_eq!(calls(false), expected);
    }

    #[test]
    fn the_clock_may_wrap() {
        let all = [
            kept(0, u32::MAX - 1),
            kept(0, u32::MAX - 3),
            kept(1, 2),
            kept(1, u32::MAX),
            kept(3, 1 << 30),
        ];
        let steps: Vec<u64> = times(&all, true).iter().map(|time| time / STEP).collect();
        assert_eq!(steps, [2, 0, 6, 3, (1 << 30) + 4]);
        assert_eq!(times(&[], true), []);
    }
}
