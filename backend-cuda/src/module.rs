//! Loaded modules and their kernels.
//!
//! The driver compiles a text as a whole, and with each kernel all that it may call, so a text of thirty kernels takes as long as thirty
//! texts. A program launches few of them. So each kernel is compiled by itself when it is first needed, where kernels share no variables
//! and `CUDA_MODULE_LOADING=EAGER` does not say otherwise.

use crate::code::{self, Code};
use crate::driver;
use crate::fences::Fences;
use crate::globals;
use crate::handles::end_of_default_stream;
use crate::link;
use crate::ptx;
use crate::session::Session;
use crate::status::Status;
use crate::sys::{self, CUfunction};
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::time::{Duration, Instant};
use warpheap_api::abi::{self, ARG_WORDS, HEAP_WORDS};
use warpheap_api::host::{BufferId, DeviceError, KernelImage};
use warpheap_ptx::{Parts, unguarded_mask};

/// Most registers of a lane. A multiprocessor has 65536: with more than 64 a lane, blocks of 1024 lanes could not be launched at all, and
/// kernels that allocate are bound by how many lanes run at once.
const REGISTERS: u32 = 64;
/// As many for a kernel that calls functions by their names, if its blocks have no more than 768 lanes. The compiler divides the registers
/// among both, and with fewer spills what a loop of the kernel keeps.
const REGISTERS_WITH_CALLS: u32 = 80;

/// The words in which a module is told of its heap.
type HeapWords = [u32; ARG_WORDS];

/// What the compiler of the driver made of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionInfo {
    /// 32-bit registers of a lane.
    pub registers: u32,
    /// Bytes of local memory of a lane: spilled registers and arrays.
    pub local_bytes: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Most lanes of a block that the registers suffice for.
    pub max_block_dim: u32,
    /// Bytes of machine code, if they could be found out.
    pub code_bytes: Option<u64>,
}

/// A kernel of a loaded module.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    pub(crate) raw: CUfunction,
    pub(crate) info: FunctionInfo,
}

// SAFETY: the handle is a number to the driver, which may be used from any thread.
unsafe impl Send for Kernel {}

/// A loaded module.
pub(crate) struct Loaded {
    /// All kernels, if they are compiled together.
    whole: Option<Code>,
    /// Where each is in the text, if they are not.
    parts: Option<Parts>,
    name: &'static str,
    /// The text that it was made from, as the image has it.
    pub(crate) ptx: String,
    /// What its fences were made to.
    fences: Fences,
    /// Whether there is a report of panics in it.
    pub(crate) reports_panics: bool,
    /// Where that is on the device, once a stream asked for it.
    pub(crate) panic_report: Option<u64>,
    /// Lanes that are known to be counted in it.
    pub(crate) panicked: u32,
    /// Whether its kernels take from a heap that the host binds.
    pub(crate) takes_heap: bool,
    /// The buffer of the heap that is bound.
    pub(crate) heap: Option<BufferId>,
    kernels: BTreeMap<String, Kernel>,
    /// Those that were compiled once more with fewer registers, for larger blocks.
    of_large_blocks: BTreeMap<String, Kernel>,
    /// The code of those that are compiled by themselves.
    apart: Vec<Code>,
    /// Bytes of machine code of kernels that someone asked for, if they could be found out.
    sizes: HashMap<String, Option<u64>>,
    /// How long all took to load.
    pub(crate) load_time: Duration,
}

