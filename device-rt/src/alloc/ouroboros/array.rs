//! The virtualised array-hierarchy queue (§5.1): a ring of queue chunks' numbers beside the chunks.

use super::geometry::NONE;
use super::queue::Way;
use super::{Core, Queue};
use warpheap_api::HeapMemory;

/// Entries lie in queue chunks; a ring beside the chunks says which.
#[derive(Clone, Copy, Debug)]
pub struct VirtualArray;

/// The word of the ring for the queue chunk with this number.
#[inline(always)]
fn pointer(core: Core, class: u32, number: u32) -> usize {
    let log = core.geometry.queue_log;
    let word = (class << log) + (number & ((1 << log) - 1));
    core.geometry.queues as usize + word as usize
}

impl Queue for VirtualArray {
    const INDEX: u32 = 1;
    const NAMES: [&'static str; 2] = ["OuroborosPVA", "OuroborosCVA"];
    const VIRTUAL: bool = true;
    const IN_RING: bool = true;

    #[inline(always)]
    fn chunk_of(core: Core, class: u32, number: u32, _way: Way) -> u32 {
        let chunk = core.words.load(pointer(core, class, number));
        core.words.acquire();
        chunk
    }

    #[inline(always)]
    fn can_add(core: Core, class: u32, number: u32) -> bool {
        core.words.load(pointer(core, class, number)) == NONE
    }

    #[inline(always)]
    fn add(core: Core, class: u32, chunk: u32, number: u32) {
        core.words.store(pointer(core, class, number), chunk);
    }

    #[inline(always)]
    fn progressed(core: Core, class: u32, chunk: u32, number: u32, all: bool) {
        if all {
            core.words.store(pointer(core, class, number), NONE);
            core.drop_queue_chunk(chunk);
        }
    }
}
