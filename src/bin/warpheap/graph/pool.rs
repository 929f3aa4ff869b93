//! How large a heap a graph needs, and what is said about one that is too small or too large.

use super::growth::Demand;
use crate::error::CliError;
use warpheap::{DeviceError, DeviceInfo, HostAlloc, KernelFailure, PlanError};

/// What pools are rounded up to.
const STEP: u64 = 64 << 10;
/// Free room beside the blocks, for allocators that split their heap into regions of one block size:
/// one region may be begun for each size, and large blocks want neighbours.
const ROOM: u64 = 32 << 20;

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

/// Bytes of a pool that is enough for the vectors of a graph.
///
/// Room for every block ever asked for, which is at most twice what is live in the end: so it is enough
/// for allocators that never free, and for those that cannot use freed blocks of one size for
/// another.
pub fn enough<A: HostAlloc>(demand: &Demand) -> u64 {
    let blocks = demand.total();
    let blocks = match A::CAPS.frees {
        true => blocks + blocks / 4 + ROOM + 4 * demand.largest(),
        false => blocks + STEP,
    };
    let mut pool = round(blocks);
    // The metadata grow with the pool, by far less than it.
    for _ in 0..4 {
        pool = match A::plan(pool, &A::Config::default()) {
            Ok(plan) => round(blocks + plan.metadata_bytes),
            Err(PlanError::TooSmall { least, .. }) => round(least.max(pool)),
            // Too large: `reserve` says so.
            Err(_) => return pool,
        };
    }
    pool
}

fn round(bytes: u64) -> u64 {
    bytes.next_multiple_of(STEP)
}

/// The sizes to try, one after the other, when the user leaves the choice: what should be enough, and
/// more in case it is not.
fn sizes<A: HostAlloc>(demand: &Demand, limit: u64) -> Vec<u64> {
    let enough = enough::<A>(demand);
    let mut sizes: Vec<u64> = [1, 2, 4].map(|times| (enough * times).min(limit)).into();
    sizes.dedup();
    sizes
}

/// Why a run with one size of pool came to nothing.
pub enum Failed {
    /// The heap could not serve a vector.
    Full(Box<KernelFailure>),
    /// The pool could not be had.
    NoPool(DeviceError),
    /// Anything else.
    Other(CliError),
}

impl From<CliError> for Failed {
    fn from(error: CliError) -> Self {
        Failed::Other(error)
    }
}

impl From<DeviceError> for Failed {
    fn from(error: DeviceError) -> Self {
        Failed::Other(error.into())
    }
}

/// Does something with a pool of the size that the user named, or of sizes that should be enough until one is.
///
/// # Errors
/// The pool is too small or cannot be had; what the attempt says.
pub fn tried<A: HostAlloc, T>(
    info: &DeviceInfo,
    demand: &Demand,
    asked: Option<u64>,
    mut attempt: impl FnMut(u64) -> Result<T, Failed>,
) -> Result<T, CliError> {
    let limit = limit(info);
    let sizes = match asked {
        Some(bytes) => vec![bytes],
        None => sizes::<A>(demand, limit),
    };
    let mut full = None;
    for bytes in sizes {
        match attempt(bytes) {
            Ok(done) => return Ok(done),
            Err(Failed::Full(failure)) => full = Some((bytes, failure)),
            Err(Failed::Other(error)) => return Err(error),
            Err(Failed::NoPool(error)) => {
                // The size before it is what the device has: that it was too small says more.
                let Some((bytes, failure)) = full else {
                    return Err(refused::<A>(demand, asked, error));
                };
                return Err(too_small::<A>(demand, bytes, bytes, &failure));
            }
        }
    }
    Err(match full {
        Some((bytes, failure)) => too_small::<A>(demand, bytes, limit, &failure),
        None => CliError::Run(format!("{}: there is no pool to try", A::NAME)),
    })
}

/// The error for a pool whose heap could not serve a vector.
fn too_small<A: HostAlloc>(
    demand: &Demand,
    pool: u64,
    limit: u64,
    failure: &KernelFailure,
) -> CliError {
    // An estimate that was not enough is no advice.
    let enough = enough::<A>(demand).max(round(pool + pool / 2));
    let advice = if pool >= limit {
        format!(
            "{limit} bytes are all that the device allows: take a smaller graph or another device"
        )
    } else {
        format!("--pool {} would do", enough.min(limit))
    };
    CliError::Run(format!(
        "{}: a pool of {pool} bytes is too small for this graph; {advice} ({failure})",
        A::NAME
    ))
}

/// The error for a pool that could not be had. `asked` if the user named its size.
fn refused<A: HostAlloc>(demand: &Demand, asked: Option<u64>, error: DeviceError) -> CliError {
    let Some(bytes) = asked else {
        return CliError::Run(format!("{}: {error}", A::NAME));
    };
    match error {
        DeviceError::Plan(PlanError::TooSmall { .. }) => CliError::Usage(format!(
            "--pool {bytes}: {error}; for this graph --pool {} would do",
            enough::<A>(demand)
        )),
        DeviceError::Plan(_) | DeviceError::TooLarge { .. } | DeviceError::OutOfMemory { .. } => {
            CliError::Usage(format!("--pool {bytes}: {error}"))
        }
        error => error.into(),
    }
}

/// Checks that the allocator serves blocks as large as the largest vector.
///
/// # Errors
/// [`CliError::Run`] that says how large the block is and what is possible.
pub fn check_largest<A: HostAlloc>(demand: &Demand) -> Result<(), CliError> {
    let (largest, most) = (demand.largest(), A::CAPS.max_size);
    if largest > most {
        return Err(CliError::Run(format!(
            "{0}: the vertex with the most in-edges needs a block of {largest} bytes, and {0} serves at most \
             {most}: take a smaller graph or another allocator",
            A::NAME
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap::BackendKind;
    use warpheap::device::{Bump, Counted};

    type Plain = Counted<Bump>;

    #[test]
    fn enough_holds_every_block_and_the_metadata() {
        let demand = Demand::new([3, 9, 70_000].into_iter());
        let pool = enough::<Plain>(&demand);
        assert!(pool >= demand.total() + Plain::plan(pool, &()).unwrap().metadata_bytes);
        assert!(pool <= 2 * demand.total() + 4 * STEP);
    }

    #[test]
    fn sizes_stop_at_what_the_device_allows() {
        let demand = Demand::new([1 << 20].into_iter());
        let enough = enough::<Plain>(&demand);
        assert_eq!(
            sizes::<Plain>(&demand, u64::MAX),
            [enough, 2 * enough, 4 * enough]
        );
        assert_eq!(
            sizes::<Plain>(&demand, 3 * enough),
            [enough, 2 * enough, 3 * enough]
        );
        assert_eq!(sizes::<Plain>(&demand, 100), [100]);
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
        let demand = Demand::new([1000].into_iter());
        let failure = KernelFailure {
            kernel: "graph_insert".into(),
            lanes: 1,
            by_cause: [1, 0, 0],
            first: warpheap::api::AllocError::Exhausted,
            block: 0,
            lane: 0,
        };
        let advice = |pool, limit| too_small::<Plain>(&demand, pool, limit, &failure).to_string();
        let bytes = enough::<Plain>(&demand);
        assert!(advice(4096, u64::MAX).contains(&format!("--pool {bytes} would do")));
        let grown = round(4 * bytes + 2 * bytes);
        assert!(advice(4 * bytes, u64::MAX).contains(&format!("--pool {grown} would do")));
        assert!(!advice(bytes, bytes).contains("--pool"));
    }
}
