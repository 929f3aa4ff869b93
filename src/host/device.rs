//! A device that was opened, checked, and given kernels for what the host does in heaps.

use super::backends;
use std::ops::Deref;
use warpheap_rt::api::host::{self, BackendKind, DeviceError};

/// The environment variable that names the backend when the program does not.
const VARIABLE: &str = "WARPHEAP_BACKEND";

/// An opened device; clones name the same one. Heaps, memory and kernels are made from it: see
/// [`api::host::Device`](warpheap_rt::api::host::Device), which it dereferences to.
///
/// It has passed a self-test of what warpheap's kernels rely on (the emulator needs none), and the host
/// can allocate in its heaps.
#[derive(Clone, Debug)]
pub struct Device(host::Device);

impl Deref for Device {
    type Target = host::Device;

    fn deref(&self) -> &host::Device {
        &self.0
    }
}

impl Device {
    /// Opens the best device: CUDA before Vulkan before the host's emulator, of the backends that are
    /// compiled in. `WARPHEAP_BACKEND=` names the backend instead, `WARPHEAP_CUDA_DEVICE=` and
    /// `WARPHEAP_VULKAN_DEVICE=` the device.
    ///
    /// # Errors
    /// As [`open_named`](Self::open_named).
    pub fn open() -> Result<Self, DeviceError> {
        Self::open_named(None, None)
    }

    /// Opens a device of this backend: that which `device` names, by its number or a part of its
    /// name; without one the best that passes the self-test.
    ///
    /// # Errors
    /// [`DeviceError::NoBackend`] if the backend is not compiled in, with how to get it;
    /// [`DeviceError::BadConfig`] if a variable of this backend has a value that makes no sense, or names a device that
    /// cannot be used; [`DeviceError::NoDevice`] if there is no such device; [`DeviceError::SelfTest`] if it computes
    /// wrong results; errors of the device.
    pub fn open_backend(backend: BackendKind, device: Option<&str>) -> Result<Self, DeviceError> {
        let mut first = None;
        for found in backends::choose(backend, device)? {
            let opened = backends::open_unchecked(backend, found.index).and_then(Self::adopt);
            match opened {
                Ok(device) => return Ok(device),
                Err(error) => {
                    tracing::warn!(%backend, device = found.name, %error, "a device is refused");
                    first.get_or_insert(error);
                }
            }
        }
        Err(first.unwrap_or_else(|| DeviceError::NoDevice {
            backend,
            why: "none was found".into(),
        }))
    }

    /// Opens a device of the backend called `backend`; without one, of that which `WARPHEAP_BACKEND`
    /// names; without that, of the best that has one. `device` as in
    /// [`open_backend`](Self::open_backend).
    ///
    /// # Errors
    /// [`DeviceError::NoBackend`] for a name that does not exist; [`DeviceError::NothingOpens`] if no backend has such a
    /// device, with the reason of each; otherwise as [`open_backend`](Self::open_backend).
    pub fn open_named(backend: Option<&str>, device: Option<&str>) -> Result<Self, DeviceError> {
        let variable = std::env::var_os(VARIABLE).map(|name| name.to_string_lossy().into_owned());
        let variable = variable.filter(|name| !name.trim().is_empty());
        match backend.or(variable.as_deref()) {
            Some(name) => Self::open_backend(backends::named(name)?, device),
            None => Self::open_best(device),
        }
    }

    fn open_best(device: Option<&str>) -> Result<Self, DeviceError> {
        let mut errors = Vec::new();
        let present = backends::ALL.into_iter();
        for backend in present.filter(|kind| backends::compiled_in(*kind)) {
            match Self::open_backend(backend, device) {
                Ok(device) => return Ok(device),
                // Another backend would hide it, and it may be the reason why this one does not open.
                Err(error @ DeviceError::BadConfig { .. }) => return Err(error),
                Err(error) => {
                    tracing::debug!(%backend, %error, "passed over");
                    errors.push(error);
                }
            }
        }
        match errors.len() {
            1 => Err(errors.remove(0)),
            0 => Err(DeviceError::NothingOpens {
                why: "this build has no backend: turn one of the cargo features `host`, `cuda` and `vulkan` on".into(),
            }),
            _ => {
                let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
                Err(DeviceError::NothingOpens {
                    why: reasons.join("; "),
                })
            }
        }
    }

    /// Makes a device that a backend opened ready: runs the self-test on it, unless it is the
    /// emulator, and lets the host allocate in its heaps.
    ///
    /// # Errors
    /// [`DeviceError::SelfTest`]; errors of the device.
    pub fn adopt(device: host::Device) -> Result<Self, DeviceError> {
        if device.info().backend != BackendKind::Host {
            Self::self_test(&device)?;
        }
        Ok(Device(warpheap_kernels::calls::attach(&device)?))
    }

    /// Runs the self-test: whether the device computes right what warpheap's kernels rely on.
    ///
    /// # Errors
    /// [`DeviceError::SelfTest`] that says what is wrong; errors of the device.
    pub fn self_test(device: &host::Device) -> Result<(), DeviceError> {
        warpheap_kernels::selftest::check(device)
    }
}

#[cfg(test)]
mod tests;
