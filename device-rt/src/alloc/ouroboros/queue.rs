//! Queues of entries: pages, or chunks with free pages (§3.3, §4, §5).
//!
//! Positions count up for ever. Who writes entries first takes *room*, which the queue has made before,
//! and then positions at the back; so every position that is handed out has its place in memory. A
//! place holds an entry, or nothing, or the mark of a reader that came before the writer and did not
//! wait any longer: then the writer takes the mark away and brings its entry elsewhere. So nobody
//! waits for somebody who stands still.
//!
//! | queue | places | room |
//! |---|---|---|
//! | [`Standard`](super::Standard) | a ring beside the chunks | what readers leave |
//! | [`VirtualArray`](super::VirtualArray) | queue chunks, found through a ring of chunk numbers | a queue chunk |
//! | [`VirtualLinked`](super::VirtualLinked) | queue chunks that are linked | a queue chunk |

use super::Core;
use super::chunk::LISTED;
use super::geometry::NONE;

/// Word of a queue chunk's header: entries written, and taken above it in 16 bits each.
pub(crate) const EVENTS: usize = 1;
/// Word of a queue chunk's header: its number in the queue.
pub(crate) const NUMBER: usize = 2;
/// Word of a queue chunk's header: the next one.
pub(super) const NEXT: usize = 3;
// Who lists a chunk may be late: the chunk may be a queue's by now.
const _: () = assert!(LISTED != EVENTS && LISTED != NUMBER && LISTED != NEXT);

/// How a queue chunk is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Way {
    /// From the front, by who has a position in it.
    Front = 0,
    /// From the back, by who has a position in it.
    Back = 1,
}

/// Where a queue keeps its entries.
///
/// Implemented by the three queues of the paper; there is nothing to implement outside.
pub trait Queue: Copy + 'static {
    /// Number of the queue among the three.
    #[doc(hidden)]
    const INDEX: u32;
    /// Names of the allocator with this queue, of pages and of chunks.
    #[doc(hidden)]
    const NAMES: [&'static str; 2];
    /// Whether entries lie in queue chunks.
    #[doc(hidden)]
    const VIRTUAL: bool;

    /// Whether queue chunks are added one by one, by [`add`](Self::add).
    #[doc(hidden)]
    const IN_RING: bool = false;

    /// The queue chunk with this number, in which the caller has a position; [`NONE`] if it was not found. What was done
    /// before it was added is known to the caller then.
    #[doc(hidden)]
    fn chunk_of(core: Core, class: u32, number: u32, way: Way) -> u32;

    /// Whether the queue chunk with this number can be added. The caller holds the queue's lock.
    #[doc(hidden)]
    fn can_add(core: Core, class: u32, number: u32) -> bool;

    /// Adds a queue chunk with this number, which is filled. The caller's warp holds the queue's lock, and has released.
    #[doc(hidden)]
    #[inline(always)]
    fn add(_core: Core, _class: u32, _chunk: u32, _number: u32) {}

    /// The queue chunk that was added last; [`NONE`] if there is none, or it does not matter. The caller
    /// holds the queue's lock.
    #[doc(hidden)]
    #[inline(always)]
    fn newest(_core: Core, _class: u32) -> u32 {
        NONE
    }

    /// Links queue chunks, the oldest and the newest of those that were added, behind `before`. The caller
    /// holds the queue's lock.
    #[doc(hidden)]
    #[inline(always)]
    fn publish(_core: Core, _class: u32, _chunks: (u32, u32), _before: u32) {}

    /// What is left to do for who added queue chunks behind `before`.
    #[doc(hidden)]
    #[inline(always)]
    fn settle(_core: Core, _class: u32, _before: u32) {}

    /// All entries of a queue chunk were written, or written and taken.
    #[doc(hidden)]
    fn progressed(core: Core, class: u32, chunk: u32, number: u32, all: bool);
}
