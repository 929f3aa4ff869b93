//! What the chunks' words say is in use.

use super::WarpHeap;
use super::class::Class;
use super::state::{FREE, RUN, RUN_HEAD, SLAB_CLASSES, UNITS, count_of, is_idle, tag_for, use_of};
use crate::bits::share;
use warpheap_api::{HeapMemory, HeapStats, HeapUsage, least, select};

impl HeapStats for WarpHeap {
    #[inline(always)]
    fn usage(self, index: u32, count: u32) -> HeapUsage {
        let mut usage = HeapUsage {
            used_granules: 0,
            free_granules: 0,
            live_blocks: 0,
        };
        let mut left = share(self.geometry.chunks, index, count);
        let mut chunk = index;
        while left > 0 {
            let found = self.usage_of(chunk);
            usage.used_granules += found.used_granules;
            usage.free_granules += found.free_granules;
            usage.live_blocks += found.live_blocks;
            chunk = chunk.wrapping_add(count);
            left -= 1;
        }
        usage
    }
}

impl WarpHeap {
    /// What one chunk holds. Counts include what is about to be taken, so they may for a moment be more
    /// than there is.
    #[inline(always)]
    fn usage_of(self, chunk: u32) -> HeapUsage {
        let geometry = self.geometry;
        let whole = 1 << geometry.chunk_shift();
        let state = self.words.load(geometry.state_word(chunk));
        // Where blocks of units begin; bits of blocks in a slab.
        let heads = self.words.load(geometry.heads_word(chunk));
        let (tag, count) = (use_of(state), count_of(state));
        let slab = (tag >= tag_for(0)) & (tag <= tag_for(SLAB_CLASSES - 1));
        let index = select(slab, tag.wrapping_sub(tag_for(0)), 0);
        let class = Class::from_index(index, geometry.chunk_shift());
        let blocks = select(slab, least(count, class.blocks()), 0);
        let units = select(tag == UNITS, least(count, 32), 0);
        let begun = select(tag == UNITS, heads.count_ones(), 0);
        let run = (tag == RUN_HEAD) | (tag == RUN);
        HeapUsage {
            used_granules: blocks * class.granules
                + (units << geometry.unit_shift())
                + select(run, whole, 0),
            free_granules: select((state == FREE) | is_idle(state), whole, 0),
            live_blocks: blocks + begun + (tag == RUN_HEAD) as u32,
        }
    }
}