impl Loaded {
    /// Compiles the PTX of `image` for the device of `session`, whose compute capability is
    /// `capability`, with the `fences` that it has.
    pub(crate) fn new(
        session: &mut Session,
        image: &KernelImage<'_>,
        capability: (u32, u32),
        fences: Fences,
    ) -> Result<Self, DeviceError> {
        let started = Instant::now();
        let Some(text) = image.ptx else {
            return Err(DeviceError::NoImage {
                module: image.name.to_string(),
                format: "PTX",
                feature: "cuda",
            });
        };
        let refuse = |session: &Session, what| refusal(session, image.name, what);
        if let Some((major, minor)) = ptx::target(text).filter(|&needs| needs > capability) {
            return Err(refuse(
                session,
                format!(
                    "it was generated for compute capability {major}.{minor}, this GPU has {}.{}; build the kernels for sm_{}{}",
                    capability.0, capability.1, capability.0, capability.1
                ),
            ));
        }
        if let Some(function) = unguarded_mask(text) {
            return Err(refuse(
                session,
                format!(
                    "its function `{function}` takes the lanes that are here by `activemask` without adding its own lane to \
                     them, which this driver's compiler miscompiles; build the kernels again with warpheap_build"
                ),
            ));
        }
        let mut loaded = Loaded {
            whole: None,
            parts: Parts::of(text)
                .filter(|parts| parts.entries(text).next().is_some() && !is_eager()),
            name: image.name,
            ptx: text.to_owned(),
            fences,
            reports_panics: globals::defines(text, abi::PANIC_REPORT, abi::PANIC_WORDS),
            panic_report: None,
            panicked: 0,
            takes_heap: globals::defines(text, abi::GLOBAL_HEAP, abi::ARG_WORDS),
            heap: None,
            kernels: BTreeMap::new(),
            of_large_blocks: BTreeMap::new(),
            apart: Vec::new(),
            sizes: HashMap::new(),
            load_time: Duration::ZERO,
        };
        let entries = loaded.parts.iter().flat_map(|parts| parts.entries(text));
        let entries: Vec<&str> = entries.take(2).collect();
        if loaded.parts.is_none() {
            loaded.whole = Some(loaded.compiled(session, text, REGISTERS)?);
        }
        loaded.load_time = started.elapsed();
        // A text that cannot be compiled says so here if it has one kernel, and with the first launch if it has several.
        if let [only] = entries[..] {
            loaded.kernel(session, only)?;
        }
        Ok(loaded)
    }

    /// Compiles a text of this module, with at most so many registers for a lane.
    fn compiled(
        &self,
        session: &mut Session,
        text: &str,
        registers: u32,
    ) -> Result<Code, DeviceError> {
        let text = self.fences.of(text);
        let Ok(image) = CString::new(&*text) else {
            let what = "it has a NUL byte in it; build it again".into();
            return Err(refusal(session, self.name, what));
        };
        let loaded = || -> Result<Code, Status> {
            Ok(match self.reports_panics {
                true => Code::of_cubin(&link::link(&image, Some(registers))?)?,
                false => Code::of_ptx(&image, registers)?,
            })
        };
        loaded().map_err(|first| {
            let (again, log) = driver::compiler_messages(&image);
            // The second answer is the more exact one, unless the error did not come again.
            let status = again.ok().err().unwrap_or(first);
            if status.is_fatal() && first.is_fatal() {
                let during = format!("loading `{}`", self.name);
                return session.fail("cuModuleLoadDataEx", during, status);
            }
            let what = not_compiled(&text, status, &log);
            refusal(session, self.name, what)
        })
    }

    /// Tells the module where the heap of its collections is; zeros for nowhere.
    pub(crate) fn set_heap(&self, heap: [u32; HEAP_WORDS]) -> Result<(), Status> {
        let mut words: HeapWords = [0; ARG_WORDS];
        words[..HEAP_WORDS].copy_from_slice(&heap);
        let name = CString::new(abi::GLOBAL_HEAP).unwrap_or_default();
        let Some(whole) = &self.whole else {
            // None of its kernels has such a variable.
            return Err(Status::NOT_FOUND);
        };
        whole.put(&name, &words)?;
        // The copy may still be on its way on the default stream, and launches are on other ones. These are not waited for.
        end_of_default_stream()?;
        Ok(())
    }

    /// Whether this is the module of `image`.
    pub(crate) fn is(&self, image: &KernelImage<'_>) -> bool {
        self.name == image.name && image.ptx.is_some_and(|text| text == self.ptx)
    }

    /// The kernel with this entry point.
    pub(crate) fn kernel(
        &mut self,
        session: &mut Session,
        entry: &str,
    ) -> Result<Kernel, DeviceError> {
        if let Some(kernel) = self.kernels.get(entry) {
            return Ok(*kernel);
        }
        let kernel = self.loaded(session, entry, REGISTERS_WITH_CALLS)?;
        self.kernels.insert(entry.to_string(), kernel);
        Ok(kernel)
    }

    /// The kernel with this entry point, for blocks of so many lanes if it can have such.
    pub(crate) fn kernel_for(
        &mut self,
        session: &mut Session,
        entry: &str,
        block_dim: u32,
    ) -> Result<Kernel, DeviceError> {
        let kernel = self.kernel(session, entry)?;
        if block_dim <= kernel.info.max_block_dim || self.parts.is_none() {
            return Ok(kernel);
        }
        if let Some(kernel) = self.of_large_blocks.get(entry) {
            return Ok(*kernel);
        }
        let kernel = self.loaded(session, entry, REGISTERS)?;
        self.of_large_blocks.insert(entry.to_string(), kernel);
        Ok(kernel)
    }

