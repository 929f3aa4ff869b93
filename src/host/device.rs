//! A device that was opened, checked, and given kernels for what the host does in heaps.

use super::backends::{self, FoundDevice};
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
            match Self::open_found(backend, &found) {
                Ok(device) => return Ok(device),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_else(|| none_found(backend)))
    }

    /// Opens every device that can be used, of the backend that [`open`](Self::open) takes, in the order of their numbers in
    /// `warpheap doctor`; at least one. Each has its own pools, memory, streams and kernels; see
    /// [`DeviceVec::copy_from_vec`](host::DeviceVec::copy_from_vec) for what goes from one to another.
    ///
    /// These are all GPUs that CUDA's driver lists; all devices of Vulkan that are of one kind with the best, so no CPU beside a
    /// GPU; and of the host's emulator as many as `WARPHEAP_HOST_DEVICES` says, 1 without it. What `WARPHEAP_CUDA_DEVICE` or
    /// `WARPHEAP_VULKAN_DEVICE` names is all that there is then.
    ///
    /// A device that cannot be opened or fails its self-test is left out, with a warning by `tracing`.
    ///
    /// # Errors
    /// As [`open`](Self::open), if none can be used.
    pub fn all() -> Result<Vec<Self>, DeviceError> {
        Self::all_named(None)
    }

    /// Opens every device of this backend that can be used; see [`all`](Self::all).
    ///
    /// # Errors
    /// As [`open_backend`](Self::open_backend), if none can be used.
    pub fn all_of(backend: BackendKind) -> Result<Vec<Self>, DeviceError> {
        let found = backends::choose(backend, None)?;
        let opened = open_alike(&found, |found| Self::open_found(backend, found));
        opened.map_err(|first| first.unwrap_or_else(|| none_found(backend)))
    }

    /// Opens every device that can be used of the backend called `backend`; without one, of that which `WARPHEAP_BACKEND` names;
    /// without that, of the best that has one. See [`all`](Self::all).
    ///
    /// # Errors
    /// As [`open_named`](Self::open_named), if none can be used.
    pub fn all_named(backend: Option<&str>) -> Result<Vec<Self>, DeviceError> {
        match named(backend)? {
            Some(backend) => Self::all_of(backend),
            None => of_the_best(Self::all_of),
        }
    }

    /// Opens a device that was found, and checks it.
    fn open_found(backend: BackendKind, found: &FoundDevice) -> Result<Self, DeviceError> {
        let opened = backends::open_unchecked(backend, found.index).and_then(Self::adopt);
        opened
            .inspect(|device| device.set_number(found.index))
            .inspect_err(|error| {
                let number = found.index;
                tracing::warn!(%backend, number, device = found.name, %error, "a device is refused");
            })
    }

    /// Opens a device of the backend called `backend`; without one, of that which `WARPHEAP_BACKEND`
    /// names; without that, of the best that has one. `device` as in
    /// [`open_backend`](Self::open_backend).
    ///
    /// # Errors
    /// [`DeviceError::NoBackend`] for a name that does not exist; [`DeviceError::NothingOpens`] if no backend has such a
    /// device, with the reason of each; otherwise as [`open_backend`](Self::open_backend).
    pub fn open_named(backend: Option<&str>, device: Option<&str>) -> Result<Self, DeviceError> {
        match named(backend)? {
            Some(backend) => Self::open_backend(backend, device),
            None => of_the_best(|backend| Self::open_backend(backend, device)),
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
        if warpheap_rt::CHECKED {
            tracing::info!("heaps of WarpHeap are checked: this was built with WARPHEAP_CHECK=1");
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

/// Opens the devices of one kind with the best one that opens, which come first, and leaves out those that do not open; the first
/// error if none does.
fn open_alike<T>(
    found: &[FoundDevice],
    open: impl Fn(&FoundDevice) -> Result<T, DeviceError>,
) -> Result<Vec<T>, Option<DeviceError>> {
    let (mut opened, mut rank, mut first) = (Vec::new(), None, None);
    for found in found {
        if rank.is_some_and(|rank| rank != found.rank) {
            break;
        }
        match open(found) {
            Ok(device) => {
                rank = Some(found.rank);
                opened.push(device);
            }
            Err(error) => first = first.or(Some(error)),
        }
    }
    match opened.is_empty() {
        true => Err(first),
        false => Ok(opened),
    }
}

/// The backend of this name, or else of that in the environment.
fn named(backend: Option<&str>) -> Result<Option<BackendKind>, DeviceError> {
    let variable = std::env::var_os(VARIABLE).map(|name| name.to_string_lossy().into_owned());
    let variable = variable.filter(|name| !name.trim().is_empty());
    let name = backend.or(variable.as_deref());
    name.map(backends::named).transpose()
}

/// What the best backend opens that opens something.
fn of_the_best<T>(open: impl Fn(BackendKind) -> Result<T, DeviceError>) -> Result<T, DeviceError> {
    let mut errors = Vec::new();
    let present = backends::ALL.into_iter();
    for backend in present.filter(|kind| backends::compiled_in(*kind)) {
        match open(backend) {
            Ok(opened) => return Ok(opened),
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

fn none_found(backend: BackendKind) -> DeviceError {
    DeviceError::NoDevice {
        backend,
        why: "none was found".into(),
    }
}

#[cfg(test)]
mod tests;
