//! How large the heap of a run is: what the user named, or sizes that should be enough until one is; and what is
//! said about one that is too small or cannot be had.

use crate::error::JobError;
use std::fmt::Display;
use warpheap::{DeviceError, DeviceInfo, FullHeap, HostAlloc, PlanError, Pool};

/// What pools are rounded up to.
pub const STEP: u64 = 64 << 10;

/// A number of bytes, rounded up to the next pool.
pub fn round(bytes: u64) -> u64 {
    bytes.next_multiple_of(STEP)
}

/// The largest pool that this device can have.
pub fn limit(info: &DeviceInfo) -> u64 {
    // What a 32-bit handle of 16-byte granules reaches.
    let reach = u64::from(u32::MAX) * 16;
    let memory = match info.memory_bytes {
        0 => u64::MAX,
        known => known,
    };
    let least = reach.min(info.max_buffer_bytes).min(memory);
    least - least % STEP
}

/// Bytes of a pool that has room for blocks of so many bytes beside what the allocator keeps for itself.
pub fn around<A: HostAlloc>(blocks: u64, config: &A::Config) -> u64 {
    let mut pool = round(blocks);
    // The metadata grow with the pool, by far less than it.
    for _ in 0..4 {
        pool = match A::plan(pool, config) {
            Ok(plan) => round(blocks + plan.metadata_bytes),
            Err(PlanError::TooSmall { least, .. }) => round(least.max(pool)),
            // Too large: whoever reserves it is told so.
            Err(_) => return pool,
        };
    }
    pool
}

/// What a job needs of the heap of one allocator.
#[derive(Debug, Clone)]
pub struct Need {
    /// The allocator.
    pub allocator: &'static str,
    /// Bytes of a pool that should be enough.
    pub enough: u64,
    /// Bytes of the largest pool that it can have.
    pub limit: u64,
    /// What the heap is for: `this graph`.
    pub job: &'static str,
    /// What did not fit into a pool that is too small: `12 different k-mers`.
    pub contents: String,
    /// What makes it fit into less: `take fewer rows`.
    pub instead: &'static str,
}

/// Why a run with one size of pool came to nothing.
pub enum Failed {
    /// The heap could not serve a block; what it says of itself, if it was looked at.
    Full(DeviceError, Option<Box<FullHeap>>),
    /// The pool could not be had.
    NoPool(DeviceError),
    /// No heap of this allocator can do it.
    Unsupported(DeviceError),
    /// Anything else.
    Other(JobError),
}

impl Failed {
    /// The same with what this heap, in which it happened, says of itself: to be called before anything is freed.
    pub fn told_by<A: HostAlloc>(self, pool: &Pool<A>) -> Self {
        let Failed::Full(error, _) = self else {
            return self;
        };
        let full = match &error {
            // What failed says more than that the heap could not be looked at.
            DeviceError::Kernel(failure) => {
                let stats = pool.stats().ok();
                let full = stats.and_then(|stats| stats.when_full(failure));
                full.map(Box::new)
            }
            _ => None,
        };
        Failed::Full(error, full)
    }
}

impl From<JobError> for Failed {
    fn from(error: JobError) -> Self {
        Failed::Other(error)
    }
}

impl From<DeviceError> for Failed {
    fn from(error: DeviceError) -> Self {
        Failed::Other(error.into())
    }
}

impl From<Failed> for JobError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Full(error, _) | Failed::NoPool(error) | Failed::Unsupported(error) => {
                error.into()
            }
            Failed::Other(error) => error,
        }
    }
}

/// Why there is no run.
pub enum Failure {
    /// This allocator cannot do it, with no pool that was to be had.
    Cannot(JobError),
    /// Anything else.
    Other(JobError),
}

impl Failure {
    /// The same with what it is the failure of in front.
    pub fn of(self, label: &str) -> Self {
        match self {
            Failure::Cannot(error) => Failure::Cannot(error.of(label)),
            Failure::Other(error) => Failure::Other(error.of(label)),
        }
    }
}

