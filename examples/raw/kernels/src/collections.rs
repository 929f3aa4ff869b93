//! Rust's own collections, in branches.

use crate::job;
use warpheap_raw::thread;

/// Lane `i` leaves [`job::answer`]`(i)` in `answers[i]`.
///
/// # Safety
/// `answers` has `lanes` elements.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn collect(answers: *mut u32, lanes: u32) {
    let lane = thread::index();
    if lane < lanes {
        // SAFETY: `lane` is less than `lanes`.
        unsafe { *answers.add(lane as usize) = job::answer(lane) };
    }
}
