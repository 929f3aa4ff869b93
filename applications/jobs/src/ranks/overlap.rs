//! How much of some time lies within other time.

use std::time::{Duration, Instant};

/// Stretches of time, each from begin to end, in order and apart.
#[derive(Debug, Default, Clone)]
pub struct Stretches(Vec<(Instant, Instant)>);

impl Stretches {
    /// Does something, and adds the time that it takes.
    pub fn during<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let outcome = work();
        self.0.push((begin, Instant::now()));
        outcome
    }

    /// Puts later ones behind these.
    pub fn append(&mut self, mut later: Stretches) {
        self.0.append(&mut later.0);
    }

    /// When the last one ended.
    pub fn end(&self) -> Option<Instant> {
        self.0.last().map(|(_, end)| *end)
    }

    /// All that is in these or in others.
    pub fn or(&self, others: &Stretches) -> Stretches {
        let mut all = [&self.0[..], &others.0].concat();
        all.sort_unstable();
        let mut joined: Vec<(Instant, Instant)> = Vec::new();
        for (begin, end) in all {
            match joined.last_mut().filter(|last| begin <= last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => joined.push((begin, end)),
            }
        }
        Stretches(joined)
    }

    /// How long they are together.
    pub fn sum(&self) -> Duration {
        self.0.iter().map(|(begin, end)| *end - *begin).sum()
    }

    /// How long both these and others last.
    pub fn overlap(&self, others: &Stretches) -> Duration {
        let (mut mine, mut theirs) = (&self.0[..], &others.0[..]);
        let mut sum = Duration::ZERO;
        while let (Some(one), Some(other)) = (mine.first(), theirs.first()) {
            let (begin, end) = (one.0.max(other.0), one.1.min(other.1));
            sum += end.saturating_duration_since(begin);
            match one.1 < other.1 {
                true => mine = &mine[1..],
                false => theirs = &theirs[1..],
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_share_what_is_in_both() {
        let start = Instant::now();
        let of = |stretches: &[(u64, u64)]| {
            let at = |s| start + Duration::from_secs(s);
            Stretches(stretches.iter().map(|&(b, e)| (at(b), at(e))).collect())
        };
        let exchange = of(&[(0, 10), (20, 30), (40, 50)]);
        let work = of(&[(1, 3), (5, 22), (29, 41), (60, 70)]);
        for (one, other) in [(&exchange, &work), (&work, &exchange)] {
            assert_eq!(one.overlap(other), Duration::from_secs(2 + 5 + 2 + 1 + 1));
        }
        assert_eq!(work.end(), Some(start + Duration::from_secs(70)));
        assert_eq!(work.sum(), Duration::from_secs(2 + 17 + 12 + 10));
        assert_eq!(work.overlap(&of(&[])), Duration::ZERO);
        let both = exchange.or(&work);
        let expected = of(&[(0, 30), (40, 50), (60, 70)]).0;
        assert_eq!(exchange.or(&of(&[])).0, exchange.0);
        assert_eq!(both.0.len(), 2);
        assert_eq!((both.0[0].0, both.0[1]), (expected[0].0, expected[2]));
        assert_eq!(both.sum(), Duration::from_secs(60));
    }
}
