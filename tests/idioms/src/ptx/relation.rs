//! Relations between events.

/// For each event the set of those that it is related to, one bit for each: there are at most 64.
#[derive(Clone)]
pub struct Relation(Vec<u64>);

impl Relation {
    /// Between `n` events.
    pub fn new(n: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        assert!(n <= 64, "a program of {n} events");
        let row = |a| {
            (0..n)
                .filter(|&b| holds(a, b))
                .fold(0, |set, b| set | 1 << b)
        };
        Relation((0..n).map(row).collect())
    }

    pub fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 != 0
    }

    /// The transitive closure.
    pub fn closure(mut self) -> Self {
        for via in 0..self.0.len() {
            for a in 0..self.0.len() {
                if self.has(a, via) {
                    self.0[a] |= self.0[via];
                }
            }
        }
        self
    }

    pub fn acyclic(self) -> bool {
        let all = self.closure();
        (0..all.0.len()).all(|a| !all.has(a, a))
    }
}
