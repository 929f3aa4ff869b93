//! Lines over each other.

use super::{Drawn, words};
use crate::error::CliError;
use plotters::prelude::{ChartBuilder, IntoDrawingArea, LineSeries, PathElement, SVGBackend};
use plotters::style::Color;
use std::path::Path;
use warpheap_bench::report::svg::{COLOURS, GRID, INK, PAPER};

/// Width and height in pixels.
const SIZE: (u32, u32) = (900, 500);

/// A line of a plot.
#[derive(Debug, Clone)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Draws lines over each other, the vertical axis from zero, and writes the file.
///
/// # Errors
/// [`CliError::Usage`] if the file cannot be written.
pub fn lines(
    path: &Path,
    title: &str,
    across: &str,
    up: &str,
    lines: &[Line],
) -> Result<(), CliError> {
    super::write(path, |svg| draw(svg, title, across, up, lines))
}

fn draw(svg: &mut String, title: &str, across: &str, up: &str, lines: &[Line]) -> Drawn {
    let points = || lines.iter().flat_map(|line| &line.points);
    let last = points().map(|point| point.0).fold(1.0, f64::max);
    let highest = points().map(|point| point.1).fold(0.0, f64::max);
    let top = if highest > 0.0 { highest * 1.05 } else { 1.0 };
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&PAPER)?;
    let first = points().map(|point| point.0).fold(last, f64::min);
    let mut chart = ChartBuilder::on(&area)
        .caption(title, words(18, INK))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(first..last.max(first + 1.0), 0.0..top)?;
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(GRID.stroke_width(1))
        .light_line_style(PAPER)
        .label_style(words(12, INK))
        .axis_desc_style(words(12, INK))
        .x_desc(across)
        .y_desc(up)
        .draw()?;
    for (number, line) in lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), &colour))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
    }
    chart
        .configure_series_labels()
        .label_font(words(12, INK))
        .border_style(GRID)
        .background_style(PAPER.mix(0.8))
        .draw()?;
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_name() {
        let line = |name: &str, points: &[(f64, f64)]| Line {
            name: name.to_owned(),
            points: points.to_vec(),
        };
        let mut svg = String::new();
        let two = [line("one", &[(1.0, 2.0), (2.0, 3.0)]), line("two", &[])];
        draw(&mut svg, "title", "across", "up", &two).unwrap();
        for word in ["one", "two", "title", "across", "up", "polyline"] {
            assert!(svg.contains(word), "no {word} in {svg}");
        }
        draw(&mut String::new(), "", "", "", &[]).unwrap();
    }
}
