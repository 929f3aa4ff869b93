//! Kernels that return errors.

use warpheap_rt::device::*;

/// Lane `i` returns the error with code `codes[i]`; 0 is none.
///
/// # Errors
/// As told.
#[kernel]
pub fn fail(codes: &[u32]) -> Result<(), AllocError> {
    let lane = thread::index() as usize;
    let code = if lane < codes.len() { codes[lane] } else { 0 };
    if code == 1 {
        Err(AllocError::Exhausted)
    } else if code == 2 {
        Err(AllocError::Contended)
    } else if code == 3 {
        Err(AllocError::Unsupported)
    } else {
        Ok(())
    }
}

/// Adds 1 to each element.
#[kernel(unsafe(slices))]
pub fn increment(values: &mut [u32]) {
    let lane = thread::index() as usize;
    if lane < values.len() {
        values[lane] += 1;
    }
}
