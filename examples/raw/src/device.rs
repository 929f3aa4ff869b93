//! The GPU with the kernels loaded.

use crate::arguments::Arguments;
use crate::{Outcome, heap::Argument};
use cust::CudaApiVersion;
use cust::context::Context;
use cust::device::{Device as Gpu, DeviceAttribute};
use cust::function::Function;
use cust::module::{Module, ModuleJitOption, Symbol};
use cust::stream::{Stream, StreamFlags};
use std::fs;
use warpheap_raw::host::ptx;

/// Lanes of a block.
pub const BLOCK: u32 = 256;

/// A GPU.
pub struct Device {
    /// The module with the kernels.
    module: Module,
    /// Where they are queued, in order with copies of the host.
    pub stream: Stream,
    description: String,
    // What the others lie in: dropped last.
    _context: Context,
}

impl Device {
    /// Opens the first GPU and loads the kernels.
    pub fn open(arguments: &Arguments) -> Outcome<Self> {
        let text = fs::read_to_string(&arguments.ptx)
            .map_err(|error| format!("reading the kernels from {}: {error}", arguments.ptx))?;
        ptx::check(&text)?;
        let context = cust::quick_init().map_err(|error| {
            format!("no CUDA device ({error}): this needs an NVIDIA GPU and its driver")
        })?;
        let gpu = Gpu::get_device(0)?;
        let capability = |attribute| gpu.get_attribute(attribute).map(|value| value as u32);
        let capability = (
            capability(DeviceAttribute::ComputeCapabilityMajor)?,
            capability(DeviceAttribute::ComputeCapabilityMinor)?,
        );
        let version = CudaApiVersion::get()?;
        let driver = version.major() * 1000 + version.minor() * 10;
        let text = match arguments.plain {
            true => text.into(),
            false => ptx::tuned(&text, capability, driver),
        };
        let options = [ModuleJitOption::MaxRegisters(arguments.registers)];
        let module = Module::from_ptx(&*text, &options)
            .map_err(|error| format!("the driver does not load {}: {error}", arguments.ptx))?;
        let how = if arguments.plain { "as it is" } else { "tuned" };
        Ok(Device {
            module,
            stream: Stream::new(StreamFlags::DEFAULT, None)?,
            description: format!(
                "{}, compute capability {}.{}, CUDA {}.{}; PTX {how}, at most {} registers",
                gpu.name()?,
                capability.0,
                capability.1,
                version.major(),
                version.minor(),
                arguments.registers
            ),
            _context: context,
        })
    }

    /// The device, in words.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// A kernel by its name.
    pub fn kernel(&self, name: &str) -> Outcome<Function<'_>> {
        let found = self.module.get_function(name);
        found.map_err(|error| {
            format!("the PTX has no kernel `{name}` ({error}): compile examples/raw/kernels again")
                .into()
        })
    }

    /// Makes a heap the one of `Vec` and `Box` in the kernels. Waits for them.
    pub fn bind(&self, heap: Argument) -> Outcome<()> {
        self.stream.synchronize()?;
        let mut symbol: Symbol<'_, Argument> =
            self.module.get_global(c"WARPHEAP").map_err(|error| {
                format!(
                    "the PTX has no static `WARPHEAP` ({error}): compile examples/raw/kernels again"
                )
            })?;
        use cust::memory::CopyDestination;
        Ok(symbol.copy_from(&heap)?)
    }

    /// Blocks of a launch of so many lanes.
    pub fn blocks(lanes: u32) -> u32 {
        lanes.div_ceil(BLOCK)
    }
}
