//! What few lanes come to, kept out of the registers of all others.

use core::arch::asm;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, Layout};

/// A malloc of code that seldom needs one, by a call: in place, WarpHeap's malloc would take the registers of all that is around it.
///
/// The call goes by the function's address, which the compiler does not know. By its name, it would keep the allocator in the lane's
/// stack from the kernel's begin on.
#[inline(always)]
pub fn malloc_rarely<A: DeviceAlloc>(
    alloc: A,
    layout: Layout,
) -> Result<DevicePtr<u8>, AllocError> {
    // What frees nothing hands out by an addition: less than a call.
    if !A::CAPS.frees {
        return alloc.malloc(layout);
    }
    let address: u64;
    // SAFETY: the address of a function.
    unsafe {
        asm!(
            "mov.u64 {}, {};",
            out(reg64) address,
            sym malloc_apart::<A>,
            options(pure, nomem, nostack),
        );
    }
    // SAFETY: it is of this type.
    let apart = unsafe { core::mem::transmute::<u64, fn(A, usize, usize) -> u64>(address) };
    let answer = apart(alloc, layout.size(), layout.align());
    let code = (answer >> 32) as u32;
    if code == 0 {
        Ok(DevicePtr::from_granule(answer as u32))
    } else {
        Err(AllocError::from_code(code))
    }
}

/// The granule of a block, or above it the code of an error.
#[inline(never)]
fn malloc_apart<A: DeviceAlloc>(alloc: A, size: usize, align: usize) -> u64 {
    match alloc.malloc(warpheap_api::layout::aligned(size, align)) {
        Ok(block) => u64::from(block.granule()),
        Err(error) => u64::from(error.code()) << 32,
    }
}

/// A free of code that seldom needs one, by a call in the same way.
///
/// # Safety
/// As [`DeviceAlloc::free`].
#[inline(always)]
pub unsafe fn free_rarely<A: DeviceAlloc>(alloc: A, ptr: DevicePtr<u8>, layout: Layout) {
    let address: u64;
    // SAFETY: the address of a function.
    unsafe {
        asm!(
            "mov.u64 {}, {};",
            out(reg64) address,
            sym free_apart::<A>,
            options(pure, nomem, nostack),
        );
    }
    // SAFETY: it is of this type, and the caller's promise.
    unsafe {
        let apart = core::mem::transmute::<u64, unsafe fn(A, u32, usize, usize)>(address);
        apart(alloc, ptr.granule(), layout.size(), layout.align());
    }
}

/// # Safety
/// As [`DeviceAlloc::free`].
#[inline(never)]
unsafe fn free_apart<A: DeviceAlloc>(alloc: A, granule: u32, size: usize, align: usize) {
    let layout = warpheap_api::layout::aligned(size, align);
    // SAFETY: the caller's promise.
    unsafe { alloc.free(DevicePtr::from_granule(granule), layout) }
}

/// The same word. What is computed from the answer is computed here, and not before a loop in which few lanes come here: the compiler
/// would keep it in registers for all.
#[inline(always)]
pub fn late(word: u32) -> u32 {
    let same;
    // Not `pure`, so that it stays where it is.
    // SAFETY: a move from a register to a register.
    unsafe { asm!("mov.b32 {}, {};", out(reg32) same, in(reg32) word, options(nomem, nostack)) };
    same
}
