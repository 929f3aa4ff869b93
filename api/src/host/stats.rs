//! What a heap holds at one moment.

use std::fmt;
use std::vec::Vec;

/// What an allocator's metadata say about the space in use.
///
/// Counts are those of a moment. Backends let no launch run while the host reads, so between launches
/// of all threads they are exact. Where an allocator reserves before it takes, an unsettled moment shows
/// a reservation as used; no figure exceeds what there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of blocks in use, as the allocator rounds them.
    pub used_bytes: u64,
    /// Bytes that are tied to one size class or otherwise not available to every request,
    /// `used_bytes` included.
    pub committed_bytes: u64,
    /// Blocks in use, where the metadata tell.
    pub live_blocks: Option<u64>,
    /// Bytes of the longest stretch that no use is tied to, where the metadata tell: one request
    /// without a special alignment can have it.
    pub largest_free_run: Option<u64>,
    /// The same by size of block, smallest first, where the metadata tell; sizes without any memory
    /// are left out.
    pub classes: Vec<ClassUsage>,
}

/// What blocks of one size class hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassUsage {
    /// How large the blocks are.
    pub block: BlockSize,
    /// Blocks in use.
    pub live_blocks: u64,
    /// Their bytes.
    pub used_bytes: u64,
    /// Bytes that are tied to the class, `used_bytes` included.
    pub committed_bytes: u64,
}

/// How large the blocks of a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockSize {
    /// All of so many bytes.
    Bytes(u64),
    /// Of one or more parts of so many bytes, side by side.
    Parts(u64),
}

impl Usage {
    /// The same with every number of bytes so many times: of a heap whose granules are as much larger.
    pub fn times(mut self, factor: u64) -> Self {
        self.used_bytes *= factor;
        self.committed_bytes *= factor;
        self.largest_free_run = self.largest_free_run.map(|bytes| bytes * factor);
        for class in &mut self.classes {
            class.block = class.block.times(factor);
            class.used_bytes *= factor;
            class.committed_bytes *= factor;
        }
        self
    }

    /// Adds what was found in memory that blocks of this size are tied to.
    pub fn add(&mut self, block: BlockSize, live_blocks: u64, used_bytes: u64, committed: u64) {
        self.used_bytes += used_bytes;
        self.committed_bytes += committed;
        *self.live_blocks.get_or_insert(0) += live_blocks;
        let place = self
            .classes
            .binary_search_by_key(&block, |class| class.block);
        let place = place.unwrap_or_else(|place| {
            let none = ClassUsage {
                block,
                live_blocks: 0,
                used_bytes: 0,
                committed_bytes: 0,
            };
            self.classes.insert(place, none);
            place
        });
        let class = &mut self.classes[place];
        class.live_blocks += live_blocks;
        class.used_bytes += used_bytes;
        class.committed_bytes += committed;
    }
}

impl BlockSize {
    /// So many times as large.
    pub(super) fn times(self, factor: u64) -> Self {
        match self {
            BlockSize::Bytes(bytes) => BlockSize::Bytes(bytes * factor),
            BlockSize::Parts(bytes) => BlockSize::Parts(bytes * factor),
        }
    }
}

impl fmt::Display for BlockSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            BlockSize::Bytes(bytes) => std::format!("{bytes}"),
            BlockSize::Parts(bytes) => std::format!("n x {bytes}"),
        };
        f.pad(&text)
    }
}

/// What a pool holds at one moment. It shows itself as one line; with `{:#}` a line for each size class
/// follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolStats {
    /// Name of the allocator.
    pub allocator: &'static str,
    /// Size of the pool in bytes, metadata included.
    pub pool_bytes: u64,
    /// Bytes that can never be handed out.
    pub metadata_bytes: u64,
    /// What the allocator's metadata say.
    pub usage: Usage,
    /// Requests that failed, by cause: exhausted, contended, unsupported.
    pub failures: [u32; 3],
    /// Bytes that the requests which were exhausted asked for together, in granules of 16.
    pub refused_bytes: u64,
    /// Blocks handed out; 0 unless the pool's allocator is `Counted`.
    pub mallocs: u64,
    /// Blocks taken back; 0 unless the pool's allocator is `Counted`.
    pub frees: u64,
    /// Bytes asked for by mallocs; 0 unless the pool's allocator is `Counted`.
    pub malloc_bytes: u64,
    /// Bytes given back by frees; 0 unless the pool's allocator is `Counted`.
    pub free_bytes: u64,
    /// The budget of the heap, if its allocator is `Limited` and was given one.
    pub budget: Option<BudgetUse>,
}

