//! The spectrum as SVG: how many k-mers there are of each frequency.

use crate::error::CliError;
use crate::plot::{self, Spectrum};
use std::path::Path;
use warpheap_jobs::kmer::report::{Frequency, Report};

/// One of so many k-mers may be more frequent than what is shown: a few repeats do not decide the scale.
const BEYOND: u64 = 1000;
/// Frequencies that are always shown.
const LEAST: u32 = 10;

/// Draws the spectrum of a report into a file.
///
/// # Errors
/// As [`plot::spectrum`].
pub fn write(path: &Path, report: &Report) -> Result<(), CliError> {
    let strands = if report.canonical {
        ", both strands as one"
    } else {
        ""
    };
    let spectrum = Spectrum {
        title: format!("How many {}-mers come how often{strands}", report.k),
        across: "how often a k-mer comes",
        up: "k-mers",
        counts: report
            .spectrum
            .iter()
            .map(|frequency| (frequency.count, frequency.kmers))
            .collect(),
        last: last(&report.spectrum, report.distinct),
    };
    plot::spectrum(path, &spectrum)
}

/// The greatest frequency that is shown.
fn last(spectrum: &[Frequency], distinct: u64) -> u32 {
    let mut left = distinct / BEYOND;
    let within = spectrum.iter().rev().find(|frequency| {
        let beyond = frequency.kmers <= left;
        left = left.saturating_sub(frequency.kmers);
        !beyond
    });
    within.map_or(LEAST, |frequency| frequency.count.max(LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_repeats_do_not_decide_the_scale() {
        let spectrum = |list: &[(u32, u64)]| -> Vec<Frequency> {
            let frequency = |&(count, kmers)| Frequency { count, kmers };
            list.iter().map(frequency).collect()
        };
        assert_eq!(
            last(&spectrum(&[(1, 5000), (16, 4990), (900, 10)]), 10_000),
            16
        );
        assert_eq!(
            last(&spectrum(&[(1, 5000), (16, 4989), (900, 11)]), 10_000),
            900
        );
        assert_eq!(last(&spectrum(&[(1, 5)]), 5), LEAST);
        assert_eq!(last(&[], 0), LEAST);
    }
}
