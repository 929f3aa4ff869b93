//! A map in fewer cells than it was saved in.

use super::cells::{Cells, UNKNOWN, joined};
use super::frame::Frame;

impl Frame {
    /// The same map in `most` cells at most.
    pub fn coarser(self, most: u64) -> Self {
        let all: Vec<Cells> = self.each_cell().collect();
        let by = (all.len() as u64).div_ceil(most.max(1)).max(1);
        let one = |cells: &[Cells]| self.as_one(cells);
        Frame {
            cell_bytes: self.cell_bytes.saturating_mul(by),
            cells: joined(all.chunks(by as usize).map(one)),
            ..self
        }
    }

    /// Cells side by side as one.
    fn as_one(&self, cells: &[Cells]) -> Cells {
        // Where any request can have it, it is shown if there is nothing else.
        let tied = |cell: &Cells| self.row(*cell).is_some_and(|row| !row.free);
        let many = |usage: u32| {
            let same = cells.iter().filter(|cell| cell.usage == usage);
            same.filter(|cell| tied(cell)).count()
        };
        let most = cells.iter().max_by_key(|cell| many(cell.usage));
        let sum = |of: fn(&Cells) -> u32| cells.iter().map(of).fold(0, u32::saturating_add);
        Cells {
            count: 1,
            usage: most.map_or(0, |cell| cell.usage),
            used: match cells.iter().any(|cell| cell.used == UNKNOWN) {
                true => UNKNOWN,
                false => sum(|cell| cell.used).div_ceil(cells.len().max(1) as u32),
            },
            blocks: sum(|cell| cell.blocks),
            pinned: sum(|cell| cell.pinned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{frame, pinned};
    use super::*;

    #[test]
    fn fewer_cells_show_what_ties_most_of_them() {
        let mut before = frame("a");
        let usage = |free: bool| before.uses.iter().position(|row| row.free == free);
        let (Some(tied), Some(free)) = (usage(false), usage(true)) else {
            panic!("a heap in which one block is taken has both");
        };
        let cell = |count, usage: usize, used, blocks| Cells {
            count,
            usage: usage as u32,
            used,
            blocks,
            pinned: 0,
        };
        before.cells = vec![
            cell(97, free, 0, 0),
            cell(3, tied, 500, 8),
            cell(110, free, 0, 0),
        ];
        assert_eq!(before.clone().coarser(210), before, "enough is enough");
        let after = before.clone().coarser(3);
        // A seventieth of 3 * 500.
        let expected = [
            cell(1, free, 0, 0),
            cell(1, tied, 22, 24),
            cell(1, free, 0, 0),
        ];
        assert_eq!(after.cells, expected);
        assert_eq!(after.cell_bytes, 70 * before.cell_bytes);
    }

    #[test]
    fn what_is_pinned_and_what_is_not_told_stays() {
        let mut frame = pinned("a");
        let pinned = |frame: &Frame| frame.each_cell().map(|cell| cell.pinned).sum::<u32>();
        let before = pinned(&frame);
        assert!(before > 200);
        frame.cells[0].used = UNKNOWN;
        let after = frame.coarser(10);
        assert_eq!(pinned(&after), before);
        assert_eq!(after.cells[0].used, UNKNOWN);
    }
}
