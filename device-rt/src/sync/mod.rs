//! What lanes of a warp do together.
//!
//! | type | what |
//! |---|---|
//! | [`Group`] | the lanes that are here together, and their collective operations |
//! | [`LaneMask`] | a set of lanes of a warp |
//! | [`Team`] | those of them that want the same, with a leader |
//! | [`in_rounds`] | the loop in which leaders claim and members share |
//!
//! Everything else here is built from these.

mod blocks;
mod deal;
mod reduce;
mod rounds;
mod scatter;
mod team;

pub use crate::arch::Group;
pub(crate) use blocks::{Granules, Move, copy, fill};
pub(crate) use deal::Deal;
pub use reduce::{PrefixSum, group_sum, last_lane};
pub use rounds::{Claimed, Requests, Turn, in_rounds};
pub use scatter::{hash, unhash};
pub use team::Team;
pub use warpheap_api::LaneMask;
