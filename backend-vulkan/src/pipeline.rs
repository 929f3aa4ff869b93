//! Modules, and the pipelines made of them: one per entry and block size.

use crate::addressed::{Addressed, by_address};
use crate::cache::Place;
use crate::error::describe;
use crate::gpu::Gpu;
use crate::isolate::isolate;
use crate::layout::{Layout, Layouts, bad, check_bindings};
use crate::loops::branch_once;
use crate::memory::fresh_id;
use crate::module::{Entry, Module};
use crate::reconverge::{COMPANY, Reconvergence};
use crate::resources;
use ash::vk;
use spirv::Capability;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;
use std::time::{Duration, Instant};
use warpheap_api::host::{DeviceError, KernelImage, KernelResources, Launch, ModuleId};

const FORMAT: &str = "SPIR-V";

/// Lanes of a block of kernels that are not launched but asked about: those of `LaunchConfig::for_num_elems`.
const USUAL_BLOCK: u32 = 256;

/// A pipeline that is ready to be bound.
#[derive(Clone, Copy)]
pub(crate) struct Built {
    pub(crate) pipeline: vk::Pipeline,
    pub(crate) layout: Layout,
}

/// What a pipeline is made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    module: u64,
    entry: &'static str,
    block_dim: u32,
    bindings: u32,
    addressed: Addressed,
}

/// What the driver's compiler is asked for.
struct Order<'a> {
    module: ModuleId,
    module_name: &'a str,
    entry: &'a str,
    block_dim: u32,
    /// Buffers that it finds by address.
    addressed: Addressed,
    /// The driver shall be able to tell what it made.
    tells: bool,
}

/// A pipeline on disk, and the driver's view of it.
struct Kept {
    place: Place,
    cache: vk::PipelineCache,
    /// Bytes that were there.
    bytes: usize,
}

/// All modules and pipelines of a device.
pub(crate) struct Pipelines {
    modules: HashMap<u64, Module>,
    layouts: Layouts,
    built: HashMap<Key, vk::Pipeline>,
    /// How long all of them took.
    pub(crate) load_time: Duration,
    gpu: Arc<Gpu>,
}

impl Pipelines {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Self {
        Pipelines {
            modules: HashMap::new(),
            layouts: Layouts::new(gpu),
            built: HashMap::new(),
            load_time: Duration::ZERO,
            gpu: gpu.clone(),
        }
    }

    /// Loads the SPIR-V of an image; the same words get the same id.
    pub(crate) fn load(&mut self, image: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        let Some(bytes) = image.spirv else {
            return Err(DeviceError::NoImage {
                module: image.name.to_string(),
                format: FORMAT,
                feature: "vulkan",
            });
        };
        let damaged = |what| DeviceError::Driver {
            device: self.gpu.limits.name.clone(),
            call: "loading a module",
            what: format!("the SPIR-V of `{}` cannot be used: {what}", image.name),
        };
        let started = Instant::now();
        let again = |what| {
            damaged(format!(
                "{what}; build the device crate again, by `warpheap_build`"
            ))
        };
        let module = Module::parse(bytes).map_err(again)?;
        let missing = module.missing_capabilities(|capability| self.has(capability));
        if !missing.is_empty() {
            return Err(damaged(format!(
                "it needs {}, which the device does not have: use another device, or keep the kernel from Vulkan",
                missing.join(", ")
            )));
        }
        let same = |(_, other): &(&u64, &Module)| other.words == module.words;
        if let Some((id, _)) = self.modules.iter().find(same) {
            return Ok(ModuleId(*id));
        }
        let id = fresh_id();
        self.modules.insert(id, module);
        self.load_time += started.elapsed();
        Ok(ModuleId(id))
    }

    /// The pipeline of a launch with `buffers` buffers besides the report, of which the kernel finds some by address.
    pub(crate) fn get(
        &mut self,
        launch: &Launch<'_>,
        buffers: u32,
        addressed: Addressed,
    ) -> Result<Built, DeviceError> {
        let bindings = buffers + 1;
        let key = Key {
            module: launch.module.0,
            entry: launch.entry,
            block_dim: launch.config.block_dim,
            bindings,
            addressed,
        };
        let layout = self.layouts.of(bindings, launch.entry)?;
        if let Some(&pipeline) = self.built.get(&key) {
            return Ok(Built { pipeline, layout });
        }
        let started = Instant::now();
        let order = Order {
            module: launch.module,
            module_name: launch.module_name,
            entry: launch.entry,
            block_dim: launch.config.block_dim,
            addressed,
            tells: false,
        };
        let entry = self.find(&order)?;
        check_bindings(entry, bindings)?;
        let pipeline = self.compile(&order, entry, layout)?;
        self.load_time += started.elapsed();
        self.built.insert(key, pipeline);
        Ok(Built { pipeline, layout })
    }

