//! Which backends there are, which are compiled in, and which devices they find.

#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "host")]
mod host;
#[cfg(feature = "vulkan")]
mod vulkan;

use warpheap_rt::api::host::{BackendKind, Device, DeviceError};

/// Every backend that exists, in the order in which they are preferred.
pub const ALL: [BackendKind; 3] = [BackendKind::Cuda, BackendKind::Vulkan, BackendKind::Host];

/// A device that a backend knows of. It need not be usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDevice {
    /// Its number, by which it can be chosen.
    pub index: usize,
    /// Its name; a part of it chooses it, too.
    pub name: String,
    /// Its driver, with the version.
    pub driver: String,
    /// What it is: `GPU`, `emulator`, …
    pub kind: String,
    /// Lanes of a warp, where that is known before opening.
    pub warp_width: Option<u32>,
    /// Its memory in bytes; 0 if unknown.
    pub memory_bytes: u64,
    /// Why it cannot be opened, where that is known beforehand. The self-test is not part of this.
    pub problem: Option<String>,
    /// What makes it slower than it could be, and what to do.
    pub remark: Option<String>,
    /// Devices of one kind have the same; a smaller one is preferred.
    pub(super) rank: u32,
}

/// What the facade asks of a backend.
struct Driver {
    /// Refuses variables with values that make no sense, whether there is a device or not.
    check: fn() -> Result<(), DeviceError>,
    /// Lists the devices, the best first.
    enumerate: fn() -> Result<Vec<FoundDevice>, DeviceError>,
    /// Opens the device of that number, without the self-test.
    open: fn(usize) -> Result<Device, DeviceError>,
    /// The environment variable that names the device when the program does not.
    variable: Option<&'static str>,
}

fn driver(backend: BackendKind) -> Option<Driver> {
    match backend {
        #[cfg(feature = "host")]
        BackendKind::Host => Some(host::DRIVER),
        #[cfg(feature = "cuda")]
        BackendKind::Cuda => Some(cuda::DRIVER),
        #[cfg(feature = "vulkan")]
        BackendKind::Vulkan => Some(vulkan::DRIVER),
        #[allow(unreachable_patterns)] // with every feature on
        _ => None,
    }
}

/// Whether a backend is part of this build.
pub fn compiled_in(backend: BackendKind) -> bool {
    driver(backend).is_some()
}

/// The backend of that name, compiled in or not.
///
/// # Errors
/// [`DeviceError::NoBackend`] that lists the names.
pub fn named(name: &str) -> Result<BackendKind, DeviceError> {
    let known = ALL
        .into_iter()
        .find(|kind| kind.name() == name.trim().to_lowercase());
    known.ok_or_else(|| DeviceError::NoBackend {
        name: name.trim().into(),
        how: format!(
            "there are {}; this build has {}",
            list(ALL.into_iter()),
            present()
        ),
    })
}

/// The devices of a backend, those that cannot be used included, the best first.
///
/// # Errors
/// [`DeviceError::NoBackend`] if it is not compiled in, with how to get it;
/// [`DeviceError::NoDevice`] if there are none, with what to do.
pub fn devices(backend: BackendKind) -> Result<Vec<FoundDevice>, DeviceError> {
    let driver = driver(backend).ok_or_else(|| absent(backend))?;
    (driver.enumerate)()
}

/// Opens the device of that number, as [`devices`] counts. Neither self-test nor heap calls: this is
/// for looking at a device that may be refused.
///
/// # Errors
/// As [`devices`]; errors of the device.
pub fn open_unchecked(backend: BackendKind, index: usize) -> Result<Device, DeviceError> {
    let driver = driver(backend).ok_or_else(|| absent(backend))?;
    (driver.open)(index)
}

/// The devices to try, best first: those that `device` names, a number or a part of a name; without
/// one, the device that the backend's environment variable names; without that, all that have no
/// known problem.
///
/// # Errors
/// As [`devices`]; [`DeviceError::NoDevice`] if none matches, with what was found; [`DeviceError::BadConfig`] if it is a
/// variable that names none of them, or one has a value that makes no sense.
pub(super) fn choose(
    backend: BackendKind,
    device: Option<&str>,
) -> Result<Vec<FoundDevice>, DeviceError> {
    let driver = driver(backend).ok_or_else(|| absent(backend))?;
    (driver.check)()?;
    let found = (driver.enumerate)()?;
    let variable = driver.variable.and_then(|name| {
        let value = std::env::var_os(name)?.to_string_lossy().into_owned();
        (!value.trim().is_empty()).then_some((name, value))
    });
    select(backend, found, device, variable)
}

