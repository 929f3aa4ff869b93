//! What is to be said of a heap that could not serve a request: what it holds, what ties the rest, and how large it had to be.

use super::{ClassUsage, KernelFailure, PoolStats};
use std::fmt;
use std::vec::Vec;

/// Classes that are named one by one.
const NAMED: usize = 3;
/// What pools that are advised are rounded up to, in bytes.
const STEP: u64 = 64 << 10;

/// A heap that could not serve all requests of a launch, from [`PoolStats::when_full`]. It shows itself as a few sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullHeap {
    stats: PoolStats,
    /// Lanes that found nothing.
    lanes: u32,
    /// Bytes that they asked for together, each until it gave up, if someone knows.
    asked: Option<u64>,
}

impl PoolStats {
    /// What is to be said of this heap after a launch of which lanes found nothing; `None` if they failed for other reasons. The
    /// stats are those after the launch, before anything is freed.
    pub fn when_full(&self, failure: &KernelFailure) -> Option<FullHeap> {
        let [exhausted, ..] = failure.by_cause;
        // The heap counts since it was made or reset; of that, this launch's part, as if all had asked for the same.
        let part = |counted: u32| {
            let all = u128::from(self.refused_bytes) * u128::from(exhausted);
            u64::try_from(all / u128::from(counted.max(exhausted))).unwrap_or(u64::MAX)
        };
        (exhausted != 0).then(|| FullHeap {
            stats: self.clone(),
            lanes: exhausted,
            asked: (self.refused_bytes != 0).then(|| part(self.failures[0])),
        })
    }
}

impl FullHeap {
    /// The same where someone knows better than the heap how many bytes the requests that failed asked for together: how many the
    /// program would have asked for behind them, say.
    pub fn asking(mut self, bytes: u64) -> Self {
        self.asked = Some(bytes);
        self
    }

    /// Bytes of a pool that may be enough: a guess. It has room for what is in use and for what was asked for in vain, with as much
    /// tied to it and as large a part for the allocator itself as now, and is at least half as large again. Where the heap did not
    /// count what was asked for, that is a block of the mean size for each lane that failed.
    pub fn reserve(&self) -> u64 {
        let PoolStats {
            usage, pool_bytes, ..
        } = &self.stats;
        let each = || self.mean_block() * u64::from(self.lanes);
        let wanted = self.asked.unwrap_or_else(each);
        let tied = times(wanted, usage.committed_bytes, usage.used_bytes);
        let room = pool_bytes.saturating_sub(self.stats.metadata_bytes);
        let more = times(tied, *pool_bytes, room);
        let least = pool_bytes.saturating_add(pool_bytes / 2);
        let enough = pool_bytes.saturating_add(more).max(least);
        enough.checked_next_multiple_of(STEP).unwrap_or(enough)
    }

    /// What the heap holds, as a sentence without its full stop.
    pub fn holds(&self) -> impl fmt::Display + '_ {
        Holds(self)
    }

    /// What was asked for in vain, as a sentence without its full stop.
    pub fn asked(&self) -> impl fmt::Display + '_ {
        Asked(self)
    }

    /// The mean size of the blocks in use; a granule where there are none or nobody counts them.
    fn mean_block(&self) -> u64 {
        let usage = &self.stats.usage;
        let mean = usage.used_bytes.checked_div(usage.live_blocks.unwrap_or(0));
        mean.unwrap_or(0).max(16)
    }

    /// Classes with memory that is not in use and serves no other, those with the most of it first.
    fn tying(&self) -> Vec<&ClassUsage> {
        let classes = self.stats.usage.classes.iter();
        let mut classes: Vec<_> = classes.filter(|class| idle(class) != 0).collect();
        classes.sort_by_key(|class| core::cmp::Reverse(idle(class)));
        classes
    }
}

/// `bytes` as many times as `all` is `part`; once if that is less, or there is no part.
fn times(bytes: u64, all: u64, part: u64) -> u64 {
    let times = (u128::from(bytes) * u128::from(all)).checked_div(part.into());
    let times = times.map_or(bytes, |times| u64::try_from(times).unwrap_or(u64::MAX));
    times.max(bytes)
}

/// Bytes that are tied to a class, and in no block.
fn idle(class: &ClassUsage) -> u64 {
    class.committed_bytes.saturating_sub(class.used_bytes)
}

/// What a heap holds.
struct Holds<'a>(&'a FullHeap);

impl fmt::Display for Holds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FullHeap { stats, .. } = self.0;
        let usage = &stats.usage;
        let tied = usage.committed_bytes.saturating_sub(usage.used_bytes);
        write!(
            f,
            "{} has {} of {} bytes in use",
            stats.allocator, usage.used_bytes, stats.pool_bytes
        )?;
        if stats.mallocs != 0 {
            write!(f, " for {} that were asked for", stats.live_bytes())?;
        }
        write!(f, ", {tied} free ones are tied")?;
        for (number, class) in self.0.tying().into_iter().take(NAMED).enumerate() {
            let lead = if number == 0 { ", of them" } else { "," };
            write!(
                f,
                "{lead} {} to blocks of {} bytes",
                idle(class),
                class.block
            )?;
        }
        match usage.largest_free_run {
            Some(run) => write!(f, "; the largest free run has {run} bytes")?,
            None => f.write_str("; it does not tell where the others are free")?,
        }
        match stats.budget {
            Some(budget) => write!(
                f,
                "; its budget allows {} bytes, {} are in use",
                budget.bytes, budget.used_bytes
            ),
            None => Ok(()),
        }
    }
}

