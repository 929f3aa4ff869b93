//! What an answer of the driver means.

use crate::sys;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use warpheap_api::host::{BackendKind, DeviceError};

/// A code that a call of the driver returned; 0 is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(pub i32);

impl Status {
    pub(crate) const OUT_OF_MEMORY: Status = Status(2);
    pub(crate) const NOT_FOUND: Status = Status(500);
    pub(crate) const NOT_READY: Status = Status(600);
    pub(crate) const PEER_ALREADY_REACHED: Status = Status(704);

    /// `Ok` for success.
    pub(crate) fn ok(self) -> Result<(), Status> {
        if self.0 == 0 { Ok(()) } else { Err(self) }
    }

    /// Whether the context is unusable after this: every later call would return the same.
    pub(crate) fn is_fatal(self) -> bool {
        matches!(
            self.0,
            // The driver is being unloaded.
            4
            // Uncorrectable memory or link errors.
            | 214 | 220 | 226
            // Illegal address, timeout, destroyed context, assertion.
            | 700 | 702 | 709 | 710
            // Stack, instruction, alignment, address space, program counter, other faults.
            | 714
                ..=719 | 721
            // "Unknown error".
            | 999
        )
    }

    /// What to do about it, where something can be done.
    fn advice(self) -> &'static str {
        match self.0 {
            34 => {
                "install the NVIDIA driver (libcuda.so.1; version 525 or later), then `nvidia-smi` lists the GPUs"
            }
            100 => {
                "`nvidia-smi` must list a GPU; look at CUDA_VISIBLE_DEVICES, and in a container at whether it was given the GPU"
            }
            46 => {
                "the GPU is in use by a process that holds it alone, or must be reset; `nvidia-smi` shows both"
            }
            700 | 710 | 714..=719 => {
                "a kernel did that; run it with WARPHEAP_BACKEND=host, which names the lane and the access"
            }
            702 => "the kernel ran longer than the display watchdog of this GPU allows",
            802 => "start the service nvidia-fabricmanager",
            803 => {
                "the driver's library and kernel module have different versions: reboot, or load the new module"
            }
            804 => "this GPU cannot use the CUDA compatibility library: install a newer driver",
            218 | 221..=223 => "a newer NVIDIA driver may help",
            500 => "this driver may be too old for the call: install a newer one",
            _ => "",
        }
    }

    /// Why there is no device to open, from the driver's answer to its first calls.
    pub(crate) fn no_device(self) -> DeviceError {
        no_device(match self.advice() {
            "" => format!("{self}; `nvidia-smi` must list a GPU"),
            advice => format!("{self}; {advice}"),
        })
    }

    /// This answer with advice.
    pub(crate) fn explained(self) -> String {
        match self.advice() {
            "" => self.to_string(),
            advice => format!("{self}; {advice}"),
        }
    }
}

/// An error of kind [`DeviceError::NoDevice`].
pub(crate) fn no_device(why: String) -> DeviceError {
    DeviceError::NoDevice {
        backend: BackendKind::Cuda,
        why,
    }
}

/// A call that the driver refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) call: &'static str,
    pub(crate) status: Status,
}

/// The status alone, where the call is clear.
impl From<Refused> for Status {
    fn from(refused: Refused) -> Self {
        refused.status
    }
}

/// Calls a function of the driver by its name: a `Result` whose error is [`Refused`]. To be used in an `unsafe` block that vouches
/// for the arguments.
macro_rules! ask {
    ($function:ident($($argument:expr),* $(,)?)) => {
        match $crate::status::Status($crate::sys::$function($($argument),*)) {
            $crate::status::Status(0) => Ok(()),
            status => Err($crate::status::Refused {
                call: stringify!($function).trim_end_matches("_v2"),
                status,
            }),
        }
    };
}
pub(crate) use ask;

/// The driver's name and text for a code; `None` for a code that it does not know, or without driver.
fn describe(code: c_int) -> Option<(String, String)> {
    let ask = |call: unsafe fn(c_int, *mut *const c_char) -> c_int| {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: any integer may be asked about; the answer is a static string or null.
        let status = unsafe { call(code, &mut text) };
        if status != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the driver's string ends in a NUL and lives as long as the driver.
        let text = unsafe { CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    };
    Some((ask(sys::cuGetErrorName)?, ask(sys::cuGetErrorString)?))
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == sys::NO_DRIVER
            && let Some(why) = sys::no_driver()
        {
            return write!(f, "{why} ({})", self.0);
        }
        match describe(self.0) {
            Some((name, text)) => write!(f, "{text} ({name}, {})", self.0),
            None => write!(f, "CUDA error {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_that_stick_are_fatal() {
        for fatal in [
            4, 214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999,
        ] {
            assert!(Status(fatal).is_fatal(), "{fatal}");
        }
        for harmless in [
            0, 1, 2, 100, 201, 209, 218, 222, 400, 500, 600, 701, 708, 720,
        ] {
            assert!(!Status(harmless).is_fatal(), "{harmless}");
        }
    }

    #[test]
    fn a_refused_call_is_named_without_its_version() {
        let (mut free, mut total) = (0, 0);
        // SAFETY: room for the answers. There is no driver, or no current context.
        let refused = unsafe { ask!(cuMemGetInfo_v2(&mut free, &mut total)) }.unwrap_err();
        assert_eq!(refused.call, "cuMemGetInfo");
        assert_ne!(Status::from(refused), Status(0));
    }

    #[test]
    fn success_is_ok_and_all_else_is_not() {
        assert_eq!(Status(0).ok(), Ok(()));
        assert_eq!(Status(34).ok(), Err(Status(34)));
    }

    #[test]
    fn a_missing_driver_and_a_missing_gpu_say_what_to_do() {
        let text = |code| Status(code).no_device().to_string();
        assert!(text(34).starts_with("no cuda device: "), "{}", text(34));
        assert!(text(34).contains("install the NVIDIA driver"));
        assert!(text(100).contains("CUDA_VISIBLE_DEVICES"));
        assert!(text(12345).contains("nvidia-smi") && text(12345).contains("12345"));
    }
}
