//! A kernel becomes a pipeline: its words are changed into what the driver computes right, and the driver compiles them.

use crate::addressed::{Addressed, by_address};
use crate::cache::Place;
use crate::error::describe;
use crate::gpu::Gpu;
use crate::isolate::isolate;
use crate::layout::{Layout, bad};
use crate::loops::branch_once;
use crate::module::{Entry, Module};
use crate::partition::partitioned;
use crate::reconverge::{COMPANY, Reconvergence};
use ash::vk;
use std::ffi::CString;
use std::sync::Arc;
use warpheap_api::host::DeviceError;

/// What the driver's compiler is asked for.
pub(crate) struct Wanted {
    pub(crate) module: Arc<Module>,
    /// One of the module's.
    pub(crate) entry: Entry,
    pub(crate) block_dim: u32,
    pub(crate) layout: Layout,
    /// Buffers that it finds by address.
    pub(crate) addressed: Addressed,
    /// The driver shall be able to tell what it made.
    pub(crate) tells: bool,
}

/// A pipeline on disk, and the driver's view of it.
struct Kept {
    place: Place,
    cache: vk::PipelineCache,
    /// Bytes that were there.
    bytes: usize,
}

impl Gpu {
    /// Compiles a kernel. It may take many seconds, so no lock is held meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] if the kernel cannot be launched so, [`DeviceError::Driver`] if the driver refuses it.
    pub(crate) fn compile(&self, wanted: &Wanted) -> Result<vk::Pipeline, DeviceError> {
        let (entry, block_dim) = (&wanted.entry, wanted.block_dim);
        let words = isolate(&wanted.module, entry, block_dim).ok_or_else(|| {
            bad(
                &entry.name,
                "its SPIR-V states no LocalSize: compile it by `warpheap_build`".to_string(),
            )
        })?;
        let words = branch_once(words);
        let wide = self.limits.features.int64;
        let words = by_address(words, &wanted.addressed, wide).ok_or_else(|| {
            bad(
                &entry.name,
                format!(
                    "an argument is larger than the {} bytes that a descriptor shows, and the kernel uses it in a way \
                     that addresses do not allow: take a smaller pool or vector",
                    self.limits.descriptor_bytes
                ),
            )
        })?;
        let words = match self.limits.partitions {
            true => partitioned(words),
            false => words,
        };
        let words =
            self.limits.reconvergence.of(words).map_err(|what| {
                bad(&entry.name, format!("its SPIR-V is not understood: {what}"))
            })?;
        let words = &self.left_out.from(words);
        let device = &self.device;
        let name = CString::new(entry.name.as_str()).map_err(|_| {
            bad(
                &entry.name,
                "its name holds a zero byte: compile it by `warpheap_build`".to_string(),
            )
        })?;
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: words of a module that was read to its end; its capabilities are enabled. That the
        // code in it is valid is the promise of whoever made the image.
        let shader = unsafe { device.create_shader_module(&info, None) };
        let shader = self.check("vkCreateShaderModule", shader)?;
        // SAFETY: just made.
        unsafe { self.name_new(shader, &entry.name) };

        let limits = &self.limits;
        let mut width = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
            .required_subgroup_size(limits.warp_width);
        let company = u32::from(limits.reconvergence != Reconvergence::Unknown).to_ne_bytes();
        let constants = [vk::SpecializationMapEntry::default()
            .constant_id(COMPANY)
            .size(company.len())];
        let constants = vk::SpecializationInfo::default()
            .map_entries(&constants)
            .data(&company);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .specialization_info(&constants)
            .name(&name);
        if limits.full_subgroups && block_dim % limits.warp_width == 0 {
            // Then lane i of a subgroup is thread i of its stretch of the block.
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        }
        if limits.pin_width {
            stage = stage.push_next(&mut width);
        }
        let flags = match wanted.tells {
            true => vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR,
            false => vk::PipelineCreateFlags::empty(),
        };
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(flags)
            .layout(wanted.layout.pipeline)
            .stage(stage);
        let asked = [
            entry.name.as_bytes(),
            &limits.warp_width.to_le_bytes(),
            &[limits.pin_width.into(), stage.flags.as_raw() as u8],
            &company,
        ];
        // What was kept need not have what the driver is to tell.
        let kept = match wanted.tells {
            true => None,
            false => self.kept(words, &asked),
        };
        let cache = kept.as_ref().map_or(vk::PipelineCache::null(), |k| k.cache);
        // SAFETY: layout, module and name are valid for the call; the layout has every binding that
        // the entry declares, and its push constants are a whole argument block.
        let made = unsafe { device.create_compute_pipelines(cache, &[info], None) };
        // SAFETY: made above; a pipeline does not need its module any more.
        unsafe { device.destroy_shader_module(shader, None) };
        if let Some(kept) = kept {
            self.keep(kept, made.is_ok());
        }
        match made {
            Ok(pipelines) => {
                let pipeline = pipelines.first().copied().unwrap_or_default();
                // SAFETY: just made.
                unsafe { self.name_new(pipeline, &entry.name) };
                Ok(pipeline)
            }
            Err((_, error)) => Err(DeviceError::Driver {
                device: limits.name.clone(),
                call: "vkCreateComputePipelines",
                what: format!(
                    "`{}` with {block_dim} lanes a block: {}; take fewer lanes a block, or another driver",
                    entry.name,
                    describe(error)
                ),
            }),
        }
    }

    /// What is kept on disk of the pipeline of these words that was asked for like this.
    fn kept(&self, words: &[u32], asked: &[&[u8]]) -> Option<Kept> {
        let place = self.cache.as_ref()?.place(words, asked);
        let data = place.read();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        // SAFETY: the device is alive; the data are as this driver gave them, as its sum says.
        let cache = unsafe { self.device.create_pipeline_cache(&info, None) }.ok()?;
        Some(Kept {
            place,
            cache,
            bytes: data.len(),
        })
    }

    /// Keeps what the driver learned, if it made the pipeline.
    fn keep(&self, kept: Kept, made: bool) {
        let device = &self.device;
        // SAFETY: made from this device, and no pipeline is being made with it.
        let data = unsafe { device.get_pipeline_cache_data(kept.cache) };
        // SAFETY: as above; pipelines do not need the cache they were made with.
        unsafe { device.destroy_pipeline_cache(kept.cache, None) };
        if let (Ok(data), true) = (data, made)
            && data.len() != kept.bytes
        {
            kept.place.write(&data);
        }
    }
}
