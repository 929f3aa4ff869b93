//! What a physical device can do, as far as it matters here, and whether that is enough.

use crate::cache;
use crate::family;
use crate::reconverge::Reconvergence;
use ash::{ext, khr, nv, vk};
use std::ffi::CStr;

/// What was found out about a physical device.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) name: String,
    pub(crate) driver: String,
    /// What a compiled pipeline is good for: this device with this driver.
    pub(crate) identity: [u8; 28],
    pub(crate) kind: vk::PhysicalDeviceType,
    pub(crate) api_version: u32,
    /// Lanes of a subgroup.
    pub(crate) warp_width: u32,
    pub(crate) max_block_dim: u32,
    /// Bytes that the lanes of a block can share.
    pub(crate) max_shared_bytes: u32,
    /// Workgroups that one dispatch may have along x and y.
    pub(crate) max_groups: [u32; 2],
    /// What bounds a buffer: bytes, and the name of the limit.
    pub(crate) buffer_limits: Vec<(u64, &'static str)>,
    /// Most bytes that a descriptor shows of a buffer. Kernels find larger ones by address.
    pub(crate) descriptor_bytes: u64,
    /// Size of the largest device-local heap.
    pub(crate) memory_bytes: u64,
    pub(crate) offset_align: u64,
    pub(crate) max_storage_buffers: u32,
    /// Nanoseconds of a timestamp's tick.
    pub(crate) tick_ns: f64,
    /// Bits of a timestamp; 0 if the queue has none.
    pub(crate) timestamp_bits: u32,
    pub(crate) queue_family: u32,
    /// Queues of that family.
    pub(crate) queue_count: u32,
    /// Full subgroups can be asked for.
    pub(crate) full_subgroups: bool,
    /// The subgroup size may vary and has to be pinned to `warp_width`.
    pub(crate) pin_width: bool,
    /// How lanes that parted come together again.
    pub(crate) reconvergence: Reconvergence,
    /// The driver tells what its compiler made of a kernel.
    pub(crate) tells_resources: bool,
    pub(crate) features: Features,
    /// Extensions that have to be enabled for what is said above.
    pub(crate) extensions: Vec<&'static CStr>,
    /// There is an instruction that tells which lanes have the same value.
    pub(crate) partitions: bool,
    /// Why the device cannot be used, if so.
    pub(crate) problem: Option<String>,
}

/// Features that are enabled where they exist.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    pub(crate) int64: bool,
    pub(crate) int16: bool,
    pub(crate) int8: bool,
    pub(crate) float64: bool,
    pub(crate) float16: bool,
    pub(crate) int64_atomics: bool,
    pub(crate) storage8: bool,
    pub(crate) storage16: bool,
    /// Buffers have addresses.
    pub(crate) addresses: bool,
    /// Semaphores that count. Vulkan 1.2 promises them; without them there are no streams.
    pub(crate) timeline: bool,
}

/// Subgroup operations that every kernel may use.
const OPERATIONS: vk::SubgroupFeatureFlags = vk::SubgroupFeatureFlags::from_raw(
    vk::SubgroupFeatureFlags::BASIC.as_raw()
        | vk::SubgroupFeatureFlags::VOTE.as_raw()
        | vk::SubgroupFeatureFlags::ARITHMETIC.as_raw()
        | vk::SubgroupFeatureFlags::BALLOT.as_raw()
        | vk::SubgroupFeatureFlags::SHUFFLE.as_raw(),
);

/// Most bytes of a buffer whose words kernels count with 32 bits.
const MOST_BY_ADDRESS: u64 = 4 * u32::MAX as u64;

/// Lanes that a lane mask of the device runtime can hold.
const MAX_WARP_WIDTH: u32 = 64;

