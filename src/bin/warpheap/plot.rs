//! Plots as SVG files.

use super::error::CliError;
use plotters::prelude::*;
use std::path::Path;

/// Width and height in pixels.
const SIZE: (u32, u32) = (900, 500);

/// Colours of lines, one after the other.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0x3B, 0x82, 0xC4),
    RGBColor(0xD9, 0x62, 0x2B),
    RGBColor(0x2A, 0x9D, 0x6F),
    RGBColor(0xB4, 0x5F, 0xB0),
    RGBColor(0xC2, 0x9A, 0x1B),
    RGBColor(0x4A, 0xA3, 0xB8),
    RGBColor(0xD1, 0x57, 0x7F),
    RGBColor(0x8A, 0x6D, 0x4B),
];

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
    let unwritten = |why: String| {
        CliError::Usage(format!(
            "cannot write the plot {}: {why}; name a file in a folder that is there",
            path.display()
        ))
    };
    let mut svg = String::new();
    draw(&mut svg, title, across, up, lines).map_err(|error| unwritten(error.to_string()))?;
    std::fs::write(path, svg).map_err(|error| unwritten(error.to_string()))
}

fn draw(
    svg: &mut String,
    title: &str,
    across: &str,
    up: &str,
    lines: &[Line],
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let last = points().map(|point| point.0).fold(1.0, f64::max);
    let highest = points().map(|point| point.1).fold(0.0, f64::max);
    let top = if highest > 0.0 { highest * 1.05 } else { 1.0 };
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let first = points().map(|point| point.0).fold(last, f64::min);
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(first..last.max(first + 1.0), 0.0..top)?;
    chart.configure_mesh().x_desc(across).y_desc(up).draw()?;
    for (number, line) in lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), &colour))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
    }
    chart
        .configure_series_labels()
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    area.present()?;
    Ok(())
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
