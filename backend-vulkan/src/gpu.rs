//! The logical device and its queues.

use crate::cache::Cache;
use crate::config::{ENV_DESCRIPTORS, ENV_TIMEOUT, VulkanConfig};
use crate::error::{describe, driver_error, no_device};
use crate::fences::LeftOut;
use crate::instance::Instance;
use crate::labels::Labels;
use crate::limits::Limits;
use crate::line::Line;
use crate::reconverge::Reconvergence;
use crate::select::Candidate;
use ash::vk;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use warpheap_api::host::DeviceError;

/// Most queues: two of synchronous calls, and those that streams share.
const QUEUES: u32 = 8;

/// An opened device. Everything made from it holds it by an `Arc`, so it ends last.
pub(crate) struct Gpu {
    pub(crate) device: ash::Device,
    /// The queue of launches that are waited for.
    pub(crate) line: Arc<Line>,
    /// That of copies that are waited for: another one if one is left for streams too, so that they do not wait for launches.
    pub(crate) copy_line: Arc<Line>,
    /// Those of streams, one at least: others than those, where there are some.
    pub(crate) stream_lines: Vec<Arc<Line>>,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) limits: Limits,
    /// How long one command buffer may take.
    pub(crate) timeout: Duration,
    /// Fences that kernels lose.
    pub(crate) left_out: LeftOut,
    /// What gives objects names, if somebody may look.
    labels: Option<Labels>,
    /// Where compiled kernels are kept.
    pub(crate) cache: Option<Cache>,
    // After the device: fields drop in this order.
    pub(crate) instance: Arc<Instance>,
}

impl Gpu {
    /// Opens a device whose [`Limits`] name no problem.
    pub(crate) fn open(
        instance: &Arc<Instance>,
        candidate: &Candidate,
        config: &VulkanConfig,
    ) -> Result<Self, DeviceError> {
        let mut limits = candidate.limits.clone();
        if config.lanes_alone {
            limits.reconvergence = Reconvergence::Unknown;
        }
        if let Some(bytes) = config.descriptor_bytes {
            limits.descriptor_bytes = limits.descriptor_bytes.min(bytes);
            if !limits.features.addresses {
                return Err(no_device(format!(
                    "{} has no addresses of buffers: leave {ENV_DESCRIPTORS} unset",
                    limits.name
                )));
            }
        }
        let device = make_device(instance, candidate.physical, &limits).map_err(|error| {
            no_device(format!(
                "{} does not open: vkCreateDevice: {}",
                limits.name,
                describe(error)
            ))
        })?;
        // SAFETY: of this instance; it ends when `Gpu` is dropped.
        let labels = unsafe { instance.labels(&device) };
        let line = |index, what| {
            // SAFETY: as many queues of this family were asked for when the device was made.
            let queue = unsafe { device.get_device_queue(limits.queue_family, index) };
            if let Some(labels) = &labels {
                // SAFETY: nobody else has it yet.
                unsafe { labels.name(queue, what) };
            }
            Arc::new(Line::new(queue))
        };
        let first = line(0, "warpheap launches");
        let mut others = 1..queues(&limits);
        let copies = match others.len() {
            0 | 1 => None,
            _ => others.next(),
        };
        let copy_line = copies.map(|index| line(index, "warpheap copies"));
        let copy_line = copy_line.unwrap_or_else(|| first.clone());
        let streams = others.map(|index| line(index, "warpheap streams"));
        let mut stream_lines: Vec<_> = streams.collect();
        if stream_lines.is_empty() {
            stream_lines.push(first.clone());
        }
        let identity = || limits.identity.to_vec();
        let cache = config.cache.as_deref();
        Ok(Gpu {
            cache: cache.map(|folder| Cache::new(folder, identity())),
            line: first,
            copy_line,
            stream_lines,
            device,
            physical: candidate.physical,
            limits,
            timeout: config.timeout,
            left_out: LeftOut::of(config),
            labels,
            instance: instance.clone(),
        })
    }