impl From<Failure> for JobError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Cannot(error) | Failure::Other(error) => error,
        }
    }
}

impl Need {
    /// Does something with a pool of the size that the user named, or of sizes that should be enough until one is.
    ///
    /// # Errors
    /// The pool is too small or cannot be had; what the attempt says.
    pub fn tried<T>(
        &self,
        asked: Option<u64>,
        mut attempt: impl FnMut(u64) -> Result<T, Failed>,
    ) -> Result<T, Failure> {
        let sizes = match asked {
            Some(bytes) => vec![bytes],
            None => self.sizes(),
        };
        let mut full = None;
        for bytes in sizes {
            match attempt(bytes) {
                Ok(done) => return Ok(done),
                Err(Failed::Full(why, heap)) => full = Some((bytes, Full::of(&why, heap))),
                Err(Failed::Other(error)) => return Err(Failure::Other(error)),
                Err(Failed::Unsupported(error)) => {
                    return Err(Failure::Cannot(self.failed(&error)));
                }
                Err(Failed::NoPool(error)) => {
                    // The size before it is what the device has: that it was too small says more.
                    return Err(Failure::Cannot(match full {
                        Some((bytes, why)) => self.too_small(bytes, bytes, &why),
                        None => self.refused(asked, error),
                    }));
                }
            }
        }
        Err(Failure::Cannot(match full {
            Some((bytes, why)) => self.too_small(bytes, self.limit, &why),
            None => self.failed(&"there is no pool to try"),
        }))
    }

    /// The sizes to try, one after the other, when the user leaves the choice: what should be enough, and
    /// more in case it is not.
    fn sizes(&self) -> Vec<u64> {
        let size = |times: u64| (self.enough * times).min(self.limit);
        let mut sizes = [1, 2, 4].map(size).to_vec();
        sizes.dedup();
        sizes
    }

    /// The error for a pool that turned out too small, where `limit` bytes can be had.
    fn too_small(&self, pool: u64, limit: u64, full: &Full) -> JobError {
        let Full { why, enough } = full;
        // An estimate that was not enough is no advice.
        let enough = self.enough.max(enough.unwrap_or(round(pool + pool / 2)));
        let advice = if pool >= limit {
            format!(
                "{limit} bytes are all that it can have here: {} or another device",
                self.instead
            )
        } else {
            format!("--pool {} would do", enough.min(limit))
        };
        self.failed(&format_args!(
            "a pool of {pool} bytes is too small for {}; {advice} ({why})",
            self.contents
        ))
    }

    /// The error for a pool that could not be had. `asked` if the user named its size.
    fn refused(&self, asked: Option<u64>, error: DeviceError) -> JobError {
        let Some(bytes) = asked else {
            return self.failed(&error);
        };
        match error {
            DeviceError::Plan(PlanError::TooSmall { .. }) => JobError::Usage(format!(
                "--pool {bytes}: {error}; for {} --pool {} would do",
                self.job, self.enough
            )),
            DeviceError::Plan(_)
            | DeviceError::TooLarge { .. }
            | DeviceError::OutOfMemory { .. } => {
                JobError::Usage(format!("--pool {bytes}: {error}"))
            }
            error => error.into(),
        }
    }

    fn failed(&self, why: &dyn Display) -> JobError {
        JobError::Run(format!("{}: {why}", self.allocator))
    }
}

/// A pool that was too small.
struct Full {
    /// The failure, and what its heap says.
    why: String,
    /// Bytes of a pool that may be enough, if the heap has a guess.
    enough: Option<u64>,
}

