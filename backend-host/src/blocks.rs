//! The live blocks of every heap, to tell when a new one overlaps another or a freed one is none.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Live blocks by heap; the key is the heap's address.
#[derive(Debug, Default)]
pub(crate) struct BlockTable {
    heaps: Mutex<HashMap<usize, BTreeMap<u64, u64>>>,
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
        if let Some((&at, &size)) = live.range(..end).next_back()
            && at + size > offset
        {
            return Err(BadBlock::Overlaps(at, size));
        }
        live.insert(offset, bytes);
        Ok(())
    }

    /// Notes a block that is about to be freed.
    pub(crate) fn remove(&self, heap: usize, offset: u64) -> Result<(), BadBlock> {
        let mut heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        let live = heaps.entry(heap).or_default();
        if live.remove(&offset).is_some() {
            return Ok(());
        }
        let around = live.range(..offset).next_back();
        let around = around.filter(|&(&at, &size)| at + size > offset);
        Err(BadBlock::NotLive(around.map(|(&at, &size)| (at, size))))
    }

    /// Forgets the blocks of a heap that was formatted or whose memory was given back.
    pub(crate) fn clear(&self, heap: usize) {
        let mut heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        heaps.remove(&heap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_fine_and_any_overlap_is_not() {
        let table = BlockTable::default();
        for at in [0, 32, 16] {
            assert_eq!(table.insert(1, Some(64), at, 16), Ok(()));
        }
        assert_eq!(
            table.insert(1, None, 47, 1),
            Err(BadBlock::Overlaps(32, 16))
        );
        assert_eq!(
            table.insert(1, None, 0, 100),
            Err(BadBlock::Overlaps(32, 16))
        );
        assert_eq!(table.insert(1, None, 4, 4), Err(BadBlock::Overlaps(0, 16)));
        assert_eq!(
            table.insert(2, None, 4, 4),
            Ok(()),
            "another heap is another matter"
        );
        assert_eq!(table.insert(1, Some(64), 48, 17), Err(BadBlock::Beyond(64)));
        assert_eq!(
            table.insert(1, Some(64), u64::MAX, 2),
            Err(BadBlock::Beyond(64))
        );
    }

    #[test]
    fn a_block_is_freed_once_and_at_its_start() {
        let table = BlockTable::default();
        assert_eq!(table.insert(1, None, 64, 0), Ok(()));
        assert_eq!(
            table.insert(1, None, 64, 0),
            Err(BadBlock::Overlaps(64, 1)),
            "blocks of no bytes are distinct"
        );
        assert_eq!(table.remove(1, 64), Ok(()));
        assert_eq!(table.remove(1, 64), Err(BadBlock::NotLive(None)));
        assert_eq!(table.insert(1, None, 64, 32), Ok(()));
        assert_eq!(table.remove(1, 80), Err(BadBlock::NotLive(Some((64, 32)))));
        table.clear(1);
        assert_eq!(table.insert(1, None, 80, 32), Ok(()));
    }
}
