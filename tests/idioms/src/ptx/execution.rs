//! One way in which reads get their values and writes of a word follow each other, and the relations that it has by that.

use super::event::Event;
use super::relation::Relation;

pub struct Execution<'a> {
    pub events: &'a [Event],
    /// For each read the write that it reads from.
    pub from: &'a [usize],
    /// For each word its writes in coherence order.
    pub order: &'a [Vec<usize>],
}

impl Execution<'_> {
    pub fn relation(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        Relation::new(self.events.len(), holds)
    }

    /// Whether some pair of events is so.
    pub fn any(&self, is: impl Fn(usize, usize) -> bool) -> bool {
        let n = self.events.len();
        (0..n).any(|a| (0..n).any(|b| is(a, b)))
    }

    /// Both are of the same word: they overlap.
    pub fn same(&self, a: usize, b: usize) -> bool {
        let word = self.events[a].word();
        word.is_some() && word == self.events[b].word()
    }

    /// Program order.
    pub fn po(&self, a: usize, b: usize) -> bool {
        let thread = self.events[a].thread;
        a < b && thread.is_some() && thread == self.events[b].thread
    }

    /// Morally strong: both strong (scope and proxy are always the same), or of one thread.
    pub fn strong(&self, a: usize, b: usize) -> bool {
        (self.events[a].strong() && self.events[b].strong()) || self.po(a, b) || self.po(b, a)
    }

    /// `b` reads from `a`.
    pub fn rf(&self, a: usize, b: usize) -> bool {
        self.events[b].reads() && self.from[b] == a
    }

    /// Coherence order: of two writes, `b` comes later.
    pub fn co(&self, a: usize, b: usize) -> bool {
        let place = |e: usize| {
            let writes = &self.order[self.events[e].word()?];
            writes.iter().position(|&write| write == e)
        };
        self.same(a, b) && place(a).is_some() && place(a) < place(b)
    }

    /// From read: `b` overwrites what `a` reads.
    pub fn fr(&self, a: usize, b: usize) -> bool {
        a != b && self.events[a].reads() && self.co(self.from[a], b)
    }
}
