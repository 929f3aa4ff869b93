//! The times of the probe as an SVG: a bar for each allocator.

use super::report::Report;
use crate::error::CliError;
use crate::text::time;
use plotters::coord::Shift;
use plotters::prelude::{
    DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, IntoFont, PathElement, RGBColor, Rectangle,
    SVGBackend, Text, TextStyle,
};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;
use warpheap_bench::report::svg::{GRID, INK, MUTED, PAPER};

/// Width of the drawing in pixels.
const WIDTH: i32 = 720;
/// Where bars begin, and where the longest ends.
const BARS: std::ops::Range<i32> = 170..620;
/// Height of a bar with the space around it.
const STEP: i32 = 28;
/// Height of the title.
const HEAD: i32 = 56;
/// The bars.
const BAR: RGBColor = RGBColor(0x3B, 0x82, 0xC4);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws the report into a file.
///
/// # Errors
/// [`CliError::Run`] that names the file.
pub fn write(report: &Report, path: &Path) -> Result<(), CliError> {
    let svg = svg(report).map_err(|why| CliError::Run(format!("cannot draw the plot: {why}")))?;
    std::fs::write(path, svg)
        .map_err(|why| CliError::Run(format!("cannot write {}: {why}", path.display())))
}

/// The report as an SVG.
fn svg(report: &Report) -> Result<String, DrawingAreaErrorKind<std::io::Error>> {
    let mut text = String::new();
    let height = HEAD + STEP * report.runs.len() as i32 + STEP / 2;
    let root =
        SVGBackend::with_string(&mut text, (WIDTH as u32, height as u32)).into_drawing_area();
    draw(&root, report, height)?;
    root.present()?;
    drop(root);
    Ok(text)
}

fn draw(root: &Area<'_>, report: &Report, height: i32) -> Drawn {
    root.fill(&PAPER)?;
    root.draw(&Text::new("Probe of a hash join", (12, 10), words(17, INK)))?;
    let device = &report.device;
    let about = format!(
        "{}; {}: {}",
        report.join.title(),
        device.backend,
        device.name
    );
    root.draw(&Text::new(about, (12, 33), words(12, MUTED)))?;
    let seconds = |at: usize| report.runs[at].phases.of_probe().as_secs_f64();
    let longest = (0..report.runs.len()).map(seconds).fold(1e-9, f64::max);
    for (at, run) in report.runs.iter().enumerate() {
        let middle = HEAD + STEP * at as i32 + STEP / 2;
        let width = (f64::from(BARS.end - BARS.start) * seconds(at) / longest).ceil() as i32;
        let end = BARS.start + width;
        let bar = [(BARS.start, middle - 9), (end, middle + 9)];
        root.draw(&Rectangle::new(bar, BAR.filled()))?;
        let right = words(13, INK).pos(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new(run.allocator, (BARS.start - 8, middle), right))?;
        let left = words(12, INK).pos(Pos::new(HPos::Left, VPos::Center));
        let value = time(run.phases.of_probe());
        root.draw(&Text::new(value, (end + 6, middle), left))?;
    }
    let axis = [(BARS.start, HEAD), (BARS.start, height - STEP / 2)];
    root.draw(&PathElement::new(axis, GRID.stroke_width(1)))
}

fn words(size: i32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour)
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::report;

    #[test]
    fn every_allocator_has_its_bar_and_time() {
        let svg = super::svg(&report()).unwrap_or_default();
        for part in [
            "<svg ",
            "Bump",
            "WarpHeap",
            "100 µs",
            "200 µs",
            "600 matches",
        ] {
            assert!(svg.contains(part), "no `{part}` in: {svg}");
        }
        assert_eq!(svg.matches("#3B82C4").count(), 2, "{svg}");
    }
}
