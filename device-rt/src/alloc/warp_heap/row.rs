//! Rows: what a size class uses, or all that is handed out in units.

use super::class::Class;
use super::geometry::UNITS_ROW;
use super::state::{UNITS, tag_for};
use warpheap_api::{least, select};

/// Stands for the size of units where their row begins: just before the middle.
pub(super) const UNITS_GRANULES: u32 = 42;

/// Lanes of a warp that ask for one class from which on all warps are expected to do the same.
const MANY: u32 = 4;

/// A row, for somebody who looks for blocks or units in it.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Its number.
    pub index: u32,
    /// Tag of its chunks.
    pub tag: u32,
    /// Granules that tell where it begins.
    pub granules: u32,
    /// What a chunk's count may be at most for it to have room.
    pub limit: u32,
    /// The count of a chunk that is full.
    pub most: u32,
}

/// What somebody looks for.
#[derive(Clone, Copy)]
pub(super) struct Want {
    /// Blocks, or units side by side.
    pub count: u32,
    /// Alignment of units, in units.
    pub align: u32,
    /// As many as this other warps are expected to want, too.
    pub many: u32,
}

impl Want {
    /// So many blocks or units, of which so many lanes want some.
    #[inline(always)]
    pub fn new(count: u32, align: u32, lanes: u32) -> Want {
        Want {
            count,
            align,
            many: select(lanes < MANY, 0, lanes),
        }
    }
}

impl Row {
    /// The row of a class or that of units, for somebody who wants so many blocks or units of one chunk.
    #[inline(always)]
    pub fn new(slab: bool, class: Class, count: u32) -> Row {
        let most = select(slab, class.blocks(), 32);
        Row {
            index: select(slab, class.index, UNITS_ROW),
            tag: select(slab, tag_for(class.index), UNITS),
            granules: select(slab, class.granules, UNITS_GRANULES),
            // One unit is enough for a block to begin in.
            limit: most - select(slab, least(count, most), 1),
            most,
        }
    }

    /// The row of units.
    #[inline(always)]
    pub fn units(count: u32) -> Row {
        Row {
            index: UNITS_ROW,
            tag: UNITS,
            granules: UNITS_GRANULES,
            limit: 32 - count,
            most: 32,
        }
    }
}
