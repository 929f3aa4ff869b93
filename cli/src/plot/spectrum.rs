//! How many there are of each number, on a logarithmic scale.

use super::{Drawn, words};
use crate::error::CliError;
use crate::text::grouped;
use plotters::prelude::{ChartBuilder, IntoDrawingArea, IntoLogRange, LineSeries, SVGBackend};
use plotters::style::Color;
use std::path::Path;
use warpheap_bench::report::svg::{COLOURS, GRID, INK, PAPER};

/// Pixels.
const SIZE: (u32, u32) = (720, 420);

/// What is drawn.
#[derive(Debug, Clone)]
pub struct Spectrum<'a> {
    /// The title.
    pub title: String,
    /// What the numbers are.
    pub across: &'a str,
    /// What there are so many of.
    pub up: &'a str,
    /// Numbers, and how many there are of each.
    pub counts: Vec<(u32, u64)>,
    /// The greatest number that is shown.
    pub last: u32,
}

/// Draws a spectrum and writes the file.
///
/// # Errors
/// [`CliError::Usage`] if the file cannot be written.
pub fn spectrum(path: &Path, spectrum: &Spectrum<'_>) -> Result<(), CliError> {
    super::write(path, |svg| draw(svg, spectrum))
}

fn draw(svg: &mut String, spectrum: &Spectrum<'_>) -> Drawn {
    let Spectrum { counts, last, .. } = spectrum;
    let highest = counts.iter().map(|count| count.1).max();
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&PAPER)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(&spectrum.title, words(16, INK))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(72)
        .build_cartesian_2d(
            0f64..f64::from(*last) + 1.0,
            (0.5..highest.unwrap_or(1).max(2) as f64 * 1.5).log_scale(),
        )?;
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(GRID.stroke_width(1))
        .light_line_style(PAPER)
        .label_style(words(11, INK))
        .axis_desc_style(words(12, INK))
        .x_desc(spectrum.across)
        .y_desc(spectrum.up)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| grouped(*y as u64))
        .draw()?;
    // A bar for each number: there is no logarithm where there is none.
    for (x, y) in counts.iter().filter(|count| count.0 <= *last) {
        let (x, y) = (f64::from(*x), *y as f64);
        let style = COLOURS[0].stroke_width(500 / last.clamp(&20, &500));
        chart.draw_series(LineSeries::new([(x, 0.5), (x, y)], style))?;
    }
    root.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_drawn_up_to_the_last() {
        let svg = |counts: &[(u32, u64)]| {
            let mut svg = String::new();
            let spectrum = Spectrum {
                title: "title".to_owned(),
                across: "across",
                up: "up",
                counts: counts.to_vec(),
                last: 10,
            };
            draw(&mut svg, &spectrum).unwrap();
            svg
        };
        let one = svg(&[(2, 7)]);
        for part in ["<svg ", "title", "across", "up"] {
            assert!(one.contains(part), "no `{part}` in: {one}");
        }
        let lines = |svg: &str| svg.matches("<polyline").count();
        assert_eq!(lines(&svg(&[(2, 7), (5, 1), (11, 1)])), lines(&one) + 1);
    }
}
