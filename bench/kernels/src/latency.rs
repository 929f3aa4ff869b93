//! The time of single mallocs.

use warpheap_rt::arch;
use warpheap_rt::device::*;

/// Lane `i` allocates `size` bytes and stores the handle in `blocks[i]`, the null handle if there was
/// none, and in `ticks[i]` how far the clock went meanwhile.
#[kernel(allocators = all, unsafe(slices))]
pub fn malloc_timed<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &mut [DevicePtr<u8>],
    ticks: &mut [u32],
    size: u32,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    let mut result = Ok(());
    if i < blocks.len() && i < ticks.len() {
        let before = arch::ticks(size);
        match heap.malloc(layout::bytes(size as usize)) {
            Ok(block) => {
                ticks[i] = arch::ticks(block.granule()).wrapping_sub(before);
                blocks[i] = block;
            }
            Err(error) => {
                blocks[i] = DevicePtr::NULL;
                result = Err(error);
            }
        }
    }
    result
}

/// One lane stays busy for `steps` steps. How far the clock went meanwhile goes to `out[0]`, the
/// nanoseconds that passed to `out[1]`: nothing where a device has no clock.
#[kernel(unsafe(slices))]
pub fn pace(out: &mut [u32], steps: u32) {
    if thread::index() == 0 && out.len() >= 3 {
        let (ticks, nanos) = (arch::ticks(steps), arch::nanoseconds());
        let mut x = steps | 1;
        for _ in 0..steps {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
        }
        // Unless the result is used, there is nothing to be busy with.
        out[2] = x;
        out[0] = arch::ticks(x).wrapping_sub(ticks);
        out[1] = arch::nanoseconds().wrapping_sub(nanos);
    }
}
