//! Which device to open.

use crate::config::DeviceChoice;
use crate::error::{INSTALL, describe, no_device};
use crate::instance::Instance;
use crate::limits::Limits;
use ash::vk;
use warpheap_api::host::DeviceError;

/// The kinds of Vulkan device, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU as a virtual machine sees it.
    Virtual,
    /// Anything else.
    Other,
    /// The CPU.
    Cpu,
}

impl DeviceKind {
    fn of(kind: vk::PhysicalDeviceType) -> Self {
        match kind {
            vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
            vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
            vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
            vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
            _ => DeviceKind::Other,
        }
    }
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            DeviceKind::Discrete => "discrete GPU",
            DeviceKind::Integrated => "integrated GPU",
            DeviceKind::Virtual => "virtual GPU",
            DeviceKind::Other => "other",
            DeviceKind::Cpu => "CPU",
        })
    }
}

/// A device that the Vulkan library knows.
#[derive(Clone, Debug)]
pub struct FoundDevice {
    /// Its index, by which it can be chosen.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Name and version of its driver.
    pub driver: String,
    /// What it is.
    pub kind: DeviceKind,
    /// Vulkan version of the driver: major and minor.
    pub version: (u32, u32),
    /// Lanes of a subgroup; 0 if the driver does not say.
    pub warp_width: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Why it cannot be used, if so. The self-test is not part of this: it runs on opening.
    pub problem: Option<String>,
    /// What makes it slower than it could be, and what to do.
    pub remark: Option<String>,
}

/// A physical device with all that is known of it.
pub(crate) struct Candidate {
    pub(crate) index: usize,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) limits: Limits,
}

/// All devices, in the driver's order.
///
/// # Errors
/// [`DeviceError::NoDevice`] if there are none.
pub(crate) fn candidates(instance: &Instance) -> Result<Vec<Candidate>, DeviceError> {
    // SAFETY: the instance is alive.
    let found = unsafe { instance.raw.enumerate_physical_devices() }.map_err(|error| {
        no_device(format!(
            "vkEnumeratePhysicalDevices: {}; {INSTALL}",
            describe(error)
        ))
    })?;
    if found.is_empty() {
        return Err(no_device(format!(
            "the installed Vulkan drivers offer no device; {INSTALL}"
        )));
    }
    let all = found.into_iter().enumerate();
    Ok(all
        .map(|(index, physical)| Candidate {
            index,
            physical,
            limits: Limits::query(&instance.raw, physical),
        })
        .collect())
}

/// What `enumerate` says of a candidate.
pub(crate) fn describe_candidate(candidate: &Candidate) -> FoundDevice {
    let limits = &candidate.limits;
    FoundDevice {
        index: candidate.index,
        name: limits.name.clone(),
        driver: limits.driver.clone(),
        kind: DeviceKind::of(limits.kind),
        version: (
            vk::api_version_major(limits.api_version),
            vk::api_version_minor(limits.api_version),
        ),
        warp_width: limits.warp_width,
        memory_bytes: limits.memory_bytes,
        problem: limits.problem.clone(),
        remark: limits.reconvergence.remark(),
    }
}

/// The indices of the devices to try, best first.
///
/// # Errors
/// [`DeviceError::NoDevice`] if none is usable or none matches, with the reason of each.
pub(crate) fn order(
    found: &[FoundDevice],
    choice: Option<&DeviceChoice>,
) -> Result<Vec<usize>, DeviceError> {
    let list = || {
        let line = |device: &FoundDevice| match &device.problem {
            None => format!("{} {} ({})", device.index, device.name, device.kind),
            Some(problem) => format!("{} {}: {problem}", device.index, device.name),
        };
        found.iter().map(line).collect::<Vec<_>>().join("; ")
    };
    let matching: Vec<&FoundDevice> = match choice {
        None => found.iter().collect(),
        Some(DeviceChoice::Index(index)) => found.iter().filter(|d| d.index == *index).collect(),
        Some(DeviceChoice::Name(part)) => {
            let part = part.to_lowercase();
            let matches = |d: &&FoundDevice| d.name.to_lowercase().contains(&part);
            found.iter().filter(matches).collect()
        }
    };
    if let (true, Some(choice)) = (matching.is_empty(), choice) {
        return Err(no_device(format!(
            "there is no {choice}; found: {}",
            list()
        )));
    }
    let mut usable: Vec<&FoundDevice> = matching
        .into_iter()
        .filter(|device| device.problem.is_none())
        .collect();
    if usable.is_empty() {
        let asked = choice.map_or(String::new(), |choice| format!("asked for {choice}: "));
        return Err(no_device(format!(
            "{asked}not usable; found: {}; {INSTALL}",
            list()
        )));
    }
    usable.sort_by_key(|device| (device.kind, device.index));
    Ok(usable.into_iter().map(|device| device.index).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: usize, name: &str, kind: DeviceKind, problem: Option<&str>) -> FoundDevice {
        FoundDevice {
            index,
            name: name.into(),
            driver: "driver 1".into(),
            kind,
            version: (1, 3),
            warp_width: 32,
            memory_bytes: 1 << 30,
            problem: problem.map(Into::into),
            remark: None,
        }
    }

    fn some() -> Vec<FoundDevice> {
        vec![
            device(0, "llvmpipe", DeviceKind::Cpu, None),
            device(1, "Laptop GPU", DeviceKind::Integrated, None),
            device(2, "Old GPU", DeviceKind::Discrete, Some("lacks X")),
            device(3, "New GPU", DeviceKind::Discrete, None),
        ]
    }

    #[test]
    fn discrete_before_integrated_before_cpu() {
        assert_eq!(order(&some(), None).unwrap(), [3, 1, 0]);
    }

    #[test]
    fn a_choice_is_followed() {
        let by = |text| order(&some(), Some(&DeviceChoice::parse(text)));
        assert_eq!(by("0").unwrap(), [0]);
        assert_eq!(by("gpu").unwrap(), [3, 1]);
        let missing = by("7").unwrap_err().to_string();
        assert!(missing.contains("no device 7") && missing.contains("1 Laptop GPU"));
        let unusable = by("old").unwrap_err().to_string();
        assert!(unusable.contains("lacks X"), "{unusable}");
    }

    #[test]
    fn nothing_usable_says_why_and_what_to_install() {
        let message = order(&some()[2..3], None).unwrap_err().to_string();
        assert!(message.contains("lacks X") && message.contains("libvulkan1"));
    }
}
