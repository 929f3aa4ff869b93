//! Blocks as lanes get, move and free them, and reads of words in them that nobody has written.

use crate::blocks::Taker;
use crate::simt::site;
use crate::unwritten::Unwritten;
use crate::warp::Warp;
use std::ops::Range;
use std::thread::panicking;
use warpheap_rt::arch::simt::{Access, BlockEvent, LaneInfo, Site};

impl Warp {
    /// Something happens to a block of the heap at `base`, at byte `offset`.
    pub(crate) fn tracks(
        &self,
        info: &LaneInfo,
        base: usize,
        (offset, bytes): (u64, u64),
        event: BlockEvent,
    ) {
        let handed_out = !matches!(event, BlockEvent::Free | BlockEvent::Moving);
        self.change_owner(info.lane, base, offset, bytes, handed_out);
        if let Some(marks) = self.job.unwritten_of(base) {
            let start = base + offset as usize;
            self.mark(info.lane, marks, start..start + bytes as usize, event);
        }
        if handed_out {
            self.handed_out(info, base, offset, bytes, event);
        } else {
            self.taken_back(info, base, offset, bytes, event);
        }
    }

    /// Notes which words of a block nobody has written.
    fn mark(&self, lane: u32, marks: &Unwritten, block: Range<usize>, event: BlockEvent) {
        match event {
            BlockEvent::Malloc => marks.mark(block),
            BlockEvent::Calloc | BlockEvent::Free => marks.clear(block),
            // The allocator copies words that it knows nothing of: not as they were read, but as they were.
            BlockEvent::Moving => self.carry(lane, marks.take(block)),
            BlockEvent::Moved => {
                marks.mark(block.clone());
                let words = block.step_by(4);
                for (address, unwritten) in words.zip(self.carried(lane)) {
                    if !unwritten {
                        marks.clear(address..address + 4);
                    }
                }
            }
        }
    }

    fn handed_out(&self, info: &LaneInfo, base: usize, offset: u64, bytes: u64, event: BlockEvent) {
        let Some(blocks) = &self.job.blocks else {
            return;
        };
        let room = self.job.heaps().find(|heap| heap.base == base);
        let room = room.map(|heap| heap.bytes);
        let by = Taker {
            kernel: self.job.kernel,
            block: info.block,
            thread: info.thread,
            event,
            site: site(),
        };
        if let Err(bad) = blocks.insert(base, room, offset, bytes, by)
            && self.job.checks_blocks
            && !panicking()
        {
            let heap = self.heap_name(base);
            self.stop(
                info.lane,
                &format!(
                    "{heap} handed out a block of {bytes} bytes at offset {offset:#x} that {bad}"
                ),
            );
        }
    }

    fn taken_back(&self, info: &LaneInfo, base: usize, offset: u64, bytes: u64, event: BlockEvent) {
        let Some(blocks) = &self.job.blocks else {
            return;
        };
        if let Err(bad) = blocks.remove(base, offset, bytes)
            && self.job.checks_blocks
            && !panicking()
        {
            let heap = self.heap_name(base);
            let what = match event {
                BlockEvent::Moving => "realloc",
                _ => "free",
            };
            self.stop(
                info.lane,
                &format!(
                    "{what} of a block of {bytes} bytes at offset {offset:#x} of {heap}, which {bad}"
                ),
            );
        }
    }

    /// Nothing is known any more of what is written to the block that has this word.
    pub(crate) fn shows(&self, base: usize, word: usize) {
        let (Some(marks), Some(blocks)) = (self.job.unwritten_of(base), &self.job.blocks) else {
            return;
        };
        if let Some((at, live)) = blocks.around(base, word as u64 * 4) {
            let start = base + at as usize;
            marks.clear(start..start + live.bytes as usize);
        }
    }

    /// Stops the launch for a read of a word that nobody has written.
    #[cold]
    pub(crate) fn unwritten(&self, lane: u32, address: usize, access: Access, site: Site) -> ! {
        let did = match access {
            Access::Read => "read (plain)",
            Access::Load => "loaded (atomic)",
            _ => "changed (atomic)",
        };
        let word = self.job.place_of(address);
        let block = self.block_around(address);
        self.stop(
            lane,
            &format!(
                "read of a word that nobody has written: {word}, {did} at {site}; {block}write it first, or ask for zeros \
                 by calloc"
            ),
        )
    }

    /// The block that has a word of a heap, as a part of a message.
    fn block_around(&self, address: usize) -> String {
        let heap = self.job.unwritten_with(address).map(Unwritten::start);
        let found = heap
            .zip(self.job.blocks.as_ref())
            .and_then(|(base, blocks)| {
                let offset = (address - base) as u64;
                let (at, live) = blocks.around(base, offset)?;
                let (word, bytes, by) = ((offset - at) / 4, live.bytes, live.by);
                Some(format!(
                    "it is word {word} of the block of {bytes} bytes that {by}; "
                ))
            });
        found.unwrap_or_default()
    }
}
