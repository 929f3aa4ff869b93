//! Numbers that name what is on a device.

use std::sync::atomic::{AtomicU64, Ordering};

/// Names buffers, modules and streams. Shared by all backends of the process, so that what belongs to another
/// device is unknown here and not mistaken for something else.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A number that nothing else has.
pub(crate) fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}
