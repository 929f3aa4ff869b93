//! How kernels see their arguments: one layout for each number of buffers.

use crate::gpu::Gpu;
use crate::module::Entry;
use ash::vk;
use std::collections::HashMap;
use std::sync::Arc;
use warpheap_api::abi::ARG_WORDS;
use warpheap_api::host::DeviceError;

/// How kernels with a number of bindings see their arguments.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) set: vk::DescriptorSetLayout,
    pub(crate) pipeline: vk::PipelineLayout,
}

/// The layouts of a device.
pub(crate) struct Layouts {
    made: HashMap<u32, Layout>,
    gpu: Arc<Gpu>,
}

impl Layouts {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Self {
        Layouts {
            made: HashMap::new(),
            gpu: gpu.clone(),
        }
    }

    /// The layout of kernels with so many bindings, made when it is first asked for.
    pub(crate) fn of(&mut self, bindings: u32, entry: &str) -> Result<Layout, DeviceError> {
        if let Some(&layout) = self.made.get(&bindings) {
            return Ok(layout);
        }
        let most = self.gpu.limits.max_storage_buffers;
        if bindings > most {
            return Err(bad(
                entry,
                format!(
                    "it takes {bindings} buffers with its report, the device allows {most}: put several into one, or \
                         use another device"
                ),
            ));
        }
        let compute = vk::ShaderStageFlags::COMPUTE;
        let slots: Vec<_> = (0..bindings)
            .map(|binding| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(compute)
            })
            .collect();
        let device = &self.gpu.device;
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&slots);
        // SAFETY: the device is alive, `slots` outlives the call.
        let set = unsafe { device.create_descriptor_set_layout(&info, None) };
        let set = self.gpu.check("vkCreateDescriptorSetLayout", set)?;
        let sets = [set];
        let push = [vk::PushConstantRange::default()
            .stage_flags(compute)
            .size(ARG_WORDS as u32 * 4)];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&sets)
            .push_constant_ranges(&push);
        // SAFETY: as above; every device has 128 bytes of push constants.
        let pipeline = unsafe { device.create_pipeline_layout(&info, None) };
        let pipeline = pipeline.inspect_err(|_| {
            // SAFETY: made above, used by nothing.
            unsafe { device.destroy_descriptor_set_layout(set, None) }
        });
        let pipeline = self.gpu.check("vkCreatePipelineLayout", pipeline)?;
        let layout = Layout { set, pipeline };
        self.made.insert(bindings, layout);
        Ok(layout)
    }
}

impl Drop for Layouts {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        for layout in self.made.values() {
            // SAFETY: made from this device, destroyed once; nothing runs (the backend leaks itself otherwise).
            unsafe {
                device.destroy_pipeline_layout(layout.pipeline, None);
                device.destroy_descriptor_set_layout(layout.set, None);
            }
        }
    }
}

/// Whether a launch with so many bindings can be of this kernel.
pub(crate) fn check_bindings(entry: &Entry, bindings: u32) -> Result<(), DeviceError> {
    if entry.other_sets {
        return Err(bad(
            &entry.name,
            "it declares buffers outside descriptor set 0: compile it by `warpheap_build`"
                .to_string(),
        ));
    }
    if entry.bindings > bindings {
        return Err(bad(
            &entry.name,
            format!(
                "it uses {} buffers, the launch brings {bindings} with its report: the arguments are \
                 not those of this kernel; build the device crate again",
                entry.bindings
            ),
        ));
    }
    Ok(())
}

/// A kernel that cannot be launched, and why.
pub(crate) fn bad(kernel: &str, why: String) -> DeviceError {
    DeviceError::BadLaunch {
        kernel: kernel.to_string(),
        why,
    }
}
