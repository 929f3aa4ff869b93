//! The standard queue: a ring of entries beside the chunks (§4, Figure 2 left).

use super::geometry::NONE;
use super::queue::Way;
use super::{Core, Queue};

/// A ring of entries, one for each page size, of the size that `queue_capacity` says.
#[derive(Clone, Copy, Debug)]
pub struct Standard;

impl Queue for Standard {
    const INDEX: u32 = 0;
    const NAMES: [&'static str; 2] = ["OuroborosPS", "OuroborosCS"];
    const VIRTUAL: bool = false;

    #[inline(always)]
    fn chunk_of(_core: Core, _class: u32, _number: u32, _way: Way) -> u32 {
        NONE
    }

    #[inline(always)]
    fn can_add(_core: Core, _class: u32, _number: u32) -> bool {
        false
    }

    #[inline(always)]
    fn progressed(_core: Core, _class: u32, _chunk: u32, _number: u32, _all: bool) {}
}