    /// What gives objects names, if somebody may look.
    #[inline]
    pub(crate) fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    /// Names an object, if somebody may look.
    ///
    /// # Safety
    /// It was just made from the device, so that nobody else has its handle.
    pub(crate) unsafe fn name_new<H: vk::Handle>(&self, object: H, name: &str) {
        if let Some(labels) = &self.labels {
            // SAFETY: the caller's promise.
            unsafe { labels.name(object, name) };
        }
    }

    /// Turns the result of a driver call into ours.
    pub(crate) fn check<T>(
        &self,
        call: &'static str,
        result: Result<T, vk::Result>,
    ) -> Result<T, DeviceError> {
        result.map_err(|error| driver_error(&self.limits.name, call, error))
    }

    /// The loss of a device that has not answered for so long.
    pub(crate) fn no_answer(&self, during: String, waited: Duration) -> DeviceError {
        DeviceError::Lost {
            device: self.limits.name.clone(),
            during,
            what: format!(
                "no answer in {:.1} s: a kernel hangs or needs longer ({ENV_TIMEOUT} sets the limit)",
                waited.as_secs_f64()
            ),
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        let _alone = alone();
        // SAFETY: what was made from the device holds it alive through an `Arc`, so nothing is
        // left and nothing runs on it; destroyed once, before its instance.
        unsafe { self.device.destroy_device(None) }
    }
}

/// Devices are made and destroyed one at a time: where threads of a process do so at once, NVIDIA's driver (580) may never come back
/// from one of these calls, and keeps all others waiting in the kernel.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many queues are asked for.
fn queues(limits: &Limits) -> u32 {
    match limits.features.timeline {
        true => limits.queue_count.clamp(1, QUEUES),
        false => 1,
    }
}

fn make_device(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    limits: &Limits,
) -> Result<ash::Device, vk::Result> {
    let has = limits.features;
    let mut v11 =
        vk::PhysicalDeviceVulkan11Features::default().storage_buffer16_bit_access(has.storage16);
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
        .vulkan_memory_model(true)
        .vulkan_memory_model_device_scope(true)
        .shader_int8(has.int8)
        .shader_float16(has.float16)
        .shader_buffer_int64_atomics(has.int64_atomics)
        .storage_buffer8_bit_access(has.storage8)
        .buffer_device_address(has.addresses)
        .timeline_semaphore(has.timeline);
    let mut sizes = vk::PhysicalDeviceSubgroupSizeControlFeatures::default()
        .subgroup_size_control(limits.pin_width)
        .compute_full_subgroups(limits.full_subgroups);
    // Buffers are bound with their exact ranges and kernels check their indices: robust access,
    // which would cost a comparison at every access, stays off.
    let core = vk::PhysicalDeviceFeatures::default()
        .shader_int64(has.int64)
        .shader_int16(has.int16)
        .shader_float64(has.float64);
    let priorities = vec![1.0; queues(limits) as usize];
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(limits.queue_family)
        .queue_priorities(&priorities)];
    let names: Vec<_> = limits.extensions.iter().map(|name| name.as_ptr()).collect();
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .enabled_features(&core)
        .push_next(&mut v11)
        .push_next(&mut v12);
    if limits.pin_width || limits.full_subgroups {
        info = info.push_next(&mut sizes);
    }
    let mut maximal = vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR::default()
        .shader_maximal_reconvergence(true);
    if limits.reconvergence == Reconvergence::Asked {
        info = info.push_next(&mut maximal);
    }
    let mut tells = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
        .pipeline_executable_info(true);
    if limits.tells_resources {
        info = info.push_next(&mut tells);
    }
    let _alone = alone();
    // SAFETY: the handle came from this instance; every pointer in `info` outlives the call; each
    // feature and extension was reported by the device.
    unsafe { instance.raw.create_device(physical, &info, None) }
}