impl Full {
    fn of(why: &DeviceError, heap: Option<Box<FullHeap>>) -> Self {
        match heap {
            Some(heap) => Full {
                why: format!("{why}; {}; {}", heap.holds(), heap.asked()),
                enough: Some(heap.reserve()),
            },
            None => Full {
                why: why.to_string(),
                enough: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap::{BackendKind, KernelFailure, PoolStats, Usage};

    const ENOUGH: u64 = 3 << 20;

    fn need(limit: u64) -> Need {
        Need {
            allocator: "Bump",
            enough: ENOUGH,
            limit,
            job: "this game",
            contents: "seven dwarfs".to_owned(),
            instead: "take fewer dwarfs",
        }
    }

    #[test]
    fn sizes_stop_at_what_the_device_allows() {
        assert_eq!(need(u64::MAX).sizes(), [ENOUGH, 2 * ENOUGH, 4 * ENOUGH]);
        let three = 3 * ENOUGH;
        assert_eq!(need(three).sizes(), [ENOUGH, 2 * ENOUGH, three]);
        assert_eq!(need(100).sizes(), [100]);
    }

    #[test]
    fn the_limit_is_the_least_of_handle_buffer_and_memory() {
        let mut info = DeviceInfo {
            backend: BackendKind::Vulkan,
            name: String::new(),
            driver: String::new(),
            warp_width: 4,
            max_block_dim: 256,
            max_grid_dim: 65535,
            max_buffer_bytes: 1 << 30,
            memory_bytes: 0,
        };
        assert_eq!(limit(&info), 1 << 30);
        info.memory_bytes = 1 << 20;
        assert_eq!(limit(&info), 1 << 20);
        (info.memory_bytes, info.max_buffer_bytes) = (0, u64::MAX);
        assert_eq!(limit(&info), (64 << 30) - STEP);
    }

    #[test]
    fn advice_is_more_than_what_failed() {
        let full = |enough| Full {
            why: "full".to_owned(),
            enough,
        };
        let advice = |pool, limit| need(limit).too_small(pool, limit, &full(None)).to_string();
        assert!(advice(4096, u64::MAX).contains(&format!("--pool {ENOUGH} would do")));
        let grown = 6 * ENOUGH;
        assert!(advice(4 * ENOUGH, u64::MAX).contains(&format!("--pool {grown} would do")));
        let counted = need(u64::MAX).too_small(4 * ENOUGH, u64::MAX, &full(Some(9 * ENOUGH)));
        assert!(
            counted
                .to_string()
                .contains(&format!("--pool {} would do", 9 * ENOUGH))
        );
        let most = advice(ENOUGH, ENOUGH);
        assert!(!most.contains("--pool") && most.contains("fewer dwarfs"));
    }

    #[test]
    fn sizes_are_tried_until_one_is_enough() {
        let need = need(u64::MAX);
        let full = || {
            let failure = KernelFailure {
                kernel: "sleep".to_owned(),
                lanes: 1,
                by_cause: [1, 0, 0],
                first: warpheap::Cause::Heap(warpheap::api::AllocError::Exhausted),
                block: 0,
                lane: 0,
            };
            let stats = PoolStats {
                allocator: "Bump",
                pool_bytes: 64,
                metadata_bytes: 0,
                usage: Usage::default(),
                failures: [1, 0, 0],
                refused_bytes: 48,
                mallocs: 0,
                frees: 0,
                malloc_bytes: 0,
                free_bytes: 0,
                budget: None,
            };
            let heap = stats.when_full(&failure).map(Box::new);
            Failed::Full(Box::new(failure).into(), heap)
        };
        let mut tried = Vec::new();
        let done = need.tried(None, |bytes| {
            tried.push(bytes);
            match tried.len() {
                1 => Err(full()),
                _ => Ok(bytes),
            }
        });
        assert!(matches!(done, Ok(bytes) if bytes == 2 * ENOUGH));
        let named = need.tried::<()>(Some(64), |_| Err(full()));
        let Err(Failure::Cannot(error)) = named else {
            panic!("a pool that is full is enough");
        };
        let error = error.to_string();
        for part in [
            "64 bytes is too small for seven dwarfs",
            "kernel sleep",
            "Bump has 0 of 64 bytes in use",
            "1 lane(s) asked for 48 bytes in vain",
        ] {
            assert!(error.contains(part), "no `{part}` in: {error}");
        }
    }
}
