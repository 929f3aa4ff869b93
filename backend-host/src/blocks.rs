//! The live blocks of every heap, to tell when a new one overlaps another or a freed one is none.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use warpheap_rt::arch::simt::{BlockEvent, Site};

/// Who got a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taker {
    pub kernel: &'static str,
    pub block: u32,
    pub thread: u32,
    pub event: BlockEvent,
    pub site: Site,
}

/// A live block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    pub bytes: u64,
    pub by: Taker,
}

/// Live blocks by heap; the key is the heap's address.
#[derive(Debug, Default)]
pub(crate) struct BlockTable {
    heaps: Mutex<HashMap<usize, BTreeMap<u64, Live>>>,
}

impl fmt::Display for Taker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Taker {
            kernel,
            block,
            thread,
            event,
            site,
        } = self;
        let did = match event {
            BlockEvent::Moved => "moved or resized",
            _ => "got from malloc",
        };
        write!(
            f,
            "lane {thread} of block {block} of kernel {kernel} {did} at {site}"
        )
    }
}

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadBlock {
    /// It overlaps a live block: offset and bytes of that.
    Overlaps(u64, u64),
    /// It reaches beyond the heap, which has that many bytes.
    Beyond(u64),
    /// It is freed and does not begin a live block; offset and bytes of the live block that it is
    /// inside, if any.
    NotLive(Option<(u64, u64)>),
    /// It is freed or resized as if it had another size than these bytes.
    OtherSize(u64),
}

impl fmt::Display for BadBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadBlock::Overlaps(at, bytes) => {
                write!(
                    f,
                    "overlaps the live block of {bytes} bytes at offset {at:#x}"
                )
            }
            BadBlock::Beyond(bytes) => write!(f, "reaches beyond the heap of {bytes} bytes"),
            BadBlock::NotLive(None) => {
                write!(f, "is not live: it was freed before or never handed out")
            }
            BadBlock::NotLive(Some((at, bytes))) => write!(
                f,
                "is not live: the offset is inside the live block of {bytes} bytes at {at:#x}"
            ),
            BadBlock::OtherSize(bytes) => write!(
                f,
                "has {bytes} bytes: say the layout that it was allocated with, or last resized to"
            ),
        }
    }
}

impl BlockTable {
    /// Notes a block that was handed out. `room` is the heap's size in bytes, where it is known.
    pub(crate) fn insert(
        &self,
        heap: usize,
        room: Option<u64>,
        offset: u64,
        bytes: u64,
        by: Taker,
    ) -> Result<(), BadBlock> {
        // A block of no bytes is a block of its own all the same.
        let bytes = bytes.max(1);
        let end = offset.saturating_add(bytes);
        if let Some(room) = room
            && end > room
        {
            return Err(BadBlock::Beyond(room));
        }
        let mut heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        let live = heaps.entry(heap).or_default();
        // Live blocks are disjoint, so the last one that begins before the end decides.
        if let Some((&at, other)) = live.range(..end).next_back()
            && at + other.bytes > offset
        {
            return Err(BadBlock::Overlaps(at, other.bytes));
        }
        live.insert(offset, Live { bytes, by });
        Ok(())
    }

    /// Notes that a block of that many bytes is about to be freed or resized.
    pub(crate) fn remove(&self, heap: usize, offset: u64, bytes: u64) -> Result<(), BadBlock> {
        let mut heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        let live = heaps.entry(heap).or_default();
        if let Some(had) = live.remove(&offset) {
            return match had.bytes == bytes.max(1) {
                true => Ok(()),
                false => Err(BadBlock::OtherSize(had.bytes)),
            };
        }
        let around = block_around(live, offset);
        Err(BadBlock::NotLive(around.map(|(at, live)| (at, live.bytes))))
    }

    /// The live block that this offset is in, and where it begins.
    pub(crate) fn around(&self, heap: usize, offset: u64) -> Option<(u64, Live)> {
        let heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        block_around(heaps.get(&heap)?, offset)
    }