/// Those of `found` that `device` names, or else the `variable` with this name and value.
fn select(
    backend: BackendKind,
    found: Vec<FoundDevice>,
    device: Option<&str>,
    variable: Option<(&str, String)>,
) -> Result<Vec<FoundDevice>, DeviceError> {
    let variable = variable.filter(|_| device.is_none());
    let device = device.or(variable.as_ref().map(|(_, value)| value.as_str()));
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    let why = match device {
        None => "none can be used".to_owned(),
        Some(device) => format!("there is none called `{}` that can be used", device.trim()),
    };
    let usable: Vec<FoundDevice> = found
        .into_iter()
        .filter(|found| device.is_none_or(|device| found.is_called(device)))
        .filter(|found| found.problem.is_none())
        .collect();
    if usable.is_empty() {
        if let Some((name, value)) = variable {
            return Err(DeviceError::BadConfig {
                setting: name.to_owned(),
                value,
                allowed: format!("a device that can be used, of {}", shown.join("; ")),
            });
        }
        let why = format!("{why}; found: {}", shown.join("; "));
        return Err(DeviceError::NoDevice { backend, why });
    }
    Ok(usable)
}

impl FoundDevice {
    /// Whether a user means this device: by its number, else by a part of its name in any case.
    fn is_called(&self, text: &str) -> bool {
        let text = text.trim();
        match text.parse::<usize>() {
            Ok(index) => self.index == index,
            Err(_) => self.name.to_lowercase().contains(&text.to_lowercase()),
        }
    }
}

impl std::fmt::Display for FoundDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.index, self.name, self.kind)?;
        match &self.problem {
            Some(problem) => write!(f, ": {problem}"),
            None => Ok(()),
        }
    }
}

/// The error for a backend that is not compiled in.
fn absent(backend: BackendKind) -> DeviceError {
    DeviceError::NoBackend {
        name: backend.name().into(),
        how: format!(
            "this build has {}; build with the cargo feature `{backend}` (`--features {backend}`) to add it",
            present()
        ),
    }
}

/// The names of the backends that are compiled in.
fn present() -> String {
    match list(ALL.into_iter().filter(|kind| compiled_in(*kind))) {
        none if none.is_empty() => "none".to_owned(),
        some => some,
    }
}

fn list(kinds: impl DoubleEndedIterator<Item = BackendKind>) -> String {
    // The host first: it is the one that everybody has.
    let names: Vec<&str> = kinds.rev().map(BackendKind::name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(index: usize, name: &str, problem: Option<&str>) -> FoundDevice {
        FoundDevice {
            index,
            name: name.into(),
            driver: "1".into(),
            kind: "GPU".into(),
            warp_width: None,
            memory_bytes: 0,
            problem: problem.map(Into::into),
            remark: None,
            rank: 0,
        }
    }

    fn indices(device: Option<&str>) -> Result<Vec<usize>, String> {
        let all = vec![
            found(1, "Fast GPU 9", None),
            found(0, "Slow GPU", None),
            found(2, "Old GPU", Some("lacks X")),
        ];
        match select(BackendKind::Vulkan, all, device, None) {
            Ok(found) => Ok(found.iter().map(|device| device.index).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_number_or_a_part_of_the_name_chooses() {
        assert_eq!(indices(None), Ok(vec![1, 0]));
        assert_eq!(indices(Some("0")), Ok(vec![0]));
        assert_eq!(indices(Some(" slow ")), Ok(vec![0]));
        assert_eq!(indices(Some("gpu")), Ok(vec![1, 0]));
    }

    #[test]
    fn what_cannot_be_used_is_said_with_the_reason() {
        for device in ["9", "old", "tpu"] {
            let message = indices(Some(device)).unwrap_err();
            assert!(message.contains(device), "{message}");
            assert!(message.contains("2 Old GPU (GPU): lacks X"), "{message}");
        }
    }

    #[test]
    fn a_variable_that_names_no_device_is_told_with_its_value() {
        let chosen = |device, value: &str| {
            let all = vec![found(0, "Slow GPU", None), found(1, "Old", Some("lacks X"))];
            let variable = Some(("WARPHEAP_VULKAN_DEVICE", value.to_owned()));
            select(BackendKind::Vulkan, all, device, variable)
        };
        assert_eq!(chosen(None, "slow").unwrap().len(), 1);
        // What the program names wins.
        assert_eq!(chosen(Some("0"), "7").unwrap().len(), 1);
        for value in ["7", "old"] {
            let message = chosen(None, value).unwrap_err().to_string();
            let start = format!("WARPHEAP_VULKAN_DEVICE={value} is not possible: give a device");
            assert!(message.starts_with(&start), "{message}");
            assert!(message.contains("0 Slow GPU (GPU)"), "{message}");
        }
    }

    #[test]
    fn names_are_known_whether_compiled_in_or_not() {
        assert_eq!(named(" Vulkan ").unwrap(), BackendKind::Vulkan);
        let message = named("abacus").unwrap_err().to_string();
        assert!(
            message.contains("`abacus`") && message.contains("host, vulkan, cuda"),
            "{message}"
        );
    }

    #[test]
    fn a_backend_that_is_not_compiled_in_says_how_to_get_it() {
        for backend in ALL.into_iter().filter(|kind| !compiled_in(*kind)) {
            let message = devices(backend).unwrap_err().to_string();
            assert!(
                message.contains(&format!("--features {backend}")),
                "{message}"
            );
        }
    }
}
