//! A GPU as the driver lists it.

use crate::status::{Refused, ask};
use crate::sys::{self, CUdevice};
use std::ffi::{CStr, c_int};

/// A GPU, which the driver has named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gpu(pub(crate) CUdevice);

impl Gpu {
    /// How many there are.
    pub(crate) fn count() -> Result<usize, Refused> {
        let mut count = 0;
        // SAFETY: room for the answer.
        unsafe { ask!(cuDeviceGetCount(&mut count)) }?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The one with this number.
    pub(crate) fn get(index: usize) -> Result<Self, Refused> {
        let index = c_int::try_from(index).unwrap_or(c_int::MAX);
        let mut device = 0;
        // SAFETY: room for the answer; the driver refuses a number that is none.
        unsafe { ask!(cuDeviceGet(&mut device, index)) }?;
        Ok(Gpu(device))
    }

    /// Its name, if the driver says.
    pub(crate) fn name(self) -> Option<String> {
        const ROOM: usize = 256;
        let mut name = [0u8; ROOM];
        // SAFETY: so much room; the driver ends the name with a NUL in it.
        let status =
            unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), ROOM as c_int, self.0) };
        let name = CStr::from_bytes_until_nul(&name).ok()?;
        (status == 0).then(|| name.to_string_lossy().into_owned())
    }

    /// Bytes of its memory; 0 if the driver does not say.
    pub(crate) fn memory(self) -> u64 {
        let mut bytes = 0;
        // SAFETY: room for the answer.
        match unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, self.0) } {
            0 => bytes as u64,
            _ => 0,
        }
    }

    /// What it is asked; 0 if the driver does not say.
    pub(crate) fn value(self, attribute: i32) -> u32 {
        let mut value = 0;
        // SAFETY: room for the answer.
        match unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, self.0) } {
            0 => u32::try_from(value).unwrap_or(0),
            _ => 0,
        }
    }
}
