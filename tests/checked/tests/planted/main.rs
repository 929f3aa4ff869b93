//! A catalogue of planted mistakes: each is found and told, with the right lanes.

mod frees;
mod told;
mod writes;

use warpheap_api::host::{LanePlace, Mistake};
use warpheap_checked_tests::{BLOCK, GRID, Site};

/// Sizes and alignments of blocks.
const LAYOUTS: [(u32, u32); 12] = [
    (0, 16),
    (1, 1),
    (4, 4),
    (15, 16),
    (16, 16),
    (17, 8),
    (40, 16),
    (64, 64),
    (100, 256),
    (1000, 32),
    (1500, 4096),
    (12_000, 16),
];

/// Bytes of a heap.
const POOL: u64 = 8 << 20;

/// A lane by its index in the launch, at a line.
fn lane(site: &Site, index: u32, line: u32) -> LanePlace {
    LanePlace {
        block: index / BLOCK,
        lane: index % BLOCK,
        line: site.tells_lines().then_some(line),
    }
}

/// Lanes that make mistakes: those of one warp, of two warps, of two blocks.
const PAIRS: [(u32, u32); 3] = [(1, 2), (0, BLOCK - 1), (3, BLOCK * GRID - 1)];

fn layout_of(mistake: &Mistake) -> Option<(u32, u32)> {
    mistake
        .block
        .map(|block| (block.size as u32, block.align as u32))
}
