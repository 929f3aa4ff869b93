//! Maps as one SVG picture: a panel for each snapshot, below each other.

use super::cells::{Cells, UNKNOWN};
use super::colour::from_hex;
use super::frame::{Frame, Row};
use crate::plot::{Drawn, words};
use crate::size::display;
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, Rectangle, SVGBackend, Text};
use plotters::style::Color;
use warpheap_bench::report::svg::{GRID, INK, MUTED, PAPER};

/// Cells of a panel at most.
pub const CELLS: u64 = COLUMNS as u64 * 32;
/// Cells of a line.
const COLUMNS: usize = 64;
/// Panels at most.
const PANELS: usize = 6;
/// Pixels of a cell.
const CELL: i32 = 12;
/// Pixels around everything.
const MARGIN: i32 = 16;
/// Pixels above a panel's cells, for its title, and below, for what it says.
const HEAD: i32 = 26;
const FOOT: i32 = 54;
/// Pixels of a line of the legend, and of an entry.
const LEGEND: i32 = 20;
const ENTRY: i32 = 150;
/// Entries of a line.
const ENTRIES: usize = 5;
/// Letters of a line below a panel.
const LETTERS: usize = 140;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Some of the snapshots, evenly chosen.
///
/// # Errors
/// Why it could not be drawn.
pub fn all(frames: &[Frame]) -> Result<String, String> {
    let mut svg = String::new();
    draw(&mut svg, frames).map_err(|error| error.to_string())?;
    Ok(svg)
}

fn draw(svg: &mut String, frames: &[Frame]) -> Drawn {
    let panels: Vec<&Frame> = super::chosen(frames, PANELS).collect();
    let legend = legend(&panels);
    let lines = |frame: &Frame| (frame.each_cell().count().div_ceil(COLUMNS)) as i32;
    let height = |frame: &&Frame| HEAD + CELL * lines(frame) + FOOT;
    let top = MARGIN + 30 + LEGEND * legend.len().div_ceil(ENTRIES) as i32;
    let size = (
        (2 * MARGIN + CELL * COLUMNS as i32) as u32,
        (top + panels.iter().map(height).sum::<i32>()) as u32,
    );
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&PAPER)?;
    let title = panels.first().map_or(String::new(), |frame| {
        format!(
            "Heap map: {}, a pool of {}",
            frame.allocator,
            display(frame.pool_bytes)
        )
    });
    root.draw(&Text::new(title, (MARGIN, 10), words(17, INK)))?;
    for (at, (row, title)) in legend.iter().enumerate() {
        let x = MARGIN + ENTRY * (at % ENTRIES) as i32;
        let y = MARGIN + 20 + LEGEND * (at / ENTRIES) as i32;
        square(&root, (x, y), row, 1000)?;
        let beside = (x + CELL + 4, y - 1);
        root.draw(&Text::new(title.clone(), beside, words(12, INK)))?;
    }
    let mut y = top;
    for frame in panels {
        panel(&root, y, frame)?;
        y += height(&frame);
    }
    root.present()
}

/// The uses of all panels, each once: all idle units look the same.
fn legend<'a>(panels: &[&'a Frame]) -> Vec<(&'a Row, String)> {
    let mut rows: Vec<(&Row, String)> = Vec::new();
    for row in panels.iter().flat_map(|frame| &frame.uses) {
        let title = if row.free {
            row.name.clone()
        } else {
            row.title()
        };
        if row.name != "reserved" && rows.iter().all(|(_, known)| *known != title) {
            rows.push((row, title));
        }
    }
    rows
}

fn panel(root: &Area<'_>, top: i32, frame: &Frame) -> Drawn {
    root.draw(&Text::new(
        frame.label.clone(),
        (MARGIN, top + 6),
        words(13, INK),
    ))?;
    let mut lines = 0;
    for (at, cell) in frame.each_cell().enumerate() {
        let x = MARGIN + CELL * (at % COLUMNS) as i32;
        let y = top + HEAD + CELL * (at / COLUMNS) as i32;
        if let Some(row) = frame.row(cell) {
            square(root, (x, y), row, strength(row, cell))?;
        }
        if cell.pinned > 0 {
            let dot = [(x + 4, y + 4), (x + 7, y + 7)];
            root.draw(&Rectangle::new(dot, INK.filled()))?;
        }
        lines = at / COLUMNS + 1;
    }
    let below = top + HEAD + CELL * lines as i32 + 4;
    for (line, part) in (0..3).zip(broken(&frame.reason, LETTERS)) {
        let at = (MARGIN, below + 14 * line);
        root.draw(&Text::new(part, at, words(11, MUTED)))?;
    }
    Ok(())
}

/// Thousandths of a colour that a cell has: a cell with little in use can be told from a free one.
fn strength(row: &Row, cell: Cells) -> u32 {
    match cell.used {
        _ if !row.class => 1000,
        UNKNOWN => 500,
        used => 200 + used.min(1000) * 4 / 5,
    }
}

fn square(root: &Area<'_>, (x, y): (i32, i32), row: &Row, thousandths: u32) -> Drawn {
    let corners = [(x, y), (x + CELL - 2, y + CELL - 2)];
    let colour = from_hex(&row.colour).mix(f64::from(thousandths) / 1000.0);
    root.draw(&Rectangle::new(corners, colour.filled()))?;
    if row.free {
        root.draw(&Rectangle::new(corners, GRID.stroke_width(1)))?;
    }
    Ok(())
}

/// Text in lines of so many letters at most, broken at spaces.
fn broken(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines
            .last_mut()
            .map(|line| line.chars().count())
            .unwrap_or(0);
        if line > 0 && line + 1 + word.chars().count() > letters {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            *line += word;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{frame, pinned};
    use super::*;

    #[test]
    fn every_cell_of_every_panel_is_drawn() {
        let one = all(&[frame("first")]).expect("a picture");
        let two = all(&[frame("first"), pinned("second")]).expect("a picture");
        for part in [
            "<svg ",
            "first",
            "second",
            "WarpHeap",
            "slab 64",
            "are pinned",
        ] {
            assert!(two.contains(part), "no `{part}`");
        }
        assert!(
            one.matches("<rect").count() > 251,
            "{}",
            one.matches("<rect").count()
        );
        let opened = two.matches("<rect").count() + two.matches("<text").count();
        let closed = two.matches("/>").count() + two.matches("</text>").count();
        assert_eq!(opened, closed, "each is closed");
        let dots = |svg: &str| svg.matches("width=\"3\" height=\"3\"").count();
        assert_eq!(dots(&one), 1, "a block alone in its chunk");
        assert!(dots(&two) > 200);
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(broken("one two three", 7), ["one two", "three"]);
        assert_eq!(broken("longer than that", 3), ["longer", "than", "that"]);
    }
}
