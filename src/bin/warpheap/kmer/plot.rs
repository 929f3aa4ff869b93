//! The spectrum as SVG: how many k-mers there are of each frequency.

use super::report::{Frequency, Report};
use crate::error::CliError;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::{
    ChartBuilder, IntoDrawingArea, IntoFont, IntoLogRange, LineSeries, RGBColor, SVGBackend,
};
use plotters::style::Color;
use std::path::Path;

/// Pixels.
const SIZE: (u32, u32) = (720, 420);
/// Text and axes.
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
/// Lines of the grid.
const GRID: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
/// What all is drawn on.
const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
/// The line of the spectrum.
const LINE: RGBColor = RGBColor(0x3B, 0x82, 0xC4);
/// One of so many k-mers may be more frequent than what is shown: a few repeats do not decide the scale.
const BEYOND: u64 = 1000;
/// Frequencies that are always shown.
const LEAST: u32 = 10;

/// Writes the spectrum of a report to a file.
///
/// # Errors
/// [`CliError::Usage`] if the file cannot be written, [`CliError::Run`] if nothing can be drawn.
pub fn write(path: &Path, report: &Report) -> Result<(), CliError> {
    let mut svg = String::new();
    draw(&mut svg, report).map_err(|error| CliError::Run(format!("cannot draw: {error}")))?;
    std::fs::write(path, svg)
        .map_err(|error| CliError::Usage(format!("cannot write {}: {error}", path.display())))
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

fn draw(svg: &mut String, report: &Report) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let last = last(&report.spectrum, report.distinct);
    let highest = report
        .spectrum
        .iter()
        .map(|frequency| frequency.kmers)
        .max();
    let words = |size: i32| ("sans-serif", size).into_font().color(&INK);
    let strands = if report.canonical {
        ", both strands as one"
    } else {
        ""
    };
    let title = format!("How many {}-mers come how often{strands}", report.k);

    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&PAPER)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, words(16))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(72)
        .build_cartesian_2d(
            0f64..f64::from(last) + 1.0,
            (0.5..highest.unwrap_or(1).max(2) as f64 * 1.5).log_scale(),
        )?;
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(GRID.stroke_width(1))
        .light_line_style(PAPER)
        .label_style(words(11))
        .axis_desc_style(words(12))
        .x_desc("how often a k-mer comes")
        .y_desc("k-mers")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| crate::text::grouped(*y as u64))
        .draw()?;
    // A bar for each frequency: there is no logarithm of those that no k-mer has.
    for frequency in report
        .spectrum
        .iter()
        .filter(|frequency| frequency.count <= last)
    {
        let (x, y) = (f64::from(frequency.count), frequency.kmers as f64);
        let width = 500 / last.clamp(20, 500);
        chart.draw_series(LineSeries::new(
            [(x, 0.5), (x, y)],
            LINE.stroke_width(width),
        ))?;
    }
    root.present()
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::report;
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

    #[test]
    fn each_frequency_is_drawn() {
        let mut svg = String::new();
        draw(&mut svg, &report(1)).unwrap();
        let lines = svg.matches("<polyline").count();
        let mut more = report(1);
        more.spectrum.push(Frequency { count: 5, kmers: 1 });
        let mut svg = String::new();
        draw(&mut svg, &more).unwrap();
        assert_eq!(svg.matches("<polyline").count(), lines + 1);
        assert!(svg.starts_with("<svg") && svg.contains("3-mers"), "{svg}");
    }
}
