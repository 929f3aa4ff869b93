//! How far a search for chunks has come.

use warpheap_api::{AllocError, LaneMask, least, select};

/// Chunks from where the row's last search ended on that a warp looks at before it takes part in a lap.
const NEAR: u32 = 128;

/// What a walk goes over. Searches for blocks go through all of them, those for larger ones only through the last.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Phase {
    /// Some chunks from where the last search ended.
    Near,
    /// Segments of laps that warps share.
    Laps,
    /// All chunks.
    Whole,
}

/// A walk over chunks, the same in all lanes of a group.
pub(super) struct Walk {
    /// The chunk at which it began.
    pub start: u32,
    /// As many chunks as it goes over from there.
    pub length: u32,
    /// Chunks looked at in this round.
    pub done: u32,
    /// Lanes whose chunk was picked already.
    pub tried: LaneMask,
    /// What it goes over.
    pub phase: Phase,
    /// Laps that it waited for.
    pub laps: u32,
    /// The segment of a lap that it goes over, and how many it went over before the lap that it waits for.
    pub segment: u32,
    pub segments: u32,
    /// The first of them, and how many doubts there were before it.
    pub first: u32,
    pub doubts_before: u32,
    /// [`DOUBT`](Self::DOUBT), [`SECOND`](Self::SECOND) and [`TWICE`](Self::TWICE): in a word, since predicates are few.
    flags: u32,
}

impl Walk {
    /// Something that was seen may be different now.
    const DOUBT: u32 = 1;
    /// It has begun again.
    const SECOND: u32 = 2;
    /// It begins again even if nothing is in doubt.
    const TWICE: u32 = 4;

    /// Over all chunks, twice before there is nothing: what others reach for in vain may look taken.
    #[inline(always)]
    pub fn new(start: u32, chunks: u32) -> Self {
        Walk {
            start,
            length: chunks,
            done: 0,
            tried: LaneMask::EMPTY,
            phase: Phase::Whole,
            laps: 0,
            segment: 0,
            segments: 0,
            first: 0,
            doubts_before: 0,
            flags: Self::TWICE,
        }
    }

    /// Over the nearest first.
    #[inline(always)]
    pub fn begin_near(&mut self) {
        self.phase = Phase::Near;
        self.length = least(self.length, NEAR);
    }

    /// Over these chunks next, with nothing known of them; all chunks a second time only if something was in doubt.
    #[inline(always)]
    pub fn begin(&mut self, phase: Phase, start: u32, length: u32) {
        self.phase = phase;
        self.start = start;
        self.length = length;
        self.done = 0;
        self.tried = LaneMask::EMPTY;
        self.flags = 0;
    }

    /// Notes that something which was seen may be different now, if so.
    #[inline(always)]
    pub fn doubt(&mut self, so: bool) {
        self.flags |= select(so, Self::DOUBT, 0);
    }

    /// Whether there is more to look at, in a walk over all chunks.
    #[inline(always)]
    pub fn goes_on(&mut self) -> bool {
        let again = (self.done >= self.length)
            & (self.flags & Self::SECOND == 0)
            & (self.flags & (Self::DOUBT | Self::TWICE) != 0);
        self.flags = select(again, Self::SECOND, self.flags);
        self.done = select(again, 0, self.done);
        self.done < self.length
    }

    /// Whether something that was seen may be different now.
    #[inline(always)]
    pub fn doubts(&self) -> bool {
        self.flags & Self::DOUBT != 0
    }

    /// Why it found nothing.
    #[inline(always)]
    pub fn code(&self) -> u32 {
        select(
            self.doubts(),
            AllocError::Contended.code(),
            AllocError::Exhausted.code(),
        )
    }
}
