//! What lanes do together, built from the few operations that every target has.
//!
//! Functions that take a set of lanes are collective over exactly these lanes.

mod reduce;
mod scatter;

pub use reduce::{PrefixSum, last_lane, or_to_first, prefix_sum, team_sum};
pub use scatter::hash;
