//! A pool as cells of equal size, each one or more of the allocator's units.

use serde::{Deserialize, Serialize};
use warpheap::{RegionUse, Snapshot};

/// Where the cells lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Where the first one begins, in bytes from the beginning of the pool.
    pub begin: u64,
    /// Behind the last one.
    pub end: u64,
    /// Bytes of a cell.
    pub cell: u64,
}

/// How much of a cell is in use, if the allocator does not tell.
pub const UNKNOWN: u32 = 1001;

/// Cells side by side that look the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u32; 5]", into = "[u32; 5]")]
pub struct Cells {
    /// How many.
    pub count: u32,
    /// Number of the use among those of the snapshot: of what is tied in the cell, what takes most of it.
    pub usage: u32,
    /// Thousandths of the cell that blocks in use take; [`UNKNOWN`].
    pub used: u32,
    /// Blocks in use that begin in it.
    pub blocks: u32,
    /// Parts that begin in it and are pinned.
    pub pinned: u32,
}

impl From<[u32; 5]> for Cells {
    fn from([count, usage, used, blocks, pinned]: [u32; 5]) -> Self {
        Cells {
            count,
            usage,
            used,
            blocks,
            pinned,
        }
    }
}

impl From<Cells> for [u32; 5] {
    fn from(cells: Cells) -> Self {
        [
            cells.count,
            cells.usage,
            cells.used,
            cells.blocks,
            cells.pinned,
        ]
    }
}

impl Grid {
    /// Cells for all of a pool that is no metadata, `most` at most.
    pub fn new(snapshot: &Snapshot, most: u64) -> Self {
        let mut used = snapshot
            .regions
            .iter()
            .filter(|region| region.usage != RegionUse::Reserved);
        let first = used.next();
        let last = used.next_back().or(first);
        let (begin, end) = match (first, last) {
            (Some(first), Some(last)) => (first.offset, last.end()),
            _ => (0, 0),
        };
        let bytes = end - begin;
        let unit = match snapshot.unit_bytes {
            0 => (bytes / most).max(16),
            known => known,
        };
        let units = bytes.div_ceil(unit);
        let cell = unit * units.div_ceil(most.max(1)).max(1);
        Grid { begin, end, cell }
    }
}

/// What lies in one cell.
#[derive(Clone, Default)]
struct Sum {
    /// By number of the use: bytes.
    tied: Vec<(u32, u64)>,
    used: u64,
    unknown: bool,
    blocks: u32,
    pinned: u32,
}

/// The cells of a snapshot; `number` numbers uses.
pub fn cells(snapshot: &Snapshot, grid: Grid, number: impl Fn(RegionUse) -> u32) -> Vec<Cells> {
    let count = (grid.end - grid.begin).div_ceil(grid.cell.max(1));
    let mut sums = vec![Sum::default(); count as usize];
    for region in &snapshot.regions {
        if region.offset < grid.begin || region.end() > grid.end {
            continue;
        }
        let usage = number(region.usage);
        let mut at = region.offset;
        while at < region.end() {
            let cell = (at - grid.begin) / grid.cell;
            let end = region.end().min(grid.begin + (cell + 1) * grid.cell);
            let sum = &mut sums[cell as usize];
            // Where any request can have it, it is shown if there is nothing else.
            let weight = if region.usage.is_free() { 0 } else { end - at };
            match sum.tied.iter_mut().find(|(of, _)| *of == usage) {
                Some((_, bytes)) => *bytes += weight,
                None => sum.tied.push((usage, weight)),
            }
            let share = u128::from(region.used_bytes) * u128::from(end - at);
            sum.used += (share / u128::from(region.bytes)) as u64;
            let tells = region.live_blocks.is_some() || region.used_bytes > 0;
            sum.unknown |= !tells && region.usage != RegionUse::Reserved;
            if at == region.offset {
                sum.blocks = sum.blocks.saturating_add(region.live_blocks.unwrap_or(0));
                sum.pinned += u32::from(region.is_pinned());
            }
            at = end;
        }
    }
    let cell = |(at, sum): (u64, &Sum)| {
        let bytes = grid.cell.min(grid.end - grid.begin - at * grid.cell);
        let most = sum.tied.iter().max_by_key(|(_, bytes)| *bytes);
        Cells {
            count: 1,
            usage: most.map_or(0, |(usage, _)| *usage),
            used: match sum.unknown {
                true => UNKNOWN,
                // What is in use at all is more than nothing.
                false => (sum.used * 1000).div_ceil(bytes.max(1)) as u32,
            },
            blocks: sum.blocks,
            pinned: sum.pinned,
        }
    };
    joined((0..).zip(&sums).map(cell))
}

/// Single cells, those side by side that look the same as one element.
pub fn joined(single: impl Iterator<Item = Cells>) -> Vec<Cells> {
    let mut cells: Vec<Cells> = Vec::new();
    for cell in single {
        match cells.last_mut() {
            Some(last) if (Cells { count: 1, ..*last }) == cell => last.count += 1,
            _ => cells.push(cell),
        }
    }
    cells
}
