//! Which blocks were live together, and whether they overlap.
//!
//! Lanes run at the same time, so the order of their actions is not known; but every action took a
//! number from one clock when it began and when it had ended. A block was surely live from the end
//! of the action that made it to the beginning of the action that took it back, and two blocks that
//! were surely live at one moment must not share a byte.

use std::collections::BTreeMap;

/// A moment that has not come yet.
pub const NEVER: u32 = u32::MAX;

/// A block and the time for which it was surely live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Byte offset in the heap.
    pub start: u64,
    /// Bytes asked for; a block of no bytes counts as one byte.
    pub bytes: u64,
    /// When it had been handed out.
    pub born: u32,
    /// When its end began; [`NEVER`] if it lives.
    pub dies: u32,
    /// Who holds it, for messages: the slot.
    pub slot: u32,
}

/// Two blocks that share bytes while both were surely live, if there are any.
pub fn overlap(blocks: &[Lifetime]) -> Option<(Lifetime, Lifetime)> {
    // Births and deaths in order of time; no two have the same time but deaths that never come.
    let mut events: Vec<(u32, bool, usize)> = Vec::with_capacity(blocks.len() * 2);
    for (i, block) in blocks.iter().enumerate() {
        // A block whose end began before its malloc had ended was surely live at no moment.
        if block.born < block.dies {
            events.push((block.born, true, i));
            events.push((block.dies, false, i));
        }
    }
    events.sort_unstable();
    let mut live: BTreeMap<u64, usize> = BTreeMap::new();
    for (time, birth, i) in events {
        let block = blocks[i];
        if time == NEVER {
            continue;
        }
        if !birth {
            live.remove(&block.start);
            continue;
        }
        let end = block.start + block.bytes.max(1);
        if let Some((_, &other)) = live.range(..end).next_back() {
            let other = blocks[other];
            if other.start + other.bytes.max(1) > block.start {
                return Some((other, block));
            }
        }
        live.insert(block.start, i);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(start: u64, bytes: u64, born: u32, dies: u32) -> Lifetime {
        Lifetime {
            start,
            bytes,
            born,
            dies,
            slot: 0,
        }
    }

    #[test]
    fn blocks_that_share_bytes_and_time_are_found() {
        let first = block(64, 32, 1, 10);
        for (second, wrong) in [
            (block(96, 16, 2, 9), false),
            (block(48, 16, 2, 9), false),
            (block(95, 16, 2, 9), true),
            (block(48, 17, 2, 9), true),
            (block(64, 0, 2, NEVER), true),
            (block(64, 32, 11, NEVER), false),
            (block(0, 1000, 9, NEVER), true),
        ] {
            assert_eq!(overlap(&[first, second]).is_some(), wrong, "{second:?}");
            assert_eq!(overlap(&[second, first]).is_some(), wrong, "{second:?}");
        }
    }
}
