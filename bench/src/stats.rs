//! Median and spread of repeated measurements.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What is kept of the repeats of one measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The 10th percentile.
    pub p10: f64,
    /// The 90th percentile.
    pub p90: f64,
}

impl Spread {
    /// The spread of `times`, in milliseconds; `None` if there are none.
    pub fn of(times: &[Duration]) -> Option<Self> {
        let times: Vec<f64> = times.iter().map(|t| t.as_secs_f64() * 1e3).collect();
        Self::of_values(&times)
    }

    /// The spread of `values`; `None` if there are none.
    pub fn of_values(values: &[f64]) -> Option<Self> {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        Some(Spread {
            median: quantile(&values, 0.5)?,
            p10: quantile(&values, 0.1)?,
            p90: quantile(&values, 0.9)?,
        })
    }

    /// This over `other`, as far apart as the two allow; `None` if `other` is nothing.
    pub fn over(&self, other: &Spread) -> Option<Self> {
        (other.p10 > 0.0).then(|| Spread {
            median: self.median / other.median,
            p10: self.p10 / other.p90,
            p90: self.p90 / other.p10,
        })
    }

    /// The same of a quantity `factor` times as large.
    pub fn scaled(&self, factor: f64) -> Self {
        Spread {
            median: self.median * factor,
            p10: self.p10 * factor,
            p90: self.p90 * factor,
        }
    }

    /// A value that does not vary.
    pub fn exactly(value: f64) -> Self {
        Spread {
            median: value,
            p10: value,
            p90: value,
        }
    }
}

/// The `q`-quantile of sorted numbers, between two neighbours in proportion.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let place = q * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    let (low, high) = (*sorted.get(below)?, *sorted.get(above)?);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let ms = |values: &[u64]| {
            let times: Vec<_> = values.iter().map(|&v| Duration::from_millis(v)).collect();
            Spread::of(&times)
        };
        let spread = |median, p10, p90| Some(Spread { median, p10, p90 });
        assert_eq!(ms(&[]), None);
        assert_eq!(ms(&[7]), spread(7.0, 7.0, 7.0));
        assert_eq!(ms(&[4, 2]), spread(3.0, 2.2, 3.8));
        let eleven = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
        assert_eq!(ms(&eleven), spread(5.0, 1.0, 9.0));
    }

    #[test]
    fn a_quotient_is_as_uncertain_as_both_its_parts() {
        let spread = |median, p10, p90| Spread { median, p10, p90 };
        let quotient = spread(6.0, 4.0, 8.0).over(&spread(2.0, 1.0, 4.0));
        assert_eq!(quotient, Some(spread(3.0, 1.0, 8.0)));
        assert_eq!(Spread::exactly(1.0).over(&Spread::exactly(0.0)), None);
        let half = spread(6.0, 4.0, 8.0).scaled(0.5);
        assert_eq!(half, spread(3.0, 2.0, 4.0));
    }
}
