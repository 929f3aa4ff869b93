//! What can be wrong with a heap.

use super::check::Lies;
use super::plan::Operation;
use thiserror::Error;

/// Something that may not be.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// Contents are not what was written.
    #[error(
        "{0} blocks did not hold what was written to them when they were given back or resized"
    )]
    Damaged(u32),
    /// Blocks of `calloc` have other contents than zeros.
    #[error("{0} blocks of calloc were not all zero when they were handed out")]
    Dirty(u32),
    /// Lanes counted something else than what the table of places came to.
    #[error("lanes count {told} {what}, and what they were to do comes to {expected}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// What the lanes told.
        told: i64,
        /// What it has to be.
        expected: i64,
    },
    /// A block that nobody had anything to do with, or that became something else than what was done with it.
    #[error(
        "block {block} of {bytes} bytes became {became}, and what was done with it last is: {last}"
    )]
    Became {
        /// Number of the block.
        block: u32,
        /// Bytes that it had, 0 if it was not there.
        bytes: u32,
        /// What became of it.
        became: String,
        /// The last step of it in the launch.
        last: Operation,
    },
    /// Two blocks share memory.
    #[error("{first} and {second} overlap")]
    Overlap {
        /// The one that begins first.
        first: Lies,
        /// The other one.
        second: Lies,
    },
    /// A block lies where no block may.
    #[error("{block} lies {whereabouts}")]
    Outside {
        /// The block.
        block: Lies,
        /// Where that is.
        whereabouts: String,
    },
    /// A block does not lie where it has to.
    #[error("{block} does not lie at a multiple of {} bytes", .block.align)]
    Misaligned {
        /// The block.
        block: Lies,
    },
    /// What the metadata say is in use is not what is.
    #[error("the heap says that {what}, and {expected}")]
    Usage {
        /// What it says.
        what: String,
        /// What is so.
        expected: String,
    },
    /// The metadata contradict themselves.
    #[error("the heap's metadata contradict themselves: {0}")]
    Inconsistent(String),
    /// A request failed though there is much room.
    #[error(
        "{failed} requests of at most {largest} bytes were refused as exhausted, and no more than {tied} of {room} bytes can have been tied"
    )]
    Early {
        /// Requests.
        failed: u32,
        /// The largest of the launch.
        largest: u32,
        /// Bytes that no other request could have, at most.
        tied: u64,
        /// Bytes of the heap.
        room: u64,
    },
    /// A request of a size that the heap serves was called impossible.
    #[error("{0} requests were refused as unsupported, and the heap serves blocks of their size")]
    Unsupported(u32),
    /// The heap ties up more and more.
    #[error(
        "{what} grows: {first:.3} in the first third of {cycles} cycles, {last:.3} in the last"
    )]
    Creep {
        /// What grows.
        what: &'static str,
        /// Its mean in the first third.
        first: f64,
        /// Its mean in the last third.
        last: f64,
        /// Cycles that were looked at.
        cycles: usize,
    },
    /// A heap that was to get another size has not.
    #[error("the pool has {bytes} bytes after it was to {what}")]
    Size {
        /// What was to happen.
        what: String,
        /// What it has.
        bytes: u64,
    },
    /// A launch or a look failed.
    #[error("{0}")]
    Device(String),
}