    /// What the driver's compiler makes of a kernel, which it compiles once more for that; `None` if it does not tell.
    pub(crate) fn resources(
        &mut self,
        module: ModuleId,
        entry: &str,
    ) -> Result<Option<KernelResources>, DeviceError> {
        if !self.gpu.limits.tells_resources {
            return Ok(None);
        }
        let order = Order {
            module,
            module_name: entry,
            entry,
            block_dim: USUAL_BLOCK.min(self.gpu.limits.max_block_dim),
            addressed: Addressed::default(),
            tells: true,
        };
        let layout = self.layouts.of(self.find(&order)?.bindings.max(1), entry)?;
        let pipeline = self.compile(&order, self.find(&order)?, layout)?;
        let told = resources::of(&self.gpu, pipeline);
        // SAFETY: made above, never bound.
        unsafe { self.gpu.device.destroy_pipeline(pipeline, None) };
        told
    }

    /// The entry that an order names.
    fn find(&self, order: &Order<'_>) -> Result<&Entry, DeviceError> {
        let module = self.module(order)?;
        let mismatch = || DeviceError::LayoutMismatch {
            module: order.module_name.to_string(),
            format: FORMAT,
            entry: order.entry.to_string(),
            why: module.why_missing(order.entry),
        };
        module.entry(order.entry).ok_or_else(mismatch)
    }

    fn module(&self, order: &Order<'_>) -> Result<&Module, DeviceError> {
        let module = self.modules.get(&order.module.0);
        module.ok_or_else(|| {
            bad(
                order.entry,
                format!(
                    "the module `{}` is not loaded on this device",
                    order.module_name
                ),
            )
        })
    }

    fn compile(
        &self,
        order: &Order<'_>,
        entry: &Entry,
        layout: Layout,
    ) -> Result<vk::Pipeline, DeviceError> {
        let block_dim = order.block_dim;
        let words = isolate(self.module(order)?, entry, block_dim).ok_or_else(|| {
            bad(
                &entry.name,
                "its SPIR-V states no LocalSize: compile it by `warpheap_build`".to_string(),
            )
        })?;
        let words = branch_once(words);
        let wide = self.gpu.limits.features.int64;
        let words = by_address(words, &order.addressed, wide).ok_or_else(|| {
            bad(
                &entry.name,
                format!(
                    "an argument is larger than the {} bytes that a descriptor shows, and the kernel uses it in a way \
                     that addresses do not allow: take a smaller pool or vector",
                    self.gpu.limits.descriptor_bytes
                ),
            )
        })?;
        let words = self.gpu.limits.reconvergence.of(words);
        let words = &self.gpu.left_out.from(words);
        let device = &self.gpu.device;
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
        let shader = self.gpu.check("vkCreateShaderModule", shader)?;
        // SAFETY: just made.
        unsafe { self.gpu.name_new(shader, &entry.name) };

        let limits = &self.gpu.limits;
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
        let flags = match order.tells {
            true => vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR,
            false => vk::PipelineCreateFlags::empty(),
        };
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(flags)
            .layout(layout.pipeline)
            .stage(stage);
        let asked = [
            entry.name.as_bytes(),
            &limits.warp_width.to_le_bytes(),
            &[limits.pin_width.into(), stage.flags.as_raw() as u8],
            &company,
        ];
        // What was kept need not have what the driver is to tell.
        let kept = match order.tells {
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
                unsafe { self.gpu.name_new(pipeline, &entry.name) };
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
        let place = self.gpu.cache.as_ref()?.place(words, asked);
        let data = place.read();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        // SAFETY: the device is alive; the data are as this driver gave them, as its sum says.
        let cache = unsafe { self.gpu.device.create_pipeline_cache(&info, None) }.ok()?;
        Some(Kept {
            place,
            cache,
            bytes: data.len(),
        })
    }

    /// Keeps what the driver learned, if it made the pipeline.
    fn keep(&self, kept: Kept, made: bool) {
        let device = &self.gpu.device;
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

    /// Whether a capability is enabled; `None` for those that this backend does not know.
    fn has(&self, capability: Capability) -> Option<bool> {
        let features = self.gpu.limits.features;
        Some(match capability {
            Capability::Int64 => features.int64,
            Capability::Int16 => features.int16,
            Capability::Int8 => features.int8,
            Capability::Float64 => features.float64,
            Capability::Float16 => features.float16,
            Capability::Int64Atomics => features.int64_atomics,
            Capability::StorageBuffer8BitAccess => features.storage8,
            Capability::StorageBuffer16BitAccess => features.storage16,
            Capability::PhysicalStorageBufferAddresses
            | Capability::VariablePointers
            | Capability::VariablePointersStorageBuffer => false,
            _ => return None,
        })
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: made from this device, destroyed once; nothing runs (the backend leaks itself
        // otherwise).
        unsafe {
            for &pipeline in self.built.values() {
                device.destroy_pipeline(pipeline, None);
            }
        }
    }
}
