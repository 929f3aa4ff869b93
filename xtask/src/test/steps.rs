//! What a run consisted of.

use std::time::{Duration, Instant};
use warpheap_toolchain::error::{Result, message};

/// What was run, how long it took and how it went.
pub(super) struct Steps {
    begin: Instant,
    done: Vec<(&'static str, Duration, bool)>,
}

impl Steps {
    /// None yet; time counts from here on.
    pub(super) fn begin() -> Self {
        Steps {
            begin: Instant::now(),
            done: Vec::new(),
        }
    }

    /// Runs one step, prints its error if it fails, and says whether it went well.
    pub(super) fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result) -> bool {
        eprintln!("== {name}");
        let begin = Instant::now();
        let outcome = step();
        if let Err(error) = &outcome {
            eprintln!("error: {error}");
        }
        self.done.push((name, begin.elapsed(), outcome.is_ok()));
        outcome.is_ok()
    }

    /// Adds what was run beside these.
    pub(super) fn extend(&mut self, others: Steps) {
        self.done.extend(others.done);
    }

    /// An error if one of them failed.
    pub(super) fn outcome(&self) -> Result {
        match self.failed() {
            0 => Ok(()),
            failed => message(format!("{failed} of {} steps failed", self.done.len())),
        }
    }

    fn failed(&self) -> usize {
        self.done.iter().filter(|(_, _, good)| !good).count()
    }

    /// A line for each, and one for all together, which is less than their sum where some ran side by side.
    pub(super) fn table(&self) -> String {
        let line = |name: &str, time: Duration, word: &str| {
            format!("{name:<22}{:>8.1} s  {word}\n", time.as_secs_f64())
        };
        let mut text = String::from("\n");
        for (name, time, good) in &self.done {
            text += &line(name, *time, if *good { "ok" } else { "FAILED" });
        }
        text + &line(
            "total",
            self.begin.elapsed(),
            if self.failed() == 0 { "ok" } else { "FAILED" },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_step_and_a_total() {
        let mut steps = Steps::begin();
        assert!(steps.run("one", || Ok(())));
        assert!(!steps.run("two", || message("broken")));
        assert!(steps.run("three", || Ok(())));
        let mut beside = Steps::begin();
        assert!(!beside.run("four", || message("broken, too")));
        steps.extend(beside);
        let error = steps.outcome().unwrap_err().to_string();
        assert_eq!(error, "2 of 4 steps failed");
        let table = steps.table();
        let words: Vec<_> = table
            .lines()
            .filter_map(|line| line.split_whitespace().last())
            .collect();
        assert_eq!(words, ["ok", "FAILED", "ok", "FAILED", "FAILED"]);
    }
}
