//! A bar for each name, from the left to the right.

use super::{Drawn, words};
use crate::error::CliError;
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, PathElement, Rectangle, SVGBackend, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;
use warpheap_bench::report::svg::{COLOURS, GRID, INK, MUTED, PAPER};

/// Width of the drawing in pixels.
const WIDTH: i32 = 720;
/// Where bars begin, and where the longest ends.
const BARS: std::ops::Range<i32> = 170..620;
/// Height of a bar with the space around it.
const STEP: i32 = 28;
/// Height of the title.
const HEAD: i32 = 56;

/// A bar of a plot.
#[derive(Debug, Clone)]
pub struct Bar {
    /// What stands before it.
    pub name: String,
    /// How long it is, next to the others.
    pub value: f64,
    /// What stands behind it.
    pub label: String,
}

/// Draws bars below a title and a line of what they are about, and writes the file.
///
/// # Errors
/// [`CliError::Usage`] if the file cannot be written.
pub fn bars(path: &Path, title: &str, about: &str, bars: &[Bar]) -> Result<(), CliError> {
    super::write(path, |svg| draw(svg, title, about, bars))
}

fn draw(svg: &mut String, title: &str, about: &str, bars: &[Bar]) -> Drawn {
    let height = HEAD + STEP * bars.len() as i32 + STEP / 2;
    let size = (WIDTH as u32, height as u32);
    let root: DrawingArea<SVGBackend<'_>, Shift> =
        SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&PAPER)?;
    root.draw(&Text::new(title, (12, 10), words(17, INK)))?;
    root.draw(&Text::new(about, (12, 33), words(12, MUTED)))?;
    let longest = bars.iter().map(|bar| bar.value).fold(1e-9, f64::max);
    for (at, bar) in (0..).zip(bars) {
        let middle = HEAD + STEP * at + STEP / 2;
        let width = (f64::from(BARS.end - BARS.start) * bar.value / longest).ceil() as i32;
        let end = BARS.start + width;
        let corners = [(BARS.start, middle - 9), (end, middle + 9)];
        root.draw(&Rectangle::new(corners, COLOURS[0].filled()))?;
        let right = words(13, INK).pos(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new(&bar.name[..], (BARS.start - 8, middle), right))?;
        let left = words(12, INK).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(&bar.label[..], (end + 6, middle), left))?;
    }
    let axis = [(BARS.start, HEAD), (BARS.start, height - STEP / 2)];
    root.draw(&PathElement::new(axis, GRID.stroke_width(1)))?;
    root.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bar_has_its_name_and_label() {
        let bar = |name: &str, value, label: &str| Bar {
            name: name.to_owned(),
            value,
            label: label.to_owned(),
        };
        let mut svg = String::new();
        let two = [bar("one", 1.0, "1 m"), bar("two", 2.0, "2 m")];
        draw(&mut svg, "title", "about", &two).unwrap();
        for part in ["<svg ", "title", "about", "one", "two", "1 m", "2 m"] {
            assert!(svg.contains(part), "no `{part}` in: {svg}");
        }
        assert_eq!(svg.matches("#3B82C4").count(), 2, "{svg}");
    }
}