/// What was asked for in vain.
struct Asked<'a>(&'a FullHeap);

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lanes = self.0.lanes;
        match self.0.asked {
            Some(bytes) => write!(f, "{lanes} lane(s) asked for {bytes} bytes in vain"),
            None => write!(
                f,
                "{lanes} lane(s) asked in vain, for how many bytes nobody counted"
            ),
        }
    }
}

impl fmt::Display for FullHeap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (holds, asked) = (self.holds(), self.asked());
        write!(
            f,
            "{holds}. {asked}: a guess is `reserve({})`",
            self.reserve()
        )?;
        match self.stats.budget {
            Some(_) => f.write_str(", and a larger budget"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AllocError;
    use crate::host::{BlockSize, BudgetUse, Cause, Usage};
    use std::string::ToString;

    const POOL: u64 = 1 << 20;

    fn failure(by_cause: [u32; 3]) -> KernelFailure {
        KernelFailure {
            kernel: "fill".into(),
            lanes: by_cause.iter().sum(),
            by_cause,
            first: Cause::Heap(AllocError::Exhausted),
            block: 0,
            lane: 0,
        }
    }

    /// Of blocks of these sizes so many, in so many bytes.
    fn stats(classes: &[(u64, u64, u64)]) -> PoolStats {
        let mut usage = Usage {
            largest_free_run: Some(4096),
            ..Usage::default()
        };
        for &(size, blocks, committed) in classes {
            usage.add(BlockSize::Bytes(size), blocks, size * blocks, committed);
        }
        PoolStats {
            allocator: "WarpHeap",
            pool_bytes: POOL,
            metadata_bytes: 0,
            usage,
            failures: [0; 3],
            refused_bytes: 0,
            mallocs: 0,
            frees: 0,
            malloc_bytes: 0,
            free_bytes: 0,
            budget: None,
        }
    }

    fn full(classes: &[(u64, u64, u64)], lanes: u32) -> FullHeap {
        let full = stats(classes).when_full(&failure([lanes, 0, 0]));
        full.expect("lanes that found nothing")
    }

    #[test]
    fn the_classes_that_tie_most_are_named_and_what_is_not_known_is_said() {
        let classes = [
            (16, 10, 1160),
            (64, 100, 6400),
            (256, 1, 100_256),
            (1024, 2, 42_048),
            (4096, 1, 4098),
        ];
        let text = full(&classes, 7).to_string();
        for part in [
            "12960 of 1048576 bytes in use",
            "141002 free ones are tied, of them 100000 to blocks of 256 bytes, 40000 to blocks of 1024 bytes, 1000 to blocks of 16 bytes;",
            "largest free run has 4096 bytes",
            "7 lane(s) asked in vain, for how many bytes nobody counted",
            "a guess is `reserve(",
        ] {
            assert!(text.contains(part), "no `{part}` in: {text}");
        }
        for other in ["budget", "that were asked for"] {
            assert!(!text.contains(other), "{text}");
        }
        let mut counted = full(&classes, 7);
        (counted.stats.mallocs, counted.stats.malloc_bytes) = (114, 12_000);
        let text = counted.to_string();
        assert!(
            text.contains("in use for 12000 that were asked for,"),
            "{text}"
        );
        let known = full(&classes, 7).asking(700).to_string();
        assert!(known.contains("asked for 700 bytes"), "{known}");
        assert!(!known.contains("nobody"), "{known}");
    }

    #[test]
    fn a_budget_is_told_of() {
        let mut stats = stats(&[]);
        stats.budget = Some(BudgetUse {
            bytes: 1000,
            used_bytes: 990,
        });
        stats.usage.largest_free_run = None;
        let text = stats.when_full(&failure([1, 0, 0])).expect("full");
        let text = text.to_string();
        for part in [
            "its budget allows 1000 bytes, 990 are in use",
            "a larger budget",
            "does not tell",
        ] {
            assert!(text.contains(part), "no `{part}` in: {text}");
        }
    }

    #[test]
    fn the_guess_has_room_for_what_was_asked_for_and_what_it_ties() {
        // Little is missing: half as much again.
        let half = POOL + POOL / 2;
        assert_eq!(full(&[(64, 100, 6400)], 1).reserve(), half);
        // A thousand blocks of the mean size, 4096 bytes, half of what they tie in use.
        let many = full(&[(4096, 100, 819_200)], 1000);
        assert_eq!(many.reserve(), (POOL + 8_192_000).next_multiple_of(STEP));
        let known = many.asking(10 << 20).reserve();
        assert_eq!(known, POOL + (20 << 20));
        // A quarter of the pool is the allocator's own.
        let mut large = full(&[(4096, 100, 409_600)], 1).asking(3 << 20);
        large.stats.metadata_bytes = POOL / 4;
        assert_eq!(large.reserve(), POOL + (4 << 20));
        // Nothing in use, and numbers without end.
        assert_eq!(full(&[], 1).reserve(), half);
        assert!(full(&[], 1).asking(u64::MAX).reserve() == u64::MAX);
    }

    #[test]
    fn what_the_heap_counted_is_shared_out_to_the_launch() {
        let mut stats = stats(&[]);
        (stats.failures, stats.refused_bytes) = ([10, 0, 0], 1 << 20);
        let asked = |lanes| {
            let full = stats.when_full(&failure([lanes, 0, 0]));
            full.expect("lanes that found nothing").asked
        };
        assert_eq!(asked(10), Some(1 << 20));
        assert_eq!(asked(5), Some(1 << 19));
        // Lanes whose failure was another heap's.
        assert_eq!(asked(20), Some(1 << 20));
    }

    #[test]
    fn other_failures_are_not_of_a_full_heap() {
        assert_eq!(stats(&[]).when_full(&failure([0, 3, 2])), None);
    }
}
