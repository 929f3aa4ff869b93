//! Where names stand in a plot without lying on each other.

use std::ops::Range;

/// Height of a name in pixels.
const STEP: i32 = 10;

/// How far names begin from each other that may overlap, in pixels.
const NEAR: i32 = 60;

/// Width of a letter of the legend in pixels, and of what stands around a name.
const LETTER: u32 = 8;
const AROUND: u32 = 42;

/// A name at the end of a line, in pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Where it begins.
    pub x: i32,
    /// Its middle.
    pub y: i32,
    /// The name.
    pub name: String,
}

/// Moves names up and down until no two that are side by side overlap, within `room`.
pub fn apart(ends: &mut [End], room: Range<i32>) {
    ends.sort_by_key(|end| (end.x, end.y));
    // Names of lines that end near each other are in each other's way.
    for column in ends.chunk_by_mut(|a, b| b.x - a.x < NEAR) {
        column.sort_by_key(|end| end.y);
        // Down from the top, then up from the bottom for those that were pushed out.
        let mut free = room.start;
        for end in column.iter_mut() {
            end.y = end.y.max(free);
            free = end.y + STEP;
        }
        let mut free = room.end;
        for end in column.iter_mut().rev() {
            end.y = end.y.min(free);
            free = end.y - STEP;
        }
    }
}

/// Where the names of a legend stand: from the left in pixels, and in which of its lines.
pub fn legend(names: &[&str], width: u32) -> Vec<(u32, u32)> {
    let (mut x, mut line) = (8, 0);
    let mut places = Vec::new();
    for name in names {
        let wide = AROUND + LETTER * name.chars().count() as u32;
        if x > 8 && x + wide > width {
            (x, line) = (8, line + 1);
        }
        places.push((x, line));
        x += wide;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_one_place_are_moved_apart_and_stay_inside() {
        let end = |x, y| End {
            x,
            y,
            name: String::new(),
        };
        let mut ends = [
            end(100, 50),
            end(100, 50),
            end(105, 55),
            end(100, 99),
            end(300, 50),
        ];
        apart(&mut ends, 0..100);
        let mut near: Vec<i32> = ends.iter().filter(|e| e.x < 200).map(|e| e.y).collect();
        near.sort();
        assert!(near.windows(2).all(|w| w[1] - w[0] >= STEP), "{near:?}");
        assert!(near.iter().all(|y| (0..=100).contains(y)), "{near:?}");
        assert_eq!(ends.iter().find(|e| e.x == 300), Some(&end(300, 50)));
        let mut below = [end(0, 98), end(0, 99), end(0, 100)];
        apart(&mut below, 0..100);
        assert_eq!(below.map(|e| e.y), [80, 90, 100]);
    }

    #[test]
    fn a_legend_that_is_too_wide_goes_on_in_the_next_line() {
        let places = legend(&["ScatterAlloc", "Bump", "ScatterAlloc"], 260);
        assert_eq!(places.iter().map(|p| p.1).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(places[0], (8, 0));
        assert_eq!(legend(&["much too long"], 10), [(8, 0)]);
    }
}
