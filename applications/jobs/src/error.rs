//! What makes a job fail.

use std::fmt::Display;
use std::ops::RangeInclusive;
use thiserror::Error;
use warpheap::DeviceError;
use warpheap_dist::DistError;

/// Why a job did not do what it was asked to.
#[derive(Debug, Error)]
pub enum JobError {
    /// Settings that make no sense together or on this machine.
    #[error("{0}")]
    Usage(String),
    /// A file that cannot be used.
    #[error("{0}")]
    Input(String),
    /// A device, a pool or a kernel failed.
    #[error("{0}")]
    Run(String),
    /// The device's answer is wrong, or it did not free what it should have.
    #[error(
        "{allocator} on {backend}: {what}; the library, the driver or the device is wrong: see what `warpheap doctor` says \
         of the device, and report it with the command"
    )]
    Wrong {
        /// Allocator of the run.
        allocator: &'static str,
        /// Backend of the run.
        backend: String,
        /// What differs.
        what: String,
    },
}

impl JobError {
    /// Whether a device came to a wrong result, and not to none.
    pub fn is_wrong(&self) -> bool {
        matches!(self, JobError::Wrong { .. })
    }

    /// The same with what it is the error of in front, such as the device.
    pub(crate) fn of(self, label: &str) -> Self {
        match self {
            JobError::Usage(why) => JobError::Usage(format!("{label}{why}")),
            JobError::Input(why) => JobError::Input(format!("{label}{why}")),
            JobError::Run(why) => JobError::Run(format!("{label}{why}")),
            JobError::Wrong {
                allocator,
                backend,
                what,
            } => JobError::Wrong {
                allocator,
                backend,
                what: format!("{label}{what}"),
            },
        }
    }
}

/// Checks that a setting lies within its bounds.
///
/// # Errors
/// [`JobError::Usage`] that names the setting's `option`, what it is, and the bounds.
pub(crate) fn within<T: PartialOrd + Display>(
    option: &str,
    value: T,
    bounds: RangeInclusive<T>,
) -> Result<(), JobError> {
    match bounds.contains(&value) {
        true => Ok(()),
        false => Err(JobError::Usage(format!(
            "{option} {value} is out of bounds: give {} to {}",
            bounds.start(),
            bounds.end()
        ))),
    }
}

impl From<DeviceError> for JobError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::NoBackend { .. }
            | DeviceError::NothingOpens { .. }
            | DeviceError::BadConfig { .. }
            | DeviceError::NoDevice { .. } => JobError::Usage(error.to_string()),
            error => JobError::Run(error.to_string()),
        }
    }
}

impl From<DistError> for JobError {
    fn from(error: DistError) -> Self {
        match error {
            DistError::NotBuilt { .. } => JobError::Usage(error.to_string()),
            DistError::Device(error) => error.into(),
            error => JobError::Run(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{JobError, within};

    #[test]
    fn a_setting_out_of_bounds_is_named_with_its_bounds() {
        assert!(within("--k", 1, 1..=31).is_ok() && within("--k", 31, 1..=31).is_ok());
        for value in [0, 32] {
            let error = within("--k", value, 1..=31).unwrap_err().to_string();
            assert_eq!(error, format!("--k {value} is out of bounds: give 1 to 31"));
        }
    }

    #[test]
    fn an_error_of_a_device_names_it_and_stays_what_it_is() {
        let wrong = JobError::Wrong {
            allocator: "Bump",
            backend: "host".into(),
            what: "two are missing".into(),
        };
        let of = wrong.of("device 1 (emulator): ");
        assert!(of.is_wrong(), "{of}");
        let text = "Bump on host: device 1 (emulator): two are missing; ";
        assert!(of.to_string().starts_with(text), "{of}");
        let run = JobError::Run("no room".into()).of("device 1 (emulator): ");
        assert_eq!(run.to_string(), "device 1 (emulator): no room");
    }
}
