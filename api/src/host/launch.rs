//! The shape of a launch, and what is known after it.

use super::arg::halves;
use super::{
    Arg, Args, BufferId, Cause, Device, DeviceError, HostEntry, KernelFailure, Module, ModuleId,
    Stream,
};
use crate::abi::{self, ARG_WORDS, ArgBlock};
use std::boxed::Box;
use std::format;
use std::string::ToString;
use std::time::Duration;

/// How many blocks of how many lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Number of blocks (workgroups).
    pub grid_dim: u32,
    /// Lanes of each block.
    pub block_dim: u32,
}

impl LaunchConfig {
    /// Blocks of 256 lanes, enough for `n` lanes: at least one block. Kernels compare
    /// `thread::index()` with their own bound, since the last block may reach beyond `n`.
    pub const fn for_num_elems(n: u32) -> Self {
        let blocks = n.div_ceil(256);
        LaunchConfig {
            grid_dim: if blocks == 0 { 1 } else { blocks },
            block_dim: 256,
        }
    }

    /// Checks the shape against a device's limits.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] that says which number is wrong and what would do.
    #[inline]
    pub fn check(
        self,
        kernel: &str,
        max_grid_dim: u32,
        max_block_dim: u32,
    ) -> Result<(), DeviceError> {
        let bad = |why| {
            Err(DeviceError::BadLaunch {
                kernel: kernel.to_string(),
                why,
            })
        };
        if self.grid_dim == 0 || self.block_dim == 0 {
            return bad(format!(
                "{} blocks of {} lanes is no work: both must be at least 1",
                self.grid_dim, self.block_dim
            ));
        }
        if self.block_dim > max_block_dim {
            return bad(format!(
                "{} lanes a block, the device allows {max_block_dim}: make blocks smaller",
                self.block_dim
            ));
        }
        if self.grid_dim > max_grid_dim {
            return bad(format!(
                "{} blocks, the device allows {max_grid_dim}: launch several times or let each lane do more",
                self.grid_dim
            ));
        }
        if self.grid_dim as u64 * self.block_dim as u64 > u32::MAX as u64 {
            return bad(format!(
                "{} blocks of {} lanes are more than 2^32 lanes, beyond a lane's 32-bit index: launch several times",
                self.grid_dim, self.block_dim
            ));
        }
        Ok(())
    }
}

/// One kernel launch, as a backend sees it.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The module that has the entry.
    pub module: ModuleId,
    /// Name of the module's crate, for messages.
    pub module_name: &'static str,
    /// The entry point.
    pub entry: &'static str,
    /// The same entry for the emulator.
    pub host: HostEntry,
    /// The shape.
    pub config: LaunchConfig,
    /// The arguments.
    pub args: &'a [Arg],
    /// The heap that it may use without being given it: the one that is bound to its module.
    pub bound: Option<BufferId>,
}

impl Launch<'_> {
    /// The block of argument words. `address` says where a buffer lies (0 on a backend whose
    /// buffers have no addresses); `report` is the address of the launch report.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] if the arguments do not fit the block.
    #[inline]
    pub fn arg_block(
        &self,
        report: u64,
        address: impl FnMut(BufferId) -> u64,
    ) -> Result<ArgBlock, DeviceError> {
        let mut block = ArgBlock {
            words: [0; ARG_WORDS],
        };
        self.put_args(&mut block, report, address)?;
        Ok(block)
    }

    /// Puts the argument words into a block of zeros; see [`arg_block`](Self::arg_block).
    ///
    /// # Errors
    /// As `arg_block`; the words are of no use then.
    #[inline]
    pub fn put_args(
        &self,
        block: &mut ArgBlock,
        report: u64,
        mut address: impl FnMut(BufferId) -> u64,
    ) -> Result<(), DeviceError> {
        let shape = [self.config.grid_dim, self.config.block_dim];
        let (first, rest) = block.words.split_at_mut(abi::ARG_FIRST);
        for (word, value) in first
            .iter_mut()
            .zip(halves(report).into_iter().chain(shape))
        {
            *word = value;
        }
        let mut len = 0;
        let mut push = |words: &[u32]| {
            if let Some(room) = rest.get_mut(len..len + words.len()) {
                room.copy_from_slice(words);
            }
            len += words.len();
        };
        for arg in self.args {
            match arg {
                Arg::Heap(heap) => push(&heap.arg_words(address(heap.buffer.id()))),
                Arg::Slice(slice) => {
                    push(&halves(address(slice.buffer.id()) + slice.offset));
                    push(&[slice.len]);
                }
                Arg::Words(scalar) => push(scalar),
                Arg::Container(container) => push(&container.words),
                Arg::Shared(_) => {}
            }
        }
        let len = abi::ARG_FIRST + len;
        if len > ARG_WORDS {
            return Err(DeviceError::BadLaunch {
                kernel: self.entry.to_string(),
                why: format!(
                    "its arguments take {len} words, the block has {ARG_WORDS}: put scalars into a buffer"
                ),
            });
        }
        Ok(())
    }
}

