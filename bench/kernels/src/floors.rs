//! What no allocator can beat, and the delay that measurements are queued behind.

use warpheap_rt::arch;
use warpheap_rt::device::*;
use warpheap_rt::sync::Group;

/// Does nothing: the price of a launch.
#[kernel]
pub fn empty() {}

/// Stores one word per lane: the price of handing each lane anything at all.
#[kernel(unsafe(slices))]
pub fn store(out: &mut [u32]) {
    let i = thread::index() as usize;
    if i < out.len() {
        // SAFETY: the index was checked.
        unsafe { *out.get_unchecked_mut(i) = i as u32 };
    }
}

/// One lane of each warp makes a release fence and one atomic addition to a word that no other warp
/// touches: the least that frees of a warp cost that release what was written.
#[kernel]
pub fn fence(out: &[AtomicWord]) {
    let i = thread::index() as usize;
    if i < out.len() && Group::here().leads() {
        arch::release();
        out[i].fetch_add(1);
    }
}

/// Keeps one lane busy for `steps` steps, each of which needs the one before. The host queues what is
/// measured meanwhile, so that it begins the moment this ends.
#[kernel(unsafe(slices))]
pub fn delay(out: &mut [u32], steps: u32) {
    if thread::index() == 0 && !out.is_empty() {
        let mut x = steps | 1;
        for _ in 0..steps {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
        }
        // Unless the result is used, there is nothing left to do.
        out[0] = x;
    }
}
