//! A figure of each cycle, and whether it grows.

use super::fault::Fault;

/// Cycles that are left out at first: a heap is not as it will be until it was full a few times.
const LEFT_OUT: usize = 3;
/// Cycles that are needed to say anything, without these.
const LEAST: usize = 9;
/// The last third may be so much above the first.
const GROWTH: f64 = 1.25;
/// Figures that are kept: beyond that two become their mean.
const KEPT: usize = 768;

/// A figure of each cycle.
#[derive(Clone, Debug)]
pub(super) struct Series {
    what: &'static str,
    /// What it may grow by in any case.
    slack: f64,
    left_out: usize,
    first: Option<f64>,
    last: Option<f64>,
    means: Vec<f64>,
    /// Figures that each of the means is of, and those that the next one is of so far.
    each: usize,
    next: Vec<f64>,
}

impl Series {
    /// A series of this figure, which may grow by `slack` without any meaning.
    pub fn new(what: &'static str, slack: f64) -> Self {
        Series {
            what,
            slack,
            left_out: 0,
            first: None,
            last: None,
            means: Vec::new(),
            each: 1,
            next: Vec::new(),
        }
    }

    /// Adds the figure of a cycle.
    ///
    /// # Errors
    /// [`Fault::Creep`] if it grew.
    pub fn add(&mut self, figure: f64) -> Result<(), Fault> {
        match self.keep(figure) {
            true => self.judge(),
            false => Ok(()),
        }
    }

    /// Adds the figure of a cycle, which may grow; whether there is another mean.
    pub fn keep(&mut self, figure: f64) -> bool {
        self.first.get_or_insert(figure);
        self.last = Some(figure);
        if self.left_out < LEFT_OUT {
            self.left_out += 1;
            return false;
        }
        self.next.push(figure);
        if self.next.len() < self.each {
            return false;
        }
        self.means.push(mean(&std::mem::take(&mut self.next)));
        if self.means.len() == KEPT {
            self.means = self.means.chunks(2).map(mean).collect();
            self.each *= 2;
        }
        true
    }

    fn judge(&self) -> Result<(), Fault> {
        let third = self.means.len() / 3;
        if self.means.len() < LEAST {
            return Ok(());
        }
        let first = mean(&self.means[..third]);
        let last = mean(&self.means[self.means.len() - third..]);
        match last > first * GROWTH + self.slack {
            false => Ok(()),
            true => Err(Fault::Creep {
                what: self.what,
                first,
                last,
                cycles: self.means.len() * self.each,
            }),
        }
    }

    /// The figure of the first cycle.
    pub fn first(&self) -> Option<f64> {
        self.first
    }

    /// The figure of the last cycle.
    pub fn last(&self) -> Option<f64> {
        self.last
    }

    /// The first figure and, in order, no more than `most` means of the others.
    pub fn shown(&self, most: usize) -> Vec<f64> {
        let of = self.means.len().div_ceil(most.max(1)).max(1);
        let means = self.means.chunks(of).map(mean);
        self.first.into_iter().chain(means).collect()
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(figures: impl Iterator<Item = f64>) -> Result<Series, Fault> {
        let mut series = Series::new("bytes tied", 0.1);
        for figure in figures {
            series.add(figure)?;
        }
        Ok(series)
    }

    #[test]
    fn what_grows_is_found_and_what_varies_is_not() {
        let wave = |i: i32| 2.0 + f64::from(i % 7) / 5.0;
        for cycles in [3, 12, 100, 5000] {
            let series = judged((0..cycles).map(wave)).expect("it varies");
            assert_eq!(series.first(), Some(2.0));
            assert_eq!(series.last(), Some(wave(cycles - 1)));
            assert!(series.shown(10).len() <= 11);
        }
        // A heap that was full for the first time.
        judged((0..60).map(|i| if i < 3 { 1.0 } else { 2.0 })).expect("it is full");
        for cycles in [15, 400, 5000] {
            let slope = 2.0 / f64::from(cycles);
            let error = judged((0..cycles).map(|i| wave(i) + slope * f64::from(i)));
            let text = error.expect_err("it grows").to_string();
            assert!(text.starts_with("bytes tied grows: "), "{text}");
        }
        judged((0..100).map(|_| 0.0)).expect("nothing is nothing");
        judged((0..100).map(|i| f64::from(i) / 1000.0)).expect("that is within the slack");
    }
}
