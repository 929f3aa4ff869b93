//! What the lanes of a subgroup do together. None of it takes a mask: the hardware takes whoever is there.

use super::place::{company, lane};
use core::arch::asm;
use warpheap_api::{LaneMask, select};

/// A vector of four words, as a ballot is.
#[derive(Clone, Copy)]
#[rust_gpu::vector::v1]
struct UVec4 {
    x: u32,
    y: u32,
    z: u32,
    w: u32,
}

/// Whether masks that are known when the code is compiled make it faster: the hardware takes whoever is there.
pub const MASKS_COST: bool = false;

/// The lanes of the warp that are here together with the calling one; that one alone, where lanes do not meet
/// again.
#[inline(always)]
pub fn active() -> LaneMask {
    let lanes = ballot_word(1);
    let only = LaneMask::only(lane());
    let together = company() != 0;
    LaneMask {
        lo: select(together, lanes.lo, only.lo),
        hi: select(together, lanes.hi, only.hi),
    }
}

/// Those lanes of `mask` whose `vote` is true.
#[inline(always)]
pub fn ballot(mask: LaneMask, vote: bool) -> LaneMask {
    // More lanes than the mask's may be there where each is a group of its own.
    ballot_word(vote as u32).and(mask)
}

#[inline(always)]
fn ballot_word(vote: u32) -> LaneMask {
    let mut lanes = UVec4 {
        x: 0,
        y: 0,
        z: 0,
        w: 0,
    };
    // SAFETY: a ballot has no preconditions.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%bool = OpTypeBool",
            "%zero = OpConstant %u32 0",
            "%subgroup = OpConstant %u32 3",
            "%vote = OpINotEqual %bool {vote} %zero",
            "%lanes = OpGroupNonUniformBallot typeof*{lanes} %subgroup %vote",
            "OpStore {lanes} %lanes",
            vote = in(reg) vote,
            lanes = in(reg) &mut lanes,
        );
    }
    LaneMask {
        lo: lanes.x,
        hi: lanes.y,
    }
}

/// The `value` of lane `source`, which must be in `mask`.
#[inline(always)]
pub fn shuffle(_mask: LaneMask, value: u32, source: u32) -> u32 {
    let result: u32;
    // SAFETY: the source lane is active, as the module asks.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%subgroup = OpConstant %u32 3",
            "{result} = OpGroupNonUniformShuffle %u32 %subgroup {value} {source}",
            value = in(reg) value,
            source = in(reg) source,
            result = out(reg) result,
        );
    }
    result
}

/// Those lanes of `mask` whose `value` equals the calling lane's.
///
/// Vulkan has no instruction for it but where all lanes have the same value: one round for each different value, the same for
/// all lanes. Where a driver has one, the backend puts that in the place of what [`alike`] asks.
#[inline(always)]
pub fn match_any(mask: LaneMask, value: u32) -> LaneMask {
    let mut mine = alike(value).and(mask);
    let mut left = if mine.is_empty() {
        mask
    } else {
        LaneMask::EMPTY
    };
    while !left.is_empty() {
        let first = left.first();
        let same = value == shuffle(mask, value, first);
        let lanes = ballot(mask, same);
        if same {
            mine = lanes;
        }
        left = left.without(lanes).without(LaneMask::only(first));
    }
    mine
}

/// The lanes that are here, if all have the same `value`; else none. A ballot of that vote stands nowhere else: the backend finds it, and
/// makes of it the instruction that tells each lane which ones have the same value as itself.
#[inline(always)]
fn alike(value: u32) -> LaneMask {
    let mut lanes = UVec4 {
        x: 0,
        y: 0,
        z: 0,
        w: 0,
    };
    // SAFETY: votes and ballots have no preconditions.
    unsafe {
        asm!(
            "%bool = OpTypeBool",
            "%u32 = OpTypeInt 32 0",
            "%subgroup = OpConstant %u32 3",
            "%equal = OpGroupNonUniformAllEqual %bool %subgroup {value}",
            "%lanes = OpGroupNonUniformBallot typeof*{lanes} %subgroup %equal",
            "OpStore {lanes} %lanes",
            value = in(reg) value,
            lanes = in(reg) &mut lanes,
        );
    }
    LaneMask {
        lo: lanes.x,
        hi: lanes.y,
    }
}

/// Waits for the lanes that are here, and orders their memory accesses among themselves: a memory barrier alone
/// would order nothing, because it takes an atomic between two of them to do so.
#[inline(always)]
pub fn warp_barrier(_mask: LaneMask) {
    // AcquireRelease (0x8), UniformMemory (0x40), MakeAvailable (0x2000), MakeVisible (0x4000).
    // SAFETY: the lanes of the mask reach this call, as the module asks.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%subgroup = OpConstant %u32 3",
            "%semantics = OpConstant %u32 24648",
            "OpControlBarrier %subgroup %subgroup %semantics",
        );
    }
}