impl Limits {
    /// Asks the driver. Never fails: what is missing becomes [`Limits::problem`].
    pub(crate) fn query(instance: &ash::Instance, device: vk::PhysicalDevice) -> Self {
        // Of this and the queries below: the handle came from this instance, which is alive; the
        // structures chained are those of the version or extension that the device reports.
        // SAFETY: as said.
        let basic = unsafe { instance.get_physical_device_properties(device) };
        let found = extensions_of(instance, device);
        let has = |name: &CStr| found.iter().any(|found| found.as_c_str() == name);
        let api = basic.api_version;
        let v1_2 = api >= vk::API_VERSION_1_2;
        let v1_3 = api >= vk::API_VERSION_1_3;
        let sized_by_extension = !v1_3 && has(ext::subgroup_size_control::NAME);
        let maintenance4_by_extension = !v1_3 && has(khr::maintenance4::NAME);

        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut buffers = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default();
        let mut f11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut f12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut fsizes = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
        let mut maximal = vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR::default();
        let has_maximal = has(khr::shader_maximal_reconvergence::NAME);
        let mut tells = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let has_tells = has(khr::pipeline_executable_properties::NAME);
        let mut features = vk::PhysicalDeviceFeatures2::default();
        if v1_2 {
            properties = properties.push_next(&mut v11).push_next(&mut v12);
            features = features.push_next(&mut f11).push_next(&mut f12);
        }
        if v1_3 || sized_by_extension {
            properties = properties.push_next(&mut sizes);
            features = features.push_next(&mut fsizes);
        }
        if v1_3 || maintenance4_by_extension {
            properties = properties.push_next(&mut buffers);
        }
        if has_maximal {
            features = features.push_next(&mut maximal);
        }
        if has_tells {
            features = features.push_next(&mut tells);
        }
        if api >= vk::API_VERSION_1_1 {
            // SAFETY: as above.
            unsafe { instance.get_physical_device_properties2(device, &mut properties) };
            // SAFETY: as above.
            unsafe { instance.get_physical_device_features2(device, &mut features) };
        }
        let core = features.features;
        let limits = basic.limits;

        let compute = vk::ShaderStageFlags::COMPUTE;
        let pin_width = fsizes.subgroup_size_control == vk::TRUE
            && sizes.min_subgroup_size < sizes.max_subgroup_size
            && sizes.required_subgroup_size_stages.contains(compute);
        let mut max_block_dim = limits
            .max_compute_work_group_invocations
            .min(limits.max_compute_work_group_size[0]);
        if pin_width {
            max_block_dim = max_block_dim.min(
                sizes
                    .max_compute_workgroup_subgroups
                    .saturating_mul(v11.subgroup_size),
            );
        }

        let descriptor_bytes = limits.max_storage_buffer_range as u64;
        let by_address = f12.buffer_device_address & core.shader_int64 == vk::TRUE;
        let mut buffer_limits = vec![match by_address {
            true => (MOST_BY_ADDRESS, "kernels count its words with 32 bits"),
            false => (descriptor_bytes, "maxStorageBufferRange"),
        }];
        // NVIDIA's driver has more than it promises.
        if v1_2 && v12.driver_id != vk::DriverId::NVIDIA_PROPRIETARY {
            buffer_limits.push((v11.max_memory_allocation_size, "maxMemoryAllocationSize"));
        }
        if v1_3 || maintenance4_by_extension {
            buffer_limits.push((buffers.max_buffer_size, "maxBufferSize"));
        }

        let queue = family::pick_queue(instance, device);
        let mut extensions = Vec::new();
        if sized_by_extension {
            extensions.push(ext::subgroup_size_control::NAME);
        }
        let reconvergence = if maximal.shader_maximal_reconvergence == vk::TRUE {
            extensions.push(khr::shader_maximal_reconvergence::NAME);
            Reconvergence::Asked
        } else if v12.driver_id == vk::DriverId::GOOGLE_SWIFTSHADER {
            Reconvergence::ByConstruction
        } else {
            Reconvergence::Unknown
        };
        let partitions = has(nv::shader_subgroup_partitioned::NAME)
            && v11
                .subgroup_supported_operations
                .contains(vk::SubgroupFeatureFlags::PARTITIONED_NV);
        if partitions {
            extensions.push(nv::shader_subgroup_partitioned::NAME);
        }
        let tells_resources = tells.pipeline_executable_info == vk::TRUE;
        if tells_resources {
            extensions.push(khr::pipeline_executable_properties::NAME);
        }
        if has(khr::portability_subset::NAME) {
            // A device that has it must have it enabled.
            extensions.push(khr::portability_subset::NAME);
        }

        let mut result = Limits {
            name: basic
                .device_name_as_c_str()
                .map_or_else(|_| "?".into(), |name| name.to_string_lossy().into_owned()),
            driver: driver_text(&v12, &basic),
            identity: cache::identity(&basic),
            kind: basic.device_type,
            api_version: api,
            warp_width: v11.subgroup_size,
            max_block_dim,
            max_shared_bytes: limits.max_compute_shared_memory_size,
            max_groups: [
                limits.max_compute_work_group_count[0],
                limits.max_compute_work_group_count[1],
            ],
            buffer_limits,
            descriptor_bytes,
            memory_bytes: memory_bytes(instance, device),
            offset_align: limits.min_storage_buffer_offset_alignment.max(4),
            max_storage_buffers: limits
                .max_per_stage_descriptor_storage_buffers
                .min(limits.max_descriptor_set_storage_buffers)
                .min(limits.max_per_stage_resources),
            tick_ns: limits.timestamp_period as f64,
            timestamp_bits: queue.map_or(0, |family| family.timestamp_bits),
            queue_family: queue.map_or(0, |family| family.index),
            queue_count: queue.map_or(0, |family| family.queues),
            full_subgroups: fsizes.compute_full_subgroups == vk::TRUE,
            pin_width,
            reconvergence,
            tells_resources,
            features: Features {
                int64: core.shader_int64 == vk::TRUE,
                int16: core.shader_int16 == vk::TRUE,
                int8: f12.shader_int8 == vk::TRUE,
                float64: core.shader_float64 == vk::TRUE,
                float16: f12.shader_float16 == vk::TRUE,
                int64_atomics: f12.shader_buffer_int64_atomics == vk::TRUE,
                storage8: f12.storage_buffer8_bit_access == vk::TRUE,
                storage16: f11.storage_buffer16_bit_access == vk::TRUE,
                addresses: f12.buffer_device_address == vk::TRUE,
                timeline: f12.timeline_semaphore == vk::TRUE,
            },
            extensions,
            partitions,
            problem: None,
        };
        result.problem = shortcoming(&Needs {
            api_version: api,
            memory_model: f12.vulkan_memory_model == vk::TRUE,
            device_scope: f12.vulkan_memory_model_device_scope == vk::TRUE,
            width: v11.subgroup_size,
            in_compute: v11.subgroup_supported_stages.contains(compute),
            operations: v11.subgroup_supported_operations,
            compute_queue: queue.is_some(),
        });
        result
    }

