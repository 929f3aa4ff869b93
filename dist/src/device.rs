//! The device of a rank.

use crate::World;
use warpheap::api::host::BackendKind;
use warpheap::backends;
use warpheap::{Device, DeviceError};

/// The variables with which a user names one device for all ranks, by backend.
const VARIABLES: [(BackendKind, &str); 2] = [
    (BackendKind::Cuda, "WARPHEAP_CUDA_DEVICE"),
    (BackendKind::Vulkan, "WARPHEAP_VULKAN_DEVICE"),
];

impl World {
    /// Opens the device of this rank. The ranks of a machine take its devices in turn: rank `i` of them device `i` modulo their
    /// number, of those that are of the same kind as the best. On the host backend each has an emulator of its own.
    ///
    /// `backend` and `device` are as in [`Device::open_named`]: a device that is named, here or by a variable, is that of all ranks
    /// of a machine.
    ///
    /// # Errors
    /// As [`Device::open_named`].
    pub fn open_device(
        &self,
        backend: Option<&str>,
        device: Option<&str>,
    ) -> Result<Device, DeviceError> {
        if device.is_some() || self.size() == 1 {
            return Device::open_named(backend, device);
        }
        let variable = std::env::var("WARPHEAP_BACKEND").ok();
        let variable = variable.filter(|name| !name.trim().is_empty());
        let kinds = match backend.or(variable.as_deref()) {
            Some(name) => vec![backends::named(name)?],
            None => backends::ALL.to_vec(),
        };
        for kind in kinds
            .into_iter()
            .filter(|kind| backends::compiled_in(*kind))
        {
            if named_by_variable(kind) {
                break;
            }
            let Ok(found) = backends::devices(kind) else {
                continue;
            };
            let usable = found.iter().filter(|device| device.problem.is_none());
            let usable: Vec<_> = usable.map(|device| (device.index, &*device.kind)).collect();
            if let Some(index) = in_turn(&usable, self.local_rank()) {
                return Device::open_backend(kind, Some(&index.to_string()));
            }
        }
        // What a process that is alone would open, or the reasons why there is nothing.
        Device::open_named(backend, None)
    }
}

/// Whether a variable names the device of this backend.
fn named_by_variable(kind: BackendKind) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    VARIABLES.iter().any(|&(of, name)| of == kind && set(name))
}

/// The number of the device that rank `local` of a machine takes, of those that can be used, with what kind of device each is.
fn in_turn(usable: &[(usize, &str)], local: usize) -> Option<usize> {
    // A CPU that passes for a GPU is in the list behind the GPUs.
    let &(_, best) = usable.first()?;
    let alike: Vec<usize> = usable
        .iter()
        .filter(|(_, kind)| *kind == best)
        .map(|&(index, _)| index)
        .collect();
    Some(alike[local % alike.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_take_devices_of_one_kind_in_turn() {
        let usable = [(1, "GPU"), (3, "GPU"), (2, "CPU")];
        let taken: Vec<_> = (0..4).map(|local| in_turn(&usable, local)).collect();
        assert_eq!(taken, [Some(1), Some(3), Some(1), Some(3)]);
        assert_eq!(in_turn(&[], 0), None);
    }
}
