//! Where a lane is: one private variable that an entry fills from its built-in ones.

use core::arch::asm;
use warpheap_api::abi::{self, ArgBlock};

/// A vector of three words, as built-in variables are.
#[derive(Clone, Copy)]
#[rust_gpu::vector::v1]
pub struct UVec3 {
    /// First component.
    pub x: u32,
    /// Second component.
    pub y: u32,
    /// Third component.
    pub z: u32,
}

const BLOCK: usize = 0;
const THREAD: usize = 1;
const BLOCK_DIM: usize = 2;
const GRID_DIM: usize = 3;
const LANE: usize = 4;
const WIDTH: usize = 5;
const COMPANY: usize = 6;

/// The private variable that knows where the lane is. Not inlined while crates are compiled, so
/// that the variable is declared once.
#[inline(never)]
fn place() -> *mut [u32; 7] {
    let mut shape = [0u32; 7];
    let pointer: *mut [u32; 7];
    // SAFETY: declares a variable of the type of `shape` and yields its address.
    unsafe {
        asm!(
            "{pointer} = OpVariable typeof{shape} Private",
            shape = in(reg) &mut shape,
            pointer = out(reg) pointer,
        );
    }
    pointer
}

/// Stores where the lane is: an entry's first act. False if the lane's block is beyond the launch,
/// which happens where a launch of many blocks was folded into a second dimension; then the entry
/// returns at once.
///
/// `company` is a specialization constant: zero where lanes of a subgroup are not known to meet again after they
/// parted, so that each has to be a group of its own.
#[inline(always)]
pub fn enters(
    args: &ArgBlock,
    workgroup: UVec3,
    workgroups: UVec3,
    thread: u32,
    lane: u32,
    width: u32,
    company: u32,
) -> bool {
    let block = workgroup.y * workgroups.x + workgroup.x;
    let grid_dim = args.words[abi::ARG_GRID_DIM];
    let place = place();
    // SAFETY: a private variable belongs to this invocation alone.
    unsafe {
        (*place)[BLOCK] = block;
        (*place)[THREAD] = thread;
        (*place)[BLOCK_DIM] = args.words[abi::ARG_BLOCK_DIM];
        (*place)[GRID_DIM] = grid_dim;
        (*place)[LANE] = lane;
        (*place)[WIDTH] = width;
        (*place)[COMPANY] = company;
    }
    block < grid_dim
}

/// What a slice consists of. Only the two conversions from and to a slice in one function fold to
/// nothing; indexing with a range computes an address that the compiler cannot make a slice of.
struct Parts {
    base: *mut (),
    len: usize,
}

/// The first elements of a bound buffer, as many as the arguments at `at` say: an empty slice is
/// bound to a buffer that is not empty.
#[inline(always)]
pub fn bounded<'a, T>(buffer: &'a mut [T], args: &ArgBlock, at: usize) -> &'a mut [T] {
    let len = args.words[at + 2] as usize;
    // SAFETY: a slice is its address and its length.
    let whole: Parts = unsafe { core::mem::transmute(buffer) };
    let part = Parts {
        base: whole.base,
        len,
    };
    // SAFETY: the host bound a buffer of at least this length.
    unsafe { core::mem::transmute(part) }
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident = $index:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: a private variable belongs to this invocation alone.
            unsafe { (*place())[$index] }
        }
    )*};
}

places! {
    /// Index of the block.
    block_index = BLOCK;
    /// Index of the lane in its block.
    thread_index = THREAD;
    /// Lanes of a block.
    block_dim = BLOCK_DIM;
    /// Blocks of the launch.
    grid_dim = GRID_DIM;
    /// Index of the lane in its warp.
    lane = LANE;
    /// Lanes of a full warp.
    warp_width = WIDTH;
    /// Zero where every lane is a group of its own.
    company = COMPANY;
}

/// A number that differs between blocks: Vulkan does not tell the multiprocessor. A hint for
/// scattering, nothing more.
#[inline(always)]
pub fn processor() -> u32 {
    block_index()
}
