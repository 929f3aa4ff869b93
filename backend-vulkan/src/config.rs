//! What a user may choose when opening a Vulkan device.

use crate::cache;
use std::path::PathBuf;
use std::time::Duration;
use warpheap_api::host::DeviceError;

/// The variable that names the device: its index in [`enumerate`](crate::enumerate), or a part of
/// its name.
pub const ENV_DEVICE: &str = "WARPHEAP_VULKAN_DEVICE";
/// The variable that turns the validation layer on: `1`.
pub const ENV_VALIDATION: &str = "WARPHEAP_VULKAN_VALIDATION";
/// The variable that says after how many seconds without an answer a device counts as lost.
pub const ENV_TIMEOUT: &str = "WARPHEAP_TIMEOUT_S";
/// The variable that makes each lane a group of its own, as on devices where lanes that parted need not meet again:
/// `alone`.
pub const ENV_GROUPS: &str = "WARPHEAP_VULKAN_GROUPS";
/// The variable that says how many bytes of a buffer a descriptor may show: kernels find larger ones by address, as they do where
/// a device has no larger descriptors. For tests, which then need no large buffers.
pub const ENV_DESCRIPTORS: &str = "WARPHEAP_VULKAN_DESCRIPTOR_BYTES";
/// The variable that names the folder in which compiled kernels are kept, or `off`. Without it that is
/// `warpheap/pipelines` where programs of the user keep such things: in `$XDG_CACHE_HOME` or `~/.cache`.
pub const ENV_CACHE: &str = "WARPHEAP_CACHE_DIR";

/// Which device to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The device with this index in [`enumerate`](crate::enumerate).
    Index(usize),
    /// The first usable device whose name contains this, in any letter case.
    Name(String),
}

impl DeviceChoice {
    /// Reads a choice from text: digits are an index, anything else is part of a name.
    pub fn parse(text: &str) -> Self {
        match text.trim().parse() {
            Ok(index) => DeviceChoice::Index(index),
            Err(_) => DeviceChoice::Name(text.trim().to_string()),
        }
    }
}

impl std::fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DeviceChoice::Index(index) => write!(f, "device {index}"),
            DeviceChoice::Name(name) => write!(f, "a device called `{name}`"),
        }
    }
}

/// How to open a Vulkan device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VulkanConfig {
    /// Which device; `None` takes the best one that works.
    pub device: Option<DeviceChoice>,
    /// Load the Khronos validation layer and turn its errors into errors of the next call.
    pub validation: bool,
    /// How long the device may work on one submission (up to 256 launches) before it counts as
    /// hanging. A piece of work of a stream has this long for each 256 of its launches.
    pub timeout: Duration,
    /// Bytes of each of the two staging buffers that transfers go through; at least 64 KiB.
    pub staging_bytes: u64,
    /// Each lane is a group of its own, whatever the device can do.
    pub lanes_alone: bool,
    /// Most bytes of a buffer that kernels find by a descriptor, if that is to be less than the device allows. Kernels find larger
    /// ones by address.
    pub descriptor_bytes: Option<u64>,
    /// The folder in which compiled kernels are kept, so that the next program need not wait for the driver's compiler. It
    /// is made if need be, what is in it may be removed at any time, and beyond 1 GiB the oldest kernels go.
    pub cache: Option<PathBuf>,
    /// Kernels get no fences that release. They are wrong then: for litmus tests, which have to see it.
    pub without_release: bool,
    /// The same for fences that acquire.
    pub without_acquire: bool,
}

impl Default for VulkanConfig {
    fn default() -> Self {
        VulkanConfig {
            device: None,
            validation: false,
            timeout: Duration::from_secs(120),
            staging_bytes: 8 << 20,
            lanes_alone: false,
            descriptor_bytes: None,
            cache: None,
            without_release: false,
            without_acquire: false,
        }
    }
}