/// A budget, and how much of it is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    /// Bytes of the budget.
    pub bytes: u64,
    /// Bytes of blocks in use, as the allocator rounds them.
    pub used_bytes: u64,
}

impl PoolStats {
    /// Bytes asked for and not given back; 0 unless the pool's allocator is `Counted`.
    pub fn live_bytes(&self) -> u64 {
        self.malloc_bytes.saturating_sub(self.free_bytes)
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = ["block bytes", "blocks", "bytes in use", "bytes tied to it"];
        let [block, blocks, used, tied] = columns;
        write!(f, "\n{block:>14} {blocks:>12} {used:>16} {tied:>18}")?;
        for class in &self.usage.classes {
            write!(
                f,
                "\n{:>14} {:>12} {:>16} {:>18}",
                class.block, class.live_blocks, class.used_bytes, class.committed_bytes
            )?;
        }
        if let Some(bytes) = self.usage.largest_free_run {
            write!(f, "\nlongest free stretch: {bytes} bytes")?;
        }
        Ok(())
    }
}

impl fmt::Display for PoolStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} of {} bytes in use, {} metadata",
            self.allocator, self.usage.used_bytes, self.pool_bytes, self.metadata_bytes
        )?;
        if self.mallocs != 0 {
            write!(
                f,
                ", {} mallocs, {} frees, {} bytes live",
                self.mallocs,
                self.frees,
                self.live_bytes()
            )?;
        }
        if let Some(BudgetUse { bytes, used_bytes }) = self.budget {
            write!(f, ", {used_bytes} of a budget of {bytes} bytes in use")?;
        }
        let [exhausted, contended, unsupported] = self.failures;
        if self.failures != [0; 3] {
            write!(
                f,
                ", failed requests: {exhausted} exhausted ({} bytes), {contended} contended, {unsupported} unsupported",
                self.refused_bytes
            )?;
        }
        match f.alternate() && !self.usage.classes.is_empty() {
            true => self.table(f),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    fn stats() -> PoolStats {
        PoolStats {
            allocator: "Bump",
            pool_bytes: 1024,
            metadata_bytes: 64,
            usage: Usage::default(),
            failures: [0; 3],
            refused_bytes: 0,
            mallocs: 2,
            frees: 1,
            malloc_bytes: 48,
            free_bytes: 16,
            budget: None,
        }
    }

    #[test]
    fn stats_show_failures_only_where_there_are_some() {
        let mut stats = stats();
        let line = format!("{stats}");
        assert!(line.contains("32 bytes live") && !line.contains("failed"));
        // Counts wrap: their sum may be zero, or more than a word.
        stats.failures = [u32::MAX, 7, u32::MAX - 6];
        stats.refused_bytes = 48;
        let line = format!("{stats}");
        assert!(line.contains("7 contended") && line.contains("exhausted (48 bytes)"));
    }

    #[test]
    fn classes_add_up_and_are_shown_in_order_if_asked_for() {
        let mut stats = stats();
        assert_eq!(format!("{stats:#}"), format!("{stats}"));
        for (block, live, used) in [
            (BlockSize::Parts(512), 1, 1024),
            (BlockSize::Bytes(64), 3, 192),
            (BlockSize::Bytes(16), 2, 32),
            (BlockSize::Bytes(64), 1, 64),
        ] {
            stats.usage.add(block, live, used, 4096);
        }
        stats.usage.largest_free_run = Some(777);
        let usage = &stats.usage;
        assert_eq!((usage.used_bytes, usage.live_blocks), (1312, Some(7)));
        assert_eq!(usage.committed_bytes, 4 * 4096);
        let text = format!("{stats:#}");
        let rows: Vec<Vec<&str>> = text
            .lines()
            .skip(2)
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(rows[0], ["16", "2", "32", "4096"]);
        assert_eq!(rows[1], ["64", "4", "256", "8192"]);
        assert_eq!(rows[2], ["n", "x", "512", "1", "1024", "4096"]);
        assert!(rows[3].contains(&"777"), "{text}");
        assert_eq!(format!("{stats}").lines().count(), 1);
    }
}
