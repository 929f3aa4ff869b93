//! The primary context of a GPU, which all users of the GPU in this process share, and its limits.

use crate::status::{Refused, ask};
use crate::sys::{self, CUcontext, CUdevice};
use std::ptr::null_mut;

/// A hold on a GPU's primary context, given up when it is dropped.
pub(crate) struct Context {
    raw: CUcontext,
    device: CUdevice,
}

// SAFETY: the handle is a number to the driver, which may be used from any thread.
unsafe impl Send for Context {}

impl Context {
    /// Retains the context of a device that the driver named, and makes it current on this thread.
    pub(crate) fn retain(device: CUdevice) -> Result<Self, Refused> {
        let mut raw = null_mut();
        // SAFETY: room for the answer.
        unsafe { ask!(cuDevicePrimaryCtxRetain(&mut raw, device)) }?;
        let context = Context { raw, device };
        context.make_current()?;
        Ok(context)
    }

    /// Its device.
    pub(crate) fn device(&self) -> CUdevice {
        self.device
    }

    /// The driver's handle, valid while this is held.
    pub(crate) fn raw(&self) -> CUcontext {
        self.raw
    }

    /// Makes it the current one of this thread.
    #[inline]
    pub(crate) fn make_current(&self) -> Result<(), Refused> {
        // SAFETY: the context is held.
        unsafe { ask!(cuCtxSetCurrent(self.raw)) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained by `retain`, and released once.
        unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// A limit of the current context.
pub(crate) fn limit(limit: i32) -> Result<usize, Refused> {
    let mut value = 0;
    // SAFETY: room for the answer.
    unsafe { ask!(cuCtxGetLimit(&mut value, limit)) }?;
    Ok(value)
}

/// Sets a limit of the current context.
pub(crate) fn set_limit(limit: i32, value: usize) -> Result<(), Refused> {
    // SAFETY: two numbers.
    unsafe { ask!(cuCtxSetLimit(limit, value)) }
}

/// Free and total bytes of memory of the current context's device.
pub(crate) fn memory() -> Result<(u64, u64), Refused> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: room for the answers.
    unsafe { ask!(cuMemGetInfo_v2(&mut free, &mut total)) }?;
    Ok((free as u64, total as u64))
}
