//! What a heap ties up for the bytes that it handed out.

use crate::row::{Metric, Unit};
use crate::stats::Spread;
use warpheap_api::host::{DeviceError, HostAlloc, Pool};
use warpheap_bench_kernels::mix::Mix;

/// Bytes of the pool that can no longer be had by every request, over the `asked` ones; none where nothing is handed
/// out.
pub(super) fn of<A: HostAlloc>(pool: &Pool<A>, asked: u64) -> Result<Option<Metric>, DeviceError> {
    let tied = pool.stats()?.usage.committed_bytes;
    Ok((asked != 0).then(|| {
        let ratio = Spread::exactly(tied as f64 / asked as f64);
        Metric::new(Metric::FOOTPRINT, Unit::Ratio, ratio)
    }))
}

/// What the first `requests` requests of `mix` ask for together, in bytes.
pub(super) fn asked(mix: Mix, requests: u32) -> u64 {
    (0..requests)
        .map(|number| u64::from(mix.size(number)))
        .sum()
}
