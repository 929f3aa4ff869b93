//! How checksums stand in JSON.

use serde::Serializer;

/// A number as sixteen hexadecimal digits, for `serialize_with`.
///
/// # Errors
/// The serializer's.
pub fn hexadecimal<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{number:016x}"))
}
