//! What can fail.

use thiserror::Error;
use warpheap::DeviceError;

/// Why ranks could not work together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DistError {
    /// The process is one of several, and this build cannot reach the others.
    #[error(
        "this is process {rank} of {size}, and the program was built without MPI: build it with the feature `mpi`, or start it \
         once"
    )]
    NotBuilt {
        /// The process, from 0.
        rank: usize,
        /// How many there are.
        size: usize,
    },
    /// MPI is at work already.
    #[error(
        "MPI was started before in this process: join a world once, and let nothing else start MPI"
    )]
    Joined,
    /// An exchange that does not have a part for each rank.
    #[error("an exchange has a part for each rank: {got} parts were given for {size} ranks")]
    Parts {
        /// Parts that were given.
        got: usize,
        /// Ranks.
        size: usize,
    },
    /// Parts that lie in one vector, and are longer than it.
    #[error("parts of {parts} elements do not lie in a vector of {elements}")]
    Beyond {
        /// Elements of all parts.
        parts: usize,
        /// Elements of the vector.
        elements: usize,
    },
    /// Ranks called the same thing with elements of different sizes.
    #[error(
        "rank {from} sent {bytes} bytes, which are no whole number of elements of {element} bytes: ranks exchange one type"
    )]
    Elements {
        /// Who sent them.
        from: usize,
        /// What was sent.
        bytes: u64,
        /// Bytes of an element here.
        element: usize,
    },
    /// Ranks reduce arrays of different lengths.
    #[error("ranks reduce arrays of one length: these have {least} to {most} numbers")]
    Lengths {
        /// Numbers of the shortest.
        least: u64,
        /// Numbers of the longest.
        most: u64,
    },
    /// Parts of all ranks that do not fill what they are brought together in.
    #[error(
        "ranks bring parts of {parts} bytes together, in vectors of {least} to {most} bytes: a vector has as many as all parts"
    )]
    Gathered {
        /// Bytes of all parts.
        parts: u64,
        /// Bytes of the shortest vector.
        least: u64,
        /// Bytes of the longest vector.
        most: u64,
    },
    /// What the others send does not fit.
    #[error(
        "there is no memory for {bytes} bytes that rank {from} sends: take more ranks, or exchange in smaller parts"
    )]
    NoMemory {
        /// Who sends them.
        from: usize,
        /// How many they are.
        bytes: u64,
    },
    /// NCCL refused something.
    #[error(
        "NCCL refuses {call}: {what}; NCCL_DEBUG=INFO tells more, WARPHEAP_NCCL=off goes without it"
    )]
    Nccl {
        /// Its function.
        call: &'static str,
        /// What it says.
        what: String,
    },
    /// A rank took another device than before.
    #[error(
        "the ranks are connected by NCCL with the devices that they had first: exchange what is on these"
    )]
    OtherDevice,
    /// The device of this rank failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
