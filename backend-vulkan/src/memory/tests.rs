//! Names of buffers, as the validation layer reads them back.

use super::*;
use crate::error::driver_error;
use crate::{VulkanBackend, VulkanConfig, open_unchecked};
use std::any::Any;
use warpheap_api::host::{Device, DeviceVec, LaunchConfig, Pool};
use warpheap_rt::device::Bump;

/// A device under the layer; `None`, said loudly, if one of them is missing and neither is required.
pub(crate) fn validated() -> Option<Device> {
    let config = VulkanConfig {
        validation: true,
        ..VulkanConfig::from_env().expect("the variables make sense")
    };
    match open_unchecked(&config) {
        Ok(device) => Some(device),
        Err(error) => {
            let required = std::env::var("WARPHEAP_REQUIRE_VULKAN").as_deref() == Ok("1");
            let lacks_layer = error.to_string().contains("vulkan-validationlayers");
            assert!(
                !required || lacks_layer,
                "WARPHEAP_REQUIRE_VULKAN=1: {error}"
            );
            eprintln!("SKIPPED, nothing was validated: {error}");
            None
        }
    }
}

/// The backend of a device.
pub(crate) fn backend(device: &Device) -> &VulkanBackend {
    let backend: &dyn Any = &**device.backend();
    backend.downcast_ref().unwrap()
}

/// What the layer says when a buffer is bound to memory that has some.
fn complaint(device: &Device, buffer: BufferId) -> String {
    let called = backend(device).call(|state| {
        let memory = &state.memory;
        let Owned {
            buffer, allocation, ..
        } = &memory.buffers[&buffer.0];
        // SAFETY: no memory changes its place; that this is refused is what is tested.
        let bound = unsafe {
            let device = &memory.gpu.device;
            device.bind_buffer_memory(buffer.raw, allocation.memory(), allocation.offset())
        };
        bound.map_err(|error| driver_error(&memory.gpu.limits.name, "binding again", error))
    });
    called.unwrap_err().to_string()
}

#[test]
fn what_is_said_of_a_buffer_has_its_name() {
    let Some(device) = validated() else { return };
    let pool: Pool<Bump> = device.reserve(3 << 20).unwrap();
    let mut grown: Pool<Bump> = device.reserve_growing(1 << 20, 8 << 20).unwrap();
    let sums = DeviceVec::<u32>::zeroed(&device, 64).unwrap();
    let unused = device.alloc(1 << 20).unwrap();
    let kernels = warpheap_kernels::load(&device).unwrap();
    let shape = LaunchConfig::for_num_elems(64);
    kernels.selftest_vectors(&pool, shape, &sums).unwrap();
    kernels.selftest_vectors(&grown, shape, &sums).unwrap();
    grown.grow_to(5 << 20).unwrap();
    kernels.selftest_vectors(&grown, shape, &sums).unwrap();
    let buffers = [
        (pool.raw().buffer.id(), "warpheap pool Bump 3 MiB"),
        (grown.raw().buffer.id(), "warpheap pool Bump 5 MiB"),
        (sums.arg().binding().unwrap().0, "warpheap vector 256 B"),
        (unused.id(), "warpheap buffer 1 MiB"),
    ];
    for (buffer, name) in buffers {
        let said = complaint(&device, buffer);
        assert!(
            said.contains("vkBindBufferMemory") && said.contains(name),
            "{said}"
        );
    }
}
