//! What a layout asks for.

use super::{Gallatin, MOST_ALIGN, MOST_GRANULES};
use warpheap_api::{Layout, layout, select};

/// What a request is served with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(u32);

impl Kind {
    /// A slice of a block.
    pub const SLICE: Kind = Kind(0);
    /// A block.
    pub const WHOLE: Kind = Kind(1);
    /// One or more segments.
    pub const RUN: Kind = Kind(2);
    /// Nothing: no heap could.
    pub const NONE: Kind = Kind(3);
}

/// A request.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub kind: Kind,
    /// The class of the slice, or the one whose blocks serve.
    pub class: u32,
    /// Segments of a run; 0 otherwise.
    pub segments: u32,
    /// Alignment in granules.
    pub align: u32,
}

impl Gallatin {
    /// What serves a layout. Slices and blocks begin at multiples of their sizes, so one that is as large as
    /// the alignment is aligned.
    #[inline(always)]
    pub(super) fn request(self, layout: Layout) -> Request {
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let possible = (granules <= MOST_GRANULES) & (align <= MOST_ALIGN);
        let granules = select(possible, granules, 1);
        let room = select(granules > align, granules, align);
        // The exponent of the least power of two that holds it.
        let log = 32 - (room - 1).leading_zeros();
        let geometry = self.geometry;
        let slice = log <= geometry.largest_log();
        let run = !slice & (log > geometry.segment_log());
        let kind = select(
            slice,
            Kind::SLICE.0,
            select(run, Kind::RUN.0, Kind::WHOLE.0),
        );
        let segment = (1 << geometry.segment_log()) - 1;
        let segments = (granules + segment) >> geometry.segment_log();
        Request {
            kind: Kind(select(possible, kind, Kind::NONE.0)),
            class: select(slice, log, select(run, 0, geometry.class_of_block(log))),
            segments: select(run, segments, 0),
            align,
        }
    }
}
