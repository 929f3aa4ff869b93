//! What PTX of this crate is made faster by, and what checks it. A program may load the text as the compiler made it: it is
//! right as it is.

use std::borrow::Cow;
use std::string::String;
use warpheap_ptx::{ONE_WAY_FENCES, unguarded_mask, with_one_way_fences, without_spare_own_lanes};

/// The text for a device of this compute capability and a driver of this version of CUDA (`cuDriverGetVersion`: 13000 is 13.0),
/// faster than as it is:
///
/// - in entries that call no function, the masks of lanes lose the lane's own bit, which is for assemblers that take masks for
///   the same in all lanes: there they are right;
/// - fences that only acquire or only release become that, where device and driver have it (9.0 and 12.8).
///
/// Nothing else changes. A text without code of this crate stays as it is.
pub fn tuned(ptx: &str, capability: (u32, u32), driver: i32) -> Cow<'_, str> {
    let text = without_spare_own_lanes(ptx);
    let (least, least_driver) = ONE_WAY_FENCES;
    if capability < least || driver < least_driver {
        return text;
    }
    match text {
        Cow::Borrowed(text) => with_one_way_fences(text),
        Cow::Owned(text) => with_one_way_fences(&text).into_owned().into(),
    }
}

/// Looks for a mask of lanes that NVIDIA's assembler may miscompile.
///
/// # Errors
/// The text has a function, an entry that calls one, or an entry with a loop around two masks, which takes the lanes that are
/// here by `activemask` and does not add the lane's own bit: code that was not compiled from this crate, or that a tool changed.
pub fn check(ptx: &str) -> Result<(), UnguardedMask> {
    match unguarded_mask(ptx) {
        Some(function) => Err(UnguardedMask {
            function: function.into(),
        }),
        None => Ok(()),
    }
}

/// A function in which a mask of lanes may be miscompiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{function}` takes the lanes that are here by `activemask` without adding its own lane to them, which some of NVIDIA's \
     assemblers miscompile: compile it from warpheap-raw, and change nothing about masks afterwards"
)]
pub struct UnguardedMask {
    /// Name of the function or entry.
    pub function: String,
}
