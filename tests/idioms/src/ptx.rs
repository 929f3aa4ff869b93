//! PTX's memory model for programs without branches: goes through all ways in which reads get their values and writes
//! of a word follow each other, and keeps those that the axioms allow.
//!
//! After the memory consistency model of the PTX ISA: observation order, release and acquire patterns of a fence and
//! a strong operation, base causality, causality; coherence, causality, atomicity, SC per location, no thin air. All
//! strong operations are relaxed and of device scope, all in one proxy. Memory is words.

use std::ops::ControlFlow;

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Weak.
    Read(usize),
    Write(usize, u32),
    /// Strong.
    Load(usize),
    Store(usize, u32),
    Rmw(usize, fn(u32) -> u32),
    /// Only executions in which the last read gave this value; what follows depends on it.
    When(u32),
    /// `fence.release.gpu` and `fence.acquire.gpu`; `fence.acq_rel.gpu` is both, one behind the other.
    Release,
    Acquire,
    /// Of the warp, for all threads that have this number.
    Barrier(u32),
}

/// What the model says of a program.
pub struct Verdict {
    /// Executions that the axioms allow, up to the first bad one.
    pub executions: usize,
    pub bad: Option<&'static str>,
}

/// An instruction in an execution.
struct Event {
    /// None for what memory begins with.
    thread: Option<usize>,
    op: Op,
    /// Whether it comes after a `When`.
    depends: bool,
}

impl Event {
    fn word(&self) -> Option<usize> {
        match self.op {
            Op::Read(w) | Op::Write(w, _) | Op::Load(w) | Op::Store(w, _) | Op::Rmw(w, _) => {
                Some(w)
            }
            _ => None,
        }
    }
    fn reads(&self) -> bool {
        matches!(self.op, Op::Read(_) | Op::Load(_) | Op::Rmw(..))
    }
    fn writes(&self) -> bool {
        matches!(self.op, Op::Write(..) | Op::Store(..) | Op::Rmw(..))
    }
    fn strong(&self) -> bool {
        matches!(self.op, Op::Load(_) | Op::Store(..) | Op::Rmw(..))
    }
}

/// A relation: for each event a set.
type Relation = Vec<u64>;

fn relation(n: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
    let row = |a| {
        (0..n)
            .filter(|&b| holds(a, b))
            .fold(0, |set, b| set | 1 << b)
    };
    (0..n).map(row).collect()
}

fn has(relation: &Relation, a: usize, b: usize) -> bool {
    relation[a] >> b & 1 != 0
}

fn closure(mut relation: Relation) -> Relation {
    for via in 0..relation.len() {
        for a in 0..relation.len() {
            if has(&relation, a, via) {
                relation[a] |= relation[via];
            }
        }
    }
    relation
}

fn acyclic(relation: Relation) -> bool {
    let all = closure(relation);
    (0..all.len()).all(|a| !has(&all, a, a))
}

/// A program: what memory begins with, its threads, and which memory is bad at the end.
pub struct Program {
    pub memory: Vec<u32>,
    pub threads: Vec<Vec<Op>>,
    pub bad: fn(&[u32]) -> bool,
}

impl Program {
    /// Goes through the executions until one has a race or a bad end.
    pub fn explore(&self) -> Verdict {
        let start = |word| Event {
            thread: None,
            op: Op::Store(word, self.memory[word]),
            depends: false,
        };
        let mut events: Vec<Event> = (0..self.memory.len()).map(start).collect();
        let mut expected: Vec<Option<u32>> = vec![None; events.len()];
        for (thread, ops) in self.threads.iter().enumerate() {
            let mut depends = false;
            for &op in ops {
                if let Op::When(value) = op {
                    *expected.last_mut().expect("a read before") = Some(value);
                    depends = true;
                } else {
                    events.push(Event {
                        thread: Some(thread),
                        op,
                        depends,
                    });
                    expected.push(None);
                }
            }
        }
        let mut search = Search {
            events: &events,
            expected: &expected,
            program: self,
            executions: 0,
        };
        let mut from = vec![usize::MAX; events.len()];
        let bad = search.reads(0, &mut from).break_value();
        Verdict {
            executions: search.executions,
            bad,
        }
    }
}