    /// Forgets the blocks of a heap that was formatted or whose memory was given back; whether there were some.
    pub(crate) fn clear(&self, heap: usize) -> bool {
        let mut heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        heaps.remove(&heap).is_some()
    }
}

fn block_around(live: &BTreeMap<u64, Live>, offset: u64) -> Option<(u64, Live)> {
    let (&at, &found) = live.range(..=offset).next_back()?;
    (at + found.bytes > offset).then_some((at, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    fn insert(
        table: &BlockTable,
        heap: usize,
        room: Option<u64>,
        offset: u64,
        bytes: u64,
    ) -> Result<(), BadBlock> {
        let by = Taker {
            kernel: "takes",
            block: 2,
            thread: 5,
            event: BlockEvent::Malloc,
            site: Location::caller(),
        };
        table.insert(heap, room, offset, bytes, by)
    }

    #[test]
    fn neighbours_are_fine_and_any_overlap_is_not() {
        let table = BlockTable::default();
        for at in [0, 32, 16] {
            assert_eq!(insert(&table, 1, Some(64), at, 16), Ok(()));
        }
        assert_eq!(
            insert(&table, 1, None, 47, 1),
            Err(BadBlock::Overlaps(32, 16))
        );
        assert_eq!(
            insert(&table, 1, None, 0, 100),
            Err(BadBlock::Overlaps(32, 16))
        );
        assert_eq!(
            insert(&table, 1, None, 4, 4),
            Err(BadBlock::Overlaps(0, 16))
        );
        assert_eq!(
            insert(&table, 2, None, 4, 4),
            Ok(()),
            "another heap is another matter"
        );
        assert_eq!(
            insert(&table, 1, Some(64), 48, 17),
            Err(BadBlock::Beyond(64))
        );
        assert_eq!(
            insert(&table, 1, Some(64), u64::MAX, 2),
            Err(BadBlock::Beyond(64))
        );
    }

    #[test]
    fn a_block_is_freed_once_and_at_its_start() {
        let table = BlockTable::default();
        assert_eq!(insert(&table, 1, None, 64, 0), Ok(()));
        assert_eq!(
            insert(&table, 1, None, 64, 0),
            Err(BadBlock::Overlaps(64, 1)),
            "blocks of no bytes are distinct"
        );
        assert_eq!(table.remove(1, 64, 0), Ok(()));
        assert_eq!(table.remove(1, 64, 0), Err(BadBlock::NotLive(None)));
        assert_eq!(insert(&table, 1, None, 64, 32), Ok(()));
        let inside = BadBlock::NotLive(Some((64, 32)));
        assert_eq!(table.remove(1, 80, 16), Err(inside));
        table.clear(1);
        assert_eq!(insert(&table, 1, None, 80, 32), Ok(()));
    }

    #[test]
    fn a_block_is_freed_with_the_size_that_it_has() {
        let table = BlockTable::default();
        for wrong in [0, 31, 33, 64] {
            assert_eq!(insert(&table, 1, None, 64, 32), Ok(()));
            assert_eq!(table.remove(1, 64, wrong), Err(BadBlock::OtherSize(32)));
        }
        assert_eq!(insert(&table, 1, None, 64, 32), Ok(()));
        assert_eq!(table.remove(1, 64, 32), Ok(()));
    }

    #[test]
    fn a_block_is_found_by_what_lies_in_it() {
        let table = BlockTable::default();
        assert_eq!(insert(&table, 1, None, 64, 32), Ok(()));
        for (offset, found) in [(63, None), (64, Some(64)), (95, Some(64)), (96, None)] {
            let around = table.around(1, offset);
            assert_eq!(around.map(|(at, _)| at), found, "{offset}");
        }
        assert!(table.around(2, 64).is_none());
        let (_, live) = table.around(1, 64).expect("it is live");
        let text = live.by.to_string();
        let start =
            "lane 5 of block 2 of kernel takes got from malloc at backend-host/src/blocks.rs:";
        assert!(text.starts_with(start), "{text}");
        assert!(table.clear(1));
        assert!(!table.clear(1));
    }
}