    /// The largest buffer in bytes, and the limit that says so.
    pub(crate) fn max_buffer(&self) -> (u64, &'static str) {
        let least = self.buffer_limits.iter().min_by_key(|limit| limit.0);
        least.copied().unwrap_or((0, "maxStorageBufferRange"))
    }

    /// Most workgroups of a launch. The kernel counts rows of workgroups, and the last row may
    /// reach beyond the grid: that must not overflow its 32-bit index.
    pub(crate) fn max_grid_dim(&self) -> u32 {
        let [x, y] = self.max_groups.map(u64::from);
        (x * y).min(u32::MAX as u64 - y.min(u16::MAX as u64)) as u32
    }
}

/// What decides whether a device can be used.
struct Needs {
    api_version: u32,
    memory_model: bool,
    device_scope: bool,
    width: u32,
    in_compute: bool,
    operations: vk::SubgroupFeatureFlags,
    compute_queue: bool,
}

fn shortcoming(has: &Needs) -> Option<String> {
    if has.api_version < vk::API_VERSION_1_2 {
        return Some(format!(
            "its driver offers Vulkan {}.{}, 1.2 is needed: update the driver",
            vk::api_version_major(has.api_version),
            vk::api_version_minor(has.api_version)
        ));
    }
    let mut missing = Vec::new();
    if !has.memory_model {
        missing.push("vulkanMemoryModel".to_string());
    }
    if !has.device_scope {
        missing.push("vulkanMemoryModelDeviceScope".to_string());
    }
    if !has.in_compute {
        missing.push("subgroup operations in compute".to_string());
    } else if !has.operations.contains(OPERATIONS) {
        missing.push(format!(
            "subgroup operations {:?}",
            OPERATIONS & !has.operations
        ));
    }
    if !has.compute_queue {
        missing.push("a compute queue".to_string());
    }
    if !missing.is_empty() {
        return Some(format!(
            "its driver lacks {}: update it or use another device",
            missing.join(", ")
        ));
    }
    if has.width == 0 || has.width > MAX_WARP_WIDTH {
        return Some(format!(
            "its subgroups have {} lanes, warpheap's lane masks hold 1 to {MAX_WARP_WIDTH}: use another device",
            has.width
        ));
    }
    None
}

fn driver_text(
    v12: &vk::PhysicalDeviceVulkan12Properties<'_>,
    basic: &vk::PhysicalDeviceProperties,
) -> String {
    let name = v12
        .driver_name_as_c_str()
        .map_or_else(|_| "".into(), CStr::to_string_lossy);
    let info = v12
        .driver_info_as_c_str()
        .map_or_else(|_| "".into(), CStr::to_string_lossy);
    let version = if info.is_empty() {
        format!("{:#x}", basic.driver_version)
    } else {
        info.into_owned()
    };
    format!("{name} {version}").trim().to_string()
}

fn extensions_of(instance: &ash::Instance, device: vk::PhysicalDevice) -> Vec<std::ffi::CString> {
    // SAFETY: as in `query`.
    let found = unsafe { instance.enumerate_device_extension_properties(device) };
    let name =
        |found: &vk::ExtensionProperties| found.extension_name_as_c_str().ok().map(CStr::to_owned);
    found.unwrap_or_default().iter().filter_map(name).collect()
}

fn memory_bytes(instance: &ash::Instance, device: vk::PhysicalDevice) -> u64 {
    // SAFETY: as in `query`.
    let memory = unsafe { instance.get_physical_device_memory_properties(device) };
    let heaps = memory.memory_heaps_as_slice().iter();
    let local = heaps.filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    local.map(|heap| heap.size).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