    /// Loads the kernel with this entry point, with at most so many registers for a lane if it is compiled by itself and calls functions by
    /// their names.
    fn loaded(
        &mut self,
        session: &mut Session,
        entry: &str,
        with_calls: u32,
    ) -> Result<Kernel, DeviceError> {
        let started = Instant::now();
        let found = match (self.alone(entry), &self.whole) {
            (Some(text), _) => {
                let calls = |parts: &Parts| parts.calls_by_name(&self.ptx, entry);
                let registers = match self.parts.as_ref().is_some_and(calls) {
                    true => with_calls,
                    false => REGISTERS,
                };
                let code = self.compiled(session, &text, registers)?;
                let found = find(&code, entry);
                self.apart.push(code);
                found
            }
            (None, Some(whole)) => find(whole, entry),
            (None, None) => Err(Status::NOT_FOUND),
        };
        let kernel = found.map_err(|status| match status {
            Status::NOT_FOUND => DeviceError::LayoutMismatch {
                module: self.name.to_string(),
                format: "PTX",
                entry: entry.to_string(),
                why: ptx::explain_missing(&self.ptx, entry),
            },
            status => session.fail("cuModuleGetFunction", format!("loading `{entry}`"), status),
        })?;
        self.load_time += started.elapsed();
        Ok(kernel)
    }

    /// The text of a kernel that is compiled by itself, if there is such a kernel.
    fn alone(&self, entry: &str) -> Option<String> {
        self.parts.as_ref()?.alone(&self.ptx, entry)
    }

    /// What is known of the kernel with this entry point, its code size included.
    pub(crate) fn info(
        &mut self,
        session: &mut Session,
        entry: &str,
    ) -> Result<FunctionInfo, DeviceError> {
        let info = self.kernel(session, entry)?.info;
        let code_bytes = match self.sizes.get(entry) {
            Some(bytes) => *bytes,
            None => {
                let alone = self.alone(entry);
                let text = self.fences.of(alone.as_deref().unwrap_or(&self.ptx));
                let sizes = crate::cubin::code_sizes(&text, info.registers);
                let bytes = sizes.and_then(|sizes| match alone {
                    // Whatever stands beside the kernel is called by it.
                    Some(_) => Some(sizes.values().sum()),
                    None => sizes.get(entry).copied(),
                });
                self.sizes.insert(entry.to_string(), bytes);
                bytes
            }
        };
        Ok(FunctionInfo { code_bytes, ..info })
    }
}

/// Whether the user wants all kernels of a module to be loaded with it: by the variable that tells the driver the same.
fn is_eager() -> bool {
    std::env::var_os("CUDA_MODULE_LOADING").is_some_and(|how| how.eq_ignore_ascii_case("EAGER"))
}

/// The kernel with this name, and what the driver knows of it.
fn find(code: &Code, entry: &str) -> Result<Kernel, Status> {
    use sys::function as is;
    let raw = code.function(entry)?;
    // Asking also makes sure that the code is on the device before a launch is timed.
    // SAFETY: the function is of this module.
    let value = |attribute| unsafe { code::attribute(raw, attribute) };
    let info = FunctionInfo {
        registers: value(is::NUM_REGS)?,
        local_bytes: value(is::LOCAL_SIZE_BYTES)?,
        shared_bytes: value(is::SHARED_SIZE_BYTES)?,
        max_block_dim: value(is::MAX_THREADS_PER_BLOCK)?,
        code_bytes: None,
    };
    Ok(Kernel { raw, info })
}

/// That the text of a module is refused.
fn refusal(session: &Session, module: &str, what: String) -> DeviceError {
    DeviceError::Driver {
        device: session.name.clone(),
        call: "cuModuleLoadDataEx",
        what: format!("the PTX of `{module}`: {what}"),
    }
}

/// Why the driver's compiler refused a text.
fn not_compiled(text: &str, status: Status, log: &str) -> String {
    let version = ptx::version(text).unwrap_or("?");
    let what = status.explained();
    match (status.0, log) {
        (222, _) => format!("PTX version {version} is newer than the driver: {what}"),
        (_, "") => format!("{what}; PTX version {version}"),
        (_, log) => format!("{what}; PTX version {version}; its compiler says: {log}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_messages_reach_the_user() {
        let text = ".version 8.8\n";
        let bad = not_compiled(text, Status(218), "line 7: syntax error");
        assert!(
            bad.contains("line 7: syntax error") && bad.contains("8.8"),
            "{bad}"
        );
        let new = not_compiled(text, Status(222), "");
        assert!(
            new.contains("newer than the driver") && new.contains("8.8"),
            "{new}"
        );
        assert!(not_compiled("", Status(200), "").contains("200"));
    }
}
