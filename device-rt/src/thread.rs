//! Where a lane is in its launch.

use crate::arch;

/// Index of the lane in the launch: block index × block size + index in the block.
#[inline(always)]
pub fn index() -> u32 {
    arch::block_index() * arch::block_dim() + arch::thread_index()
}

/// Number of lanes of the launch.
#[inline(always)]
pub fn count() -> u32 {
    arch::grid_dim() * arch::block_dim()
}

/// Index of the block (workgroup).
#[inline(always)]
pub fn block_index() -> u32 {
    arch::block_index()
}

/// Index of the lane in its block.
#[inline(always)]
pub fn index_in_block() -> u32 {
    arch::thread_index()
}

/// Lanes of a block.
#[inline(always)]
pub fn block_dim() -> u32 {
    arch::block_dim()
}

/// Blocks of the launch.
#[inline(always)]
pub fn grid_dim() -> u32 {
    arch::grid_dim()
}

/// Index of the lane in its warp (subgroup).
#[inline(always)]
pub fn lane() -> u32 {
    arch::lane()
}

/// Lanes of a full warp: 32 on NVIDIA, 4 on SwiftShader, 64 on some AMD devices.
#[inline(always)]
pub fn warp_width() -> u32 {
    arch::warp_width()
}

/// Waits until all lanes of the block are here, and orders their memory accesses among themselves.
///
/// # Safety
/// Every lane of the block reaches the call, as often as the others, also those that have nothing to do.
#[inline(always)]
pub unsafe fn block_barrier() {
    // SAFETY: the caller's promise.
    unsafe { arch::block_barrier() };
}
