//! A map for terminals and text files: a character for each cell.

use super::cells::{Cells, UNKNOWN};
use super::colour;
use super::frame::Frame;
use crate::size::display;
use crate::text::{grouped, percent, table};
use plotters::style::RGBColor;

/// Cells at most.
pub const CELLS: u64 = WIDTH as u64 * 16;
/// Cells of a line.
const WIDTH: usize = 64;
/// Maps of a text at most.
const MAPS: usize = 8;
/// Eighths of a cell that are in use.
const FILL: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Maps of snapshots, evenly chosen if there are many.
pub fn all(frames: &[Frame], coloured: bool) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for frame in super::chosen(frames, MAPS) {
        text += &one(frame, coloured);
        text.push('\n');
        shown += 1;
    }
    if shown < frames.len() {
        text += &format!(
            "{shown} of {} snapshots; a map in FILE.html has all\n",
            frames.len()
        );
    }
    text
}

/// One map, its table, and why a request may find nothing.
fn one(frame: &Frame, coloured: bool) -> String {
    let mut text = format!(
        "{} {}, pool {}: {}\n",
        frame.allocator,
        frame.sequence,
        display(frame.pool_bytes),
        frame.label
    );
    let cells: Vec<Cells> = frame.each_cell().collect();
    for line in cells.chunks(WIDTH) {
        text += &drawn(frame, line, coloured);
    }
    text += &format!(
        "one character: {} ({}); ▁ to █ eighths in use, ═ run, · free, - idle, q queue, ? not told\n\n",
        display(frame.cell_bytes),
        match frame.cell_bytes.checked_div(frame.unit_bytes) {
            None => "the allocator does not tell its parts".to_owned(),
            Some(1) => format!("a {}", frame.unit),
            Some(units) => format!("{units} {}s", frame.unit),
        }
    );
    text += &uses(frame);
    if let Some(bytes) = frame.rounding_bytes {
        text += &format!("Rounding takes {} of what is in use.\n", display(bytes));
    }
    text + &frame.reason + "\n"
}

/// A line of the map: a colour is set only where it changes.
fn drawn(frame: &Frame, cells: &[Cells], coloured: bool) -> String {
    let mut line = String::new();
    let mut now = None;
    for &cell in cells {
        let class = frame.row(cell).filter(|row| row.class);
        let wanted = class.map(|row| row.colour.as_str());
        if coloured && wanted != now {
            line += &match wanted {
                Some(hex) => {
                    let RGBColor(red, green, blue) = colour::from_hex(hex);
                    format!("\x1b[38;2;{red};{green};{blue}m")
                }
                None => "\x1b[0m".to_owned(),
            };
            now = wanted;
        }
        line.push(character(frame, cell));
    }
    if now.is_some() {
        line += "\x1b[0m";
    }
    line + "\n"
}

fn character(frame: &Frame, cell: Cells) -> char {
    let name = frame.row(cell).map_or("", |row| row.name.as_str());
    match name {
        "free" => '·',
        "idle" => '-',
        "reserved" => '#',
        "queue" => 'q',
        "run" if cell.used >= 1000 => '═',
        _ if cell.used == UNKNOWN => '?',
        // Up to an eighth, up to two, …
        _ => FILL[(cell.used.min(1000) * 8).div_ceil(1000).saturating_sub(1) as usize],
    }
}

/// A line for each use.
fn uses(frame: &Frame) -> String {
    let unit = format!("{}s", frame.unit);
    let head = [
        "use",
        &unit,
        "bytes",
        "blocks",
        "in use",
        "fill",
        "free places",
        "pinned",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for row in &frame.uses {
        let known = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), grouped);
        let only = |is: bool, text: String| if is { text } else { String::new() };
        let blocks = row.class || row.name == "run";
        rows.push(vec![
            row.title(),
            only(row.units > 0, grouped(row.units)),
            display(row.bytes),
            only(blocks, known(row.blocks)),
            only(blocks, display(row.used_bytes)),
            only(
                row.class,
                percent(row.used_bytes as f64 / row.bytes.max(1) as f64),
            ),
            only(row.class, known(row.free_places)),
            only(row.class, grouped(row.pinned)),
        ]);
    }
    table(&rows)
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{frame, pinned};
    use super::*;

    #[test]
    fn a_map_has_its_cells_and_its_table() {
        let text = all(&[frame("here")], false);
        assert!(text.contains("here") && !text.contains('\x1b'), "{text}");
        let map: Vec<char> = text.lines().skip(1).take(4).flat_map(str::chars).collect();
        assert_eq!(map.len(), 250, "{text}");
        let count = |wanted| map.iter().filter(|c| **c == wanted).count();
        assert_eq!((count('═'), count('·')), (3, 244), "{text}");
        assert!(text.contains("one character: 16.0 KiB (a chunk)"), "{text}");
        let cells = |name: &str| {
            let row = text.lines().find(|line| line.starts_with(name));
            row.map(|row| {
                row.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
        };
        let slab = cells("slab 64").expect("a class");
        assert_eq!(slab[2..6], ["1", "16.0", "KiB", "40"]);
    }

    #[test]
    fn colours_are_for_terminals_and_end_with_the_line() {
        let text = all(&[pinned("here")], true);
        let coloured = text.lines().find(|line| line.contains("\x1b[38;2;"));
        assert!(
            coloured.is_some_and(|line| line.ends_with("\x1b[0m")),
            "{text}"
        );
        assert!(text.contains('▁') && text.contains("are pinned"), "{text}");
    }

    #[test]
    fn many_maps_are_thinned_out() {
        let frames: Vec<Frame> = (0..30).map(|at| frame(&format!("step {at}"))).collect();
        let text = all(&frames, false);
        assert!(
            text.contains("step 29") && text.contains(" of 30 snapshots"),
            "{text}"
        );
        assert!(!text.contains("step 28"), "{text}");
    }
}