impl VulkanConfig {
    /// The defaults, changed by [`ENV_DEVICE`], [`ENV_VALIDATION`], [`ENV_TIMEOUT`], [`ENV_GROUPS`] and [`ENV_DESCRIPTORS`], with the folder for
    /// compiled kernels that [`ENV_CACHE`] names, or the usual one.
    ///
    /// # Errors
    /// [`DeviceError::BadConfig`] if a variable holds something that makes no sense.
    pub fn from_env() -> Result<Self, DeviceError> {
        let mut config = Self::from_lookup(|name| std::env::var(name).ok())?;
        config.cache = match std::env::var_os(ENV_CACHE).filter(|folder| !folder.is_empty()) {
            Some(off) if off == "off" => None,
            Some(folder) => Some(folder.into()),
            None => cache::usual_folder(|name| std::env::var_os(name)),
        };
        Ok(config)
    }

    fn from_lookup(var: impl Fn(&str) -> Option<String>) -> Result<Self, DeviceError> {
        let mut config = VulkanConfig::default();
        let set = |name| var(name).filter(|value| !value.trim().is_empty());
        if let Some(device) = set(ENV_DEVICE) {
            config.device = Some(DeviceChoice::parse(&device));
        }
        if let Some(value) = set(ENV_VALIDATION) {
            config.validation = match value.trim() {
                "1" | "true" | "yes" | "on" => true,
                "0" | "false" | "no" | "off" => false,
                _ => {
                    return Err(bad(ENV_VALIDATION, &value, "1 or 0"));
                }
            };
        }
        if let Some(value) = set(ENV_TIMEOUT) {
            config.timeout = match value.trim().parse::<f64>() {
                Ok(seconds) if seconds > 0.0 && seconds <= 1e9 => Duration::from_secs_f64(seconds),
                _ => {
                    return Err(bad(ENV_TIMEOUT, &value, "a number of seconds above 0"));
                }
            };
        }
        if let Some(value) = set(ENV_GROUPS) {
            config.lanes_alone = match value.trim() {
                "alone" => true,
                "best" => false,
                _ => {
                    return Err(bad(ENV_GROUPS, &value, "`alone` or `best`"));
                }
            };
        }
        if let Some(value) = set(ENV_DESCRIPTORS) {
            let bytes = value.trim().parse();
            let bytes = bytes.map_err(|_| bad(ENV_DESCRIPTORS, &value, "a number of bytes"))?;
            config.descriptor_bytes = Some(bytes);
        }
        Ok(config)
    }
}

fn bad(variable: &str, value: &str, allowed: &str) -> DeviceError {
    DeviceError::BadConfig {
        setting: variable.to_owned(),
        value: value.to_owned(),
        allowed: format!("{allowed}, or unset it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &'static str) -> Result<VulkanConfig, DeviceError> {
        VulkanConfig::from_lookup(|asked| (asked == name).then(|| value.to_string()))
    }

    #[test]
    fn variables_are_read() {
        let device = |value| with(ENV_DEVICE, value).unwrap().device;
        assert_eq!(device("2"), Some(DeviceChoice::Index(2)));
        assert_eq!(device("h200"), Some(DeviceChoice::Name("h200".into())));
        assert_eq!(device(" "), None);
        assert!(with(ENV_VALIDATION, "1").unwrap().validation);
        assert!(!with(ENV_VALIDATION, "0").unwrap().validation);
        let timeout = with(ENV_TIMEOUT, "1.5").unwrap().timeout;
        assert_eq!(timeout, Duration::from_millis(1500));
        assert!(with(ENV_GROUPS, "alone").unwrap().lanes_alone);
        assert!(!with(ENV_GROUPS, "best").unwrap().lanes_alone);
        let bytes = with(ENV_DESCRIPTORS, "4096").unwrap().descriptor_bytes;
        assert_eq!(bytes, Some(4096));
    }

    #[test]
    fn nonsense_is_an_error_that_names_the_variable() {
        for (name, value) in [
            (ENV_VALIDATION, "maybe"),
            (ENV_TIMEOUT, "soon"),
            (ENV_TIMEOUT, "0"),
            (ENV_TIMEOUT, "NaN"),
            (ENV_GROUPS, "some"),
            (ENV_DESCRIPTORS, "4 GiB"),
        ] {
            let message = with(name, value).unwrap_err().to_string();
            let start = format!("{name}={value} is not possible: give ");
            assert!(message.starts_with(&start), "{message}");
        }
    }
}