/// What is known after a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchReport {
    /// Time on the device from the start of this launch to its end. Behind a pause it may be that of a device at a fraction of
    /// its clock: see [`Device::keep_pace`](super::Device::keep_pace).
    pub device_time: Duration,
    /// The first words of the report that the kernel wrote; see [`abi::REPORT_ERRORS`].
    pub words: [u32; abi::REPORT_WORDS],
}

impl LaunchReport {
    /// The failure that the words tell of, if any.
    pub fn failure(&self, kernel: &str) -> Option<KernelFailure> {
        if self.words[abi::REPORT_ERRORS] == 0 {
            return None;
        }
        let by = abi::REPORT_BY_CODE;
        Some(KernelFailure {
            kernel: kernel.to_string(),
            lanes: self.words[abi::REPORT_ERRORS],
            by_cause: [self.words[by], self.words[by + 1], self.words[by + 2]],
            first: Cause::from_code(self.words[abi::REPORT_CODE]),
            block: self.words[abi::REPORT_BLOCK],
            lane: self.words[abi::REPORT_LANE],
        })
    }
}

/// A launch with its arguments, ready to run alone ([`run`](Prepared::run)), together with others
/// ([`Device::run_all`](super::Device::run_all)) or on a stream ([`on`](Prepared::on)).
#[derive(Clone, Debug)]
#[must_use = "a prepared launch does nothing until it is run"]
pub struct Prepared {
    module: Module,
    entry: &'static str,
    host: HostEntry,
    config: LaunchConfig,
    args: Args,
}

impl Prepared {
    /// A launch of `entry` with arguments that match its parameters.
    ///
    /// # Safety
    /// `entry` and `host` are the same kernel of `module`, and `args` match its parameters in
    /// number, order and type.
    pub unsafe fn new(
        module: Module,
        entry: &'static str,
        host: HostEntry,
        config: LaunchConfig,
        args: Args,
    ) -> Self {
        Prepared {
            module,
            entry,
            host,
            config,
            args,
        }
    }

    /// The entry point.
    pub fn entry(&self) -> &'static str {
        self.entry
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// This launch as a backend sees it. Loads its module if that has not been done.
    ///
    /// # Errors
    /// As [`Module::id`].
    pub fn launch(&self) -> Result<Launch<'_>, DeviceError> {
        let module = self.module.id()?;
        Ok(Launch {
            module,
            module_name: self.module.name(),
            entry: self.entry,
            host: self.host,
            config: self.config,
            args: &self.args,
            bound: self.module.device().shared().bound.heap_of(module),
        })
    }

    /// The same for a device that is to run it, if it is the kernel's.
    pub(super) fn ready_for(&self, device: &Device) -> Result<Launch<'_>, DeviceError> {
        device.owns(
            self.module.device(),
            || format!("kernel {}", self.entry),
            "load its crate on this device, too, or run it on its own, or a stream of it",
        )?;
        self.launch()
    }

    /// Whether a heap in this buffer is among its arguments.
    pub(super) fn takes(&self, heap: BufferId) -> bool {
        let mut args = self.args.iter();
        args.any(|arg| matches!(arg, Arg::Heap(own) if own.buffer.id() == heap))
    }

    /// Whether there is something to keep until it has ended.
    pub(super) fn has_memory(&self) -> bool {
        self.args
            .iter()
            .any(|arg| !matches!(arg, Arg::Words(_) | Arg::Shared(_)))
    }

    /// Loads the kernel, which its first launch does otherwise, and runs nothing; see [`Module::load_kernel`]. Vulkan compiles a kernel for
    /// blocks of so many lanes and arguments like these, so there this is the only way.
    ///
    /// # Errors
    /// As [`Module::load_kernel`].
    pub fn load(&self) -> Result<(), DeviceError> {
        let backend = self.module.device().backend();
        backend.load_launch(&self.launch()?)
    }

    /// Queues the launch on a stream, without waiting for it.
    ///
    /// # Errors
    /// As [`Stream::launch`].
    pub fn on(self, stream: &Stream) -> Result<(), DeviceError> {
        stream.launch(self)
    }

    /// Runs the launch and waits for its end.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`] if lanes returned errors; otherwise, panics and mistakes among them, as
    /// [`Device::run_all`](super::Device::run_all).
    pub fn run(self) -> Result<LaunchReport, DeviceError> {
        self.run_once()
    }

    /// The same, of a launch that is kept.
    pub(super) fn run_once(&self) -> Result<LaunchReport, DeviceError> {
        let device = self.module.device().clone();
        let mut reports = device.run_all(core::slice::from_ref(self))?;
        let Some(report) = reports.pop() else {
            return Err(DeviceError::Driver {
                device: device.info().name.clone(),
                call: "submit",
                what: "the backend returned no report".to_string(),
            });
        };
        match report.failure(self.entry) {
            Some(failure) => Err(Box::new(failure).into()),
            None => Ok(report),
        }
    }
}
