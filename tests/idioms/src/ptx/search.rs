//! Goes through the executions of a program: first where each read reads from, then how the writes of each word follow
//! each other.

use std::ops::ControlFlow;

use super::event::{Event, Op, events};
use super::execution::Execution;
use super::{axioms, order};

/// A program: what memory begins with, its threads, and which memory is bad at the end.
pub struct Program {
    pub memory: Vec<u32>,
    pub threads: Vec<Vec<Op>>,
    pub bad: fn(&[u32]) -> bool,
}

/// What the model says of a program.
pub struct Verdict {
    /// Executions that the axioms allow, up to the first bad one.
    pub executions: usize,
    pub bad: Option<&'static str>,
}

impl Program {
    /// Goes through the executions until one has a race or a bad end.
    pub fn explore(&self) -> Verdict {
        let events = events(&self.memory, &self.threads);
        let mut from = vec![usize::MAX; events.len()];
        let mut search = Search {
            events,
            program: self,
            executions: 0,
        };
        let bad = search.reads(0, &mut from).break_value();
        Verdict {
            executions: search.executions,
            bad,
        }
    }
}

struct Search<'a> {
    events: Vec<Event>,
    program: &'a Program,
    executions: usize,
}

impl Search<'_> {
    fn writes_of(&self, word: usize) -> Vec<usize> {
        let is = |&e: &usize| self.events[e].writes() && self.events[e].word() == Some(word);
        (0..self.events.len()).filter(is).collect()
    }

    /// Chooses where the reads from `event` on read from.
    fn reads(&mut self, event: usize, from: &mut Vec<usize>) -> ControlFlow<&'static str> {
        let Some(e) = self.events.get(event) else {
            return match values(&self.events, from) {
                Some(values) => self.orders(0, from, &values, &mut Vec::new()),
                None => ControlFlow::Continue(()),
            };
        };
        if !e.reads() {
            return self.reads(event + 1, from);
        }
        for write in self.writes_of(e.word().expect("a read has one")) {
            if write != event {
                from[event] = write;
                self.reads(event + 1, from)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Chooses in which order the writes of the words from `word` on follow each other.
    fn orders(
        &mut self,
        word: usize,
        from: &[usize],
        values: &[u32],
        order: &mut Vec<Vec<usize>>,
    ) -> ControlFlow<&'static str> {
        if word == self.program.memory.len() {
            return self.judge(from, values, order);
        }
        let mut writes = self.writes_of(word);
        // The first one is what memory begins with.
        permutations(&mut writes, 1, &mut |writes| {
            // Asked for here and not at the end, since it leaves few orders.
            if axioms::atomic(&self.events, from, writes) {
                order.push(writes.to_vec());
                self.orders(word + 1, from, values, order)?;
                order.pop();
            }
            ControlFlow::Continue(())
        })
    }

    fn judge(
        &mut self,
        from: &[usize],
        values: &[u32],
        order: &[Vec<usize>],
    ) -> ControlFlow<&'static str> {
        let execution = Execution {
            events: &self.events,
            from,
            order,
        };
        let cause = order::causality(&execution);
        if !axioms::allow(&execution, &cause) {
            return ControlFlow::Continue(());
        }
        self.executions += 1;
        if axioms::races(&execution, &cause) {
            return ControlFlow::Break("a race");
        }
        let last = |writes: &Vec<usize>| values[*writes.last().expect("at least the first")];
        let memory: Vec<u32> = order.iter().map(last).collect();
        if (self.program.bad)(&memory) {
            return ControlFlow::Break("a bad end");
        }
        ControlFlow::Continue(())
    }
}

/// What each event writes, if what is read is as expected.
fn values(events: &[Event], from: &[usize]) -> Option<Vec<u32>> {
    let n = events.len();
    let mut written: Vec<Option<u32>> = vec![None; n];
    // A value goes through at most so many read-modify-writes.
    for _ in 0..n {
        for e in 0..n {
            written[e] = match events[e].op {
                Op::Write(_, value) | Op::Store(_, value) => Some(value),
                Op::Rmw(_, change) => written[from[e]].map(change),
                _ => None,
            };
        }
    }
    for e in (0..n).filter(|&e| events[e].reads()) {
        let read = written[from[e]]?;
        if events[e].expected.is_some_and(|value| value != read) {
            return None;
        }
    }
    Some(
        written
            .into_iter()
            .map(|value| value.unwrap_or(0))
            .collect(),
    )
}

/// Calls `each` with all orders of the items from `at` on.
fn permutations(
    items: &mut Vec<usize>,
    at: usize,
    each: &mut impl FnMut(&[usize]) -> ControlFlow<&'static str>,
) -> ControlFlow<&'static str> {
    if at >= items.len() {
        return each(items);
    }
    for i in at..items.len() {
        items.swap(at, i);
        permutations(items, at + 1, each)?;
        items.swap(at, i);
    }
    ControlFlow::Continue(())
}