struct Search<'a> {
    events: &'a [Event],
    expected: &'a [Option<u32>],
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
            return match self.values(from) {
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

    /// What is read and what is written, if that is as expected.
    fn values(&self, from: &[usize]) -> Option<Vec<u32>> {
        let n = self.events.len();
        let mut written: Vec<Option<u32>> = vec![None; n];
        for _ in 0..n {
            for e in 0..n {
                written[e] = match self.events[e].op {
                    Op::Write(_, value) | Op::Store(_, value) => Some(value),
                    Op::Rmw(_, change) => written[from[e]].map(change),
                    _ => None,
                };
            }
        }
        for e in (0..n).filter(|&e| self.events[e].reads()) {
            let read = written[from[e]]?;
            if self.expected[e].is_some_and(|value| value != read) {
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
            let behind =
                |i: usize| !self.events[writes[i]].reads() || from[writes[i]] == writes[i - 1];
            if (1..writes.len()).all(behind) {
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
        let events = self.events;
        let n = events.len();
        let word = |e: usize| events[e].word();
        let same = |a: usize, b: usize| word(a).is_some() && word(a) == word(b);
        let thread = |e: usize| events[e].thread;
        let po = |a: usize, b: usize| a < b && thread(a).is_some() && thread(a) == thread(b);
        let strong =
            |a: usize, b: usize| (events[a].strong() && events[b].strong()) || po(a, b) || po(b, a);
        let rf = |a: usize, b: usize| events[b].reads() && from[b] == a;
        let place = |e: usize| {
            let place = order[word(e)?].iter().position(|&write| write == e);
            place.filter(|_| events[e].writes())
        };
        let co = |a: usize, b: usize| same(a, b) && place(a).is_some() && place(a) < place(b);
        let fr = |a: usize, b: usize| a != b && events[a].reads() && co(from[a], b);

        let observed = closure(relation(n, |a, b| rf(a, b) && strong(a, b)));
        let synchronizes = |a: usize, b: usize| match (events[a].op, events[b].op) {
            (Op::Release, Op::Acquire) => (0..n).any(|w| {
                let released = po(a, w) && events[w].strong() && events[w].writes();
                let acquired =
                    |r: usize| po(r, b) && events[r].strong() && same(w, r) && has(&observed, w, r);
                released && (0..n).any(acquired)
            }),
            (Op::Barrier(x), Op::Barrier(y)) => a != b && x == y,
            _ => false,
        };
        let base = closure(relation(n, |a, b| {
            po(a, b) || synchronizes(a, b) || (thread(a).is_none() && thread(b).is_some())
        }));
        let cause = relation(n, |a, b| {
            has(&base, a, b) || (0..n).any(|z| has(&observed, a, z) && has(&base, z, b))
        });
        let coherent = (0..n).all(|a| {
            (0..n).all(|b| {
                let contradicts =
                    co(b, a) || (a == b && events[a].writes()) || rf(b, a) || fr(b, a);
                !(same(a, b) && has(&cause, a, b) && contradicts)
            })
        });
        let per_word = relation(n, |a, b| {
            same(a, b) && (po(a, b) || (strong(a, b) && (rf(a, b) || co(a, b) || fr(a, b))))
        });
        let depends = |a: usize, b: usize| po(a, b) && events[a].reads() && events[b].depends;
        let thin_air = relation(n, |a, b| rf(a, b) || depends(a, b));
        if !coherent || !acyclic(per_word) || !acyclic(thin_air) {
            return ControlFlow::Continue(());
        }
        self.executions += 1;
        let race = |a: usize, b: usize| {
            same(a, b)
                && thread(a).is_some()
                && thread(b).is_some()
                && (events[a].writes() || events[b].writes())
                && !strong(a, b)
                && !has(&cause, a, b)
                && !has(&cause, b, a)
        };
        if (0..n).any(|a| (0..a).any(|b| race(a, b))) {
            return ControlFlow::Break("a race");
        }
        let last = |order: &Vec<usize>| values[*order.last().expect("at least the first")];
        let memory: Vec<u32> = order.iter().map(last).collect();
        if (self.program.bad)(&memory) {
            return ControlFlow::Break("a bad end");
        }
        ControlFlow::Continue(())
    }
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

#[cfg(test)]
mod tests {
    use super::Op::{Acquire, Load, Release, Rmw, Store, When};
    use super::*;

    /// Whether an execution ends with a one in the last word.
    fn allowed(memory: Vec<u32>, threads: Vec<Vec<Op>>) -> bool {
        let bad = |memory: &[u32]| memory.last() == Some(&1);
        let program = Program {
            memory,
            threads,
            bad,
        };
        program.explore().bad.is_some()
    }

    #[test]
    fn message_passing_needs_both_fences() {
        for (release, acquire) in [(true, true), (true, false), (false, true)] {
            let mut send = vec![Store(0, 1), Release, Store(1, 1)];
            let mut receive = vec![Load(1), When(1), Acquire, Load(0), When(0), Store(2, 1)];
            if !release {
                send.remove(1);
            }
            if !acquire {
                receive.remove(2);
            }
            let stale = allowed(vec![0; 3], vec![send, receive]);
            assert_eq!(stale, !(release && acquire), "{release} {acquire}");
        }
    }

    #[test]
    fn stores_may_wait_behind_loads() {
        let lane = |mine, other, last| vec![Store(mine, 1), Load(other), When(0), Rmw(2, last)];
        let first: fn(u32) -> u32 = |before| before + 1;
        assert!(allowed(
            vec![0, 0, u32::MAX],
            vec![
                lane(0, 1, |before| before.wrapping_add(1)),
                lane(1, 0, first),
            ]
        ));
    }

    #[test]
    fn loads_wait_for_later_stores_unless_these_depend_on_them() {
        let end = vec![Load(2), When(2), Store(3, 1)];
        let count: fn(u32) -> u32 = |before| before + 1;
        let free = |own, other| {
            vec![
                Load(own),
                Store(other, 1),
                Load(own),
                When(1),
                Rmw(2, count),
            ]
        };
        let depends = |own, other| vec![Load(own), When(1), Store(other, 1), Rmw(2, count)];
        assert!(allowed(
            vec![0; 4],
            vec![free(0, 1), free(1, 0), end.clone()]
        ));
        assert!(!allowed(
            vec![0; 4],
            vec![depends(0, 1), depends(1, 0), end]
        ));
    }

    #[test]
    fn a_word_has_one_order() {
        let read = vec![Load(0), When(1), Load(0), When(0), Store(1, 1)];
        assert!(!allowed(vec![0; 2], vec![vec![Store(0, 1)], read]));
        let add: fn(u32) -> u32 = |before| before + 1;
        assert!(!allowed(
            vec![0],
            vec![vec![Rmw(0, add)], vec![Rmw(0, add)]]
        ));
    }

    #[test]
    fn a_release_goes_on_through_read_modify_writes() {
        let send = vec![Store(0, 1), Release, Store(1, 1)];
        let between = |op| vec![Load(1), When(1), op];
        let receive = vec![Load(1), When(2), Acquire, Load(0), When(0), Store(2, 1)];
        let through = |op| allowed(vec![0; 3], vec![send.clone(), between(op), receive.clone()]);
        assert!(!through(Rmw(1, |before| before + 1)));
        assert!(through(Store(1, 2)));
    }
}
