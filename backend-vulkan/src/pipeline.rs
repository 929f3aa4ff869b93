//! Modules, and the pipelines made of them: one per entry and block size.
//!
//! The driver's compiler takes up to many seconds for a kernel. So this does not compile: it says what is [missing](Missing), the
//! call compiles that while other threads go on, and [adds](Pipelines::add) it.

use crate::addressed::Addressed;
use crate::compile::Wanted;
use crate::gpu::Gpu;
use crate::layout::{Layout, Layouts, bad, check_bindings};
use crate::memory::fresh_id;
use crate::module::{Entry, Module};
use ash::vk;
use spirv::Capability;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use warpheap_api::host::{DeviceError, KernelImage, Launch, ModuleId};

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

/// Why a call cannot go on.
pub(crate) enum Unready {
    /// This pipeline has to be compiled first.
    Missing(Box<Missing>),
    /// Something is wrong.
    Failed(DeviceError),
}

impl From<DeviceError> for Unready {
    fn from(error: DeviceError) -> Self {
        Unready::Failed(error)
    }
}

/// A pipeline that is not there yet.
pub(crate) struct Missing {
    key: Key,
    pub(crate) wanted: Wanted,
    /// Who compiles it has this. Others that need it wait for that.
    pub(crate) turn: Arc<Mutex<()>>,
}

/// All modules and pipelines of a device.
pub(crate) struct Pipelines {
    modules: HashMap<u64, Arc<Module>>,
    layouts: Layouts,
    built: HashMap<Key, vk::Pipeline>,
    /// Those of pipelines that are missing.
    turns: HashMap<Key, Arc<Mutex<()>>>,
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
            turns: HashMap::new(),
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
        let same = |(_, other): &(&u64, &Arc<Module>)| other.words == module.words;
        if let Some((id, _)) = self.modules.iter().find(same) {
            return Ok(ModuleId(*id));
        }
        let id = fresh_id();
        self.modules.insert(id, Arc::new(module));
        self.load_time += started.elapsed();
        Ok(ModuleId(id))
    }

    /// The pipeline of a launch with `buffers` buffers besides the report, of which the kernel finds some by address.
    pub(crate) fn get(
        &mut self,
        launch: &Launch<'_>,
        buffers: u32,
        addressed: Addressed,
    ) -> Result<Built, Unready> {
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
        let (module, entry) = self.find(launch.module, launch.module_name, launch.entry)?;
        check_bindings(&entry, bindings)?;
        Err(Unready::Missing(Box::new(Missing {
            key,
            wanted: Wanted {
                module,
                entry,
                block_dim: key.block_dim,
                layout,
                addressed,
                tells: false,
            },
            turn: self.turns.entry(key).or_default().clone(),
        })))
    }

    /// Whether a pipeline that was missing is there now.
    pub(crate) fn is_there(&self, missing: &Missing) -> bool {
        self.built.contains_key(&missing.key)
    }

    /// Adds a pipeline that was missing, by who has its turn, or notes that it could not be made.
    pub(crate) fn add(
        &mut self,
        missing: &Missing,
        made: Result<vk::Pipeline, DeviceError>,
        took: Duration,
    ) -> Result<(), DeviceError> {
        self.turns.remove(&missing.key);
        self.built.insert(missing.key, made?);
        self.load_time += took;
        Ok(())
    }

    /// How to compile a kernel so that the driver tells what it makes of it; `None` if it does not tell.
    pub(crate) fn asked(
        &mut self,
        module: ModuleId,
        name: &str,
    ) -> Result<Option<Wanted>, DeviceError> {
        if !self.gpu.limits.tells_resources {
            return Ok(None);
        }
        let (module, entry) = self.find(module, name, name)?;
        Ok(Some(Wanted {
            layout: self.layouts.of(entry.bindings.max(1), name)?,
            module,
            entry,
            block_dim: USUAL_BLOCK.min(self.gpu.limits.max_block_dim),
            addressed: Addressed::default(),
            tells: true,
        }))
    }

    /// An entry, and the module that has it.
    fn find(
        &self,
        module: ModuleId,
        module_name: &str,
        name: &str,
    ) -> Result<(Arc<Module>, Entry), DeviceError> {
        let module = self.modules.get(&module.0).ok_or_else(|| {
            let why = format!("the module `{module_name}` is not loaded on this device");
            bad(name, why)
        })?;
        let mismatch = || DeviceError::LayoutMismatch {
            module: module_name.to_string(),
            format: FORMAT,
            entry: name.to_string(),
            why: module.why_missing(name),
        };
        let entry = module.entry(name).ok_or_else(mismatch)?;
        Ok((module.clone(), entry.clone()))
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
