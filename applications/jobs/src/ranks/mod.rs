//! What jobs of several processes have in common.
//!
//! | module | what |
//! |---|---|
//! | `owner`, `cut` | which rank something belongs to, by a hash; things sorted by that |
//! | `file_part` | the part of a file that a rank reads |
//! | `rounds` | an exchange in rounds, beside which the rank works |
//! | `overlap` | how much of some time lies within other time |
//! | `exchanged` | where the time of an exchange went, in a report |
//! | `cannot` | what one rank cannot, none does |

pub mod cannot;
pub mod cut;
pub mod exchanged;
pub mod file_part;
pub mod overlap;
pub mod owner;
pub mod rounds;

use std::time::Duration;

/// A time as a number that ranks send.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Share `part` of `parts` of so many: where it begins. That of the part behind it is its end.
pub fn border(all: u64, part: usize, parts: usize) -> u64 {
    (u128::from(all) * part as u128 / parts.max(1) as u128) as u64
}
