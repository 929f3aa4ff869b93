//! How durations stand in JSON.

use serde::Serializer;
use std::time::Duration;

/// A duration as a number of seconds, for `serialize_with`.
///
/// # Errors
/// The serializer's.
pub fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
