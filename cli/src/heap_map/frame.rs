//! A snapshot as it is drawn.

use super::cells::{Cells, Grid, cells};
use super::colour;
use serde::{Deserialize, Serialize};
use warpheap::{Snapshot, UseTotals};

/// A snapshot as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// What it was taken after.
    pub label: String,
    /// Name of the allocator.
    pub allocator: String,
    /// Number among the snapshots of its pool.
    pub sequence: u64,
    /// Bytes of the pool.
    pub pool_bytes: u64,
    /// Bytes of the pool that can never be handed out.
    pub metadata_bytes: u64,
    /// Bytes of blocks in use, as the allocator rounds them.
    pub used_bytes: u64,
    /// Bytes that are neither.
    pub free_bytes: u64,
    /// Bytes of the longest free stretch, where the allocator tells.
    pub largest_free_run: Option<u64>,
    /// Bytes that rounding took, where requests were counted.
    pub rounding_bytes: Option<u64>,
    /// Requests that failed: exhausted, contended, unsupported.
    pub failures: [u32; 3],
    /// Why a request may find nothing though memory is free.
    pub reason: String,
    /// What the allocator calls its units.
    pub unit: String,
    /// Bytes of one; 0 if it does not tell.
    pub unit_bytes: u64,
    /// Where the first cell begins in the pool.
    pub begin: u64,
    /// Bytes of a cell.
    pub cell_bytes: u64,
    /// The sums by use.
    pub uses: Vec<Row>,
    /// The cells, one behind the other, as `[count, use, thousandths in use, blocks, pinned]`.
    pub cells: Vec<Cells>,
}

/// The sums of one use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the use.
    pub name: String,
    /// Size of its blocks, where it has one.
    pub block: Option<String>,
    /// Its colour.
    pub colour: String,
    /// Whether any request may have it.
    pub free: bool,
    /// Whether it is for blocks of one size alone.
    pub class: bool,
    /// The allocator's units.
    pub units: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Blocks in use, where the allocator tells.
    pub blocks: Option<u64>,
    /// Their bytes.
    pub used_bytes: u64,
    /// Places for blocks that are free, where the allocator tells.
    pub free_places: Option<u64>,
    /// Parts that are pinned.
    pub pinned: u64,
}

impl Row {
    fn new(totals: &UseTotals) -> Self {
        Row {
            name: totals.usage.name().to_owned(),
            block: totals.usage.block().map(|block| block.to_string()),
            colour: colour::hex(colour::of(totals.usage)),
            free: totals.usage.is_free(),
            class: totals.usage.has_class(),
            units: totals.units,
            bytes: totals.bytes,
            blocks: totals.live_blocks,
            used_bytes: totals.used_bytes,
            free_places: totals.free_places,
            pinned: totals.pinned.regions,
        }
    }

    /// The use with the size of its blocks: `slab 64`.
    pub fn title(&self) -> String {
        match &self.block {
            Some(block) => format!("{} {block}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Frame {
    /// A snapshot in `most` cells at most.
    pub fn new(label: String, snapshot: &Snapshot, most: u64) -> Self {
        let (uses, stats) = (snapshot.uses(), &snapshot.stats);
        let grid = Grid::new(snapshot, most);
        let number = |usage| {
            let at = uses.iter().position(|totals| totals.usage == usage);
            at.unwrap_or(0) as u32
        };
        Frame {
            label,
            allocator: stats.allocator.to_owned(),
            sequence: snapshot.sequence,
            pool_bytes: stats.pool_bytes,
            metadata_bytes: stats.metadata_bytes,
            used_bytes: stats.usage.used_bytes,
            free_bytes: snapshot.free_bytes(),
            largest_free_run: snapshot.largest_free_run(),
            rounding_bytes: snapshot.rounding_bytes(),
            failures: stats.failures,
            reason: snapshot.reason(),
            unit: snapshot.unit.to_owned(),
            unit_bytes: snapshot.unit_bytes,
            begin: grid.begin,
            cell_bytes: grid.cell,
            uses: uses.iter().map(Row::new).collect(),
            cells: cells(snapshot, grid, number),
        }
    }

    /// Each cell by itself.
    pub fn each_cell(&self) -> impl Iterator<Item = Cells> {
        let alone = |cells: &Cells| {
            let one = Cells { count: 1, ..*cells };
            std::iter::repeat_n(one, cells.count as usize)
        };
        self.cells.iter().flat_map(alone)
    }

    /// The use that a cell shows.
    pub fn row(&self, cell: Cells) -> Option<&Row> {
        self.uses.get(cell.usage as usize)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use warpheap::device::layout;
    use warpheap::{Device, Pool};

    /// An empty heap of 250 chunks of 16 KiB.
    fn pool() -> Pool {
        let device = Device::open_named(Some("host"), None).expect("the emulator");
        device.reserve(4 << 20).expect("a heap")
    }

    fn taken(pool: &Pool, bytes: usize, count: usize) {
        for _ in 0..count {
            pool.malloc(layout::bytes(bytes)).expect("there is room");
        }
    }

    /// 40 blocks of 64 bytes, one of 1 KiB, a run of three chunks, 5 units.
    pub fn frame(label: &str) -> Frame {
        let pool = pool();
        taken(&pool, 64, 40);
        taken(&pool, 1024, 1);
        taken(&pool, 48 << 10, 1);
        taken(&pool, 2560, 1);
        drawn(&pool, label)
    }

    /// A block in each chunk.
    pub fn pinned(label: &str) -> Frame {
        let pool = pool();
        let layout = layout::bytes(1024);
        let blocks: Vec<_> = std::iter::from_fn(|| pool.malloc(layout).ok()).collect();
        for block in blocks {
            if block.byte_offset(0) % (16 << 10) != 0 {
                // SAFETY: it came from this heap, and nobody uses it.
                unsafe { pool.free(block, layout) }.expect("a free");
            }
        }
        drawn(&pool, label)
    }

    fn drawn(pool: &Pool, label: &str) -> Frame {
        let snapshot = pool.snapshot().expect("a snapshot");
        Frame::new(label.to_owned(), &snapshot, 4096)
    }
}
