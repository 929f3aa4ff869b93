//! What the host has of a trace.

use std::string::String;
use std::vec::Vec;
use warpheap_api::AllocError;

/// What lanes asked of a heap, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Name of the allocator.
    pub allocator: String,
    /// Whether times are nanoseconds of the device's clock, in steps of 64. On Vulkan, where there is none, they are the events'
    /// numbers in the trace, and the order of events of different warps in one launch is a guess.
    pub clock: bool,
    /// The kernels of each launch that made requests, in the order in which they ended; of launches that were waited for together,
    /// all names. `?` stands for a launch that had not ended, and `…` for those beyond the 511th.
    pub launches: Vec<String>,
    /// The events.
    pub events: Vec<TraceEvent>,
    /// Events that are not here, for lack of room.
    pub lost: u64,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// When, counted from the first event: see [`Trace::clock`].
    pub time: u64,
    /// Index of its launch among [`Trace::launches`].
    pub launch: u32,
    /// Index of the lane in the launch.
    pub lane: u32,
    /// What happened.
    pub call: TraceCall,
    /// Granule of the block; 0 where there is none.
    pub granule: u32,
    /// Bytes that were asked for; from 256 MiB on rounded up to a multiple of 256.
    pub bytes: u64,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceCall {
    /// A block was handed out.
    Malloc,
    /// A block was given back.
    Free,
    /// A request failed.
    Failed(AllocError),
    /// A block was resized: what it was until then.
    ResizedFrom,
    /// A block was resized: what it is from then on.
    ResizedTo,
    /// A block could not be resized to so many bytes, and is what it was.
    NotResized(AllocError),
    /// A kernel freed all at once.
    Reset,
}

impl TraceCall {
    /// Whether a block begins to be in use.
    pub fn begins(self) -> bool {
        matches!(self, TraceCall::Malloc | TraceCall::ResizedTo)
    }

    /// Whether a block ends to be in use.
    pub fn ends(self) -> bool {
        matches!(self, TraceCall::Free | TraceCall::ResizedFrom)
    }

    /// Whether it failed.
    pub fn failed(self) -> bool {
        matches!(self, TraceCall::Failed(_) | TraceCall::NotResized(_))
    }
}
