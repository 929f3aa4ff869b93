//! Where the marks of an axis are, and where it begins and ends.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// An axis with its marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Where it begins and ends.
    pub ends: (f64, f64),
    /// Where there are marks, with a line of the grid each.
    pub marks: Vec<f64>,
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (value - self.ends.0) / (self.ends.1 - self.ends.0);
        first + (share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.marks.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.ends.0..self.ends.1
    }
}

/// Marks for `values`; on a logarithmic axis values and marks are logarithms to the base 10.
pub fn marks(values: &[f64], log: bool) -> Vec<f64> {
    let (low, high) = ends(values);
    if !log {
        return linear(low.min(0.0), high);
    }
    let decades = (low.floor() as i32)..=(high.ceil() as i32);
    let within: &[f64] = match high - low {
        span if span > 6.0 => &[1.0],
        span if span > 2.5 => &[1.0, 3.0],
        _ => &[1.0, 2.0, 5.0],
    };
    let all = decades.flat_map(|decade| within.iter().map(move |m| f64::from(decade) + m.log10()));
    let all: Vec<f64> = all.collect();
    // The last mark below the values and the first one above.
    let first = all.iter().rposition(|mark| *mark <= low).unwrap_or(0);
    let last = all
        .iter()
        .position(|mark| *mark >= high)
        .unwrap_or(all.len() - 1);
    all[first..=last.max(first)].to_vec()
}

/// Where a vertical axis with these values and marks begins and ends.
pub fn range(values: &[f64], marks: &[f64], log: bool) -> (f64, f64) {
    let (low, high) = ends(values);
    let (first, last) = ends(marks);
    let (low, high) = (low.min(first), high.max(last));
    match (high > low, log) {
        (true, _) => (low, high),
        (false, true) => (low - 0.5, high + 0.5),
        (false, false) => (low, high + 1.0),
    }
}

/// Where a horizontal axis with marks at these places begins and ends.
pub fn places(places: &[f64], cases: bool) -> (f64, f64) {
    let (low, high) = ends(places);
    let margin = match cases || high <= low {
        true => 0.6,
        false => (high - low) * 0.03,
    };
    (low - margin, high + margin)
}

/// The least and the greatest.
fn ends(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match low <= high {
        true => (low, high),
        false => (0.0, 1.0),
    }
}

/// Some five round numbers from `low` or below to `high` or above.
fn linear(low: f64, high: f64) -> Vec<f64> {
    let rough = ((high - low) / 5.0).max(1e-12);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    let step = steps
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
    (first..=last.max(first + 1))
        .map(|at| at as f64 * step)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn powers(values: &[f64]) -> Vec<f64> {
        let values: Vec<f64> = values.iter().map(|v| v.log10()).collect();
        let marks = marks(&values, true).into_iter().map(|m| 10f64.powf(m));
        marks.map(|m| (m * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn logarithmic_marks_enclose_the_values() {
        assert_eq!(powers(&[0.0058, 0.028]), [0.005, 0.01, 0.02, 0.05]);
        assert_eq!(powers(&[3.0, 70_000_000.0]).first(), Some(&1.0));
        assert_eq!(powers(&[3.0, 70_000_000.0]).len(), 9);
        assert_eq!(powers(&[1.0, 1.0]), [1.0]);
        assert_eq!(range(&[0.0], &[0.0], true), (-0.5, 0.5));
    }

    #[test]
    fn linear_marks_are_round_and_begin_at_nothing() {
        assert_eq!(
            marks(&[50.0, 98.0], false),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(marks(&[0.0, 0.0], false).first(), Some(&0.0));
        assert_eq!(range(&[50.0, 98.0], &[0.0, 100.0], false), (0.0, 100.0));
    }

    #[test]
    fn one_place_alone_has_room_at_both_sides() {
        assert_eq!(places(&[4.0], false), (3.4, 4.6));
        assert_eq!(places(&[0.0, 1.0], true), (-0.6, 1.6));
        let (left, right) = places(&[4.0, 14.0], false);
        assert!(left < 4.0 && left > 3.5 && right > 14.0 && right < 14.5);
    }
}
