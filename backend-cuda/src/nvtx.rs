//! What is told to tools that speak NVTX: NVIDIA's profilers and compute-sanitizer.
//!
//! NVTX is no library but a protocol. A tool that starts a program puts the path of its own library into a variable. Who wants to be
//! heard loads that, calls a function of it with the address of tables, and finds the tool's functions in these
//! ([`slots`], [`memory`]). Nothing of NVIDIA's is linked or has to be there.
//!
//! Without a tool, a launch costs a comparison.

mod memory;
mod slots;
#[cfg(test)]
mod tests;

use crate::sys::CUstream;
use libloading::Library;
use slots::{CUDA, DOMAINS, VERSION};
use std::ffi::{CString, OsStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use warpheap_api::host::Launch;

/// Tools set this to the path of their library.
const ENV_LIBRARY: &str = "NVTX_INJECTION64_PATH";

/// What is meant by no library.
const NONE: &str = "./.";

/// The functions of [`DOMAINS`] that are called, by their numbers.
const PUSH: usize = 4;
const POP: usize = 5;
const NAME_CATEGORY: usize = 8;
const CREATE: usize = 12;
/// That of [`CUDA`].
const NAME_STREAM: usize = 5;

type Push = unsafe extern "C" fn(*mut c_void, *const Attributes) -> c_int;
type Pop = unsafe extern "C" fn(*mut c_void) -> c_int;
type NameCategory = unsafe extern "C" fn(*mut c_void, u32, *const c_char);
type Create = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type NameStream = unsafe extern "C" fn(CUstream, *const c_char);

/// What a tool's library begins with; 0 is no.
type Initialize = unsafe extern "C" fn(extern "C" fn(u32) -> *const c_void) -> c_int;

/// What a range is: `nvtxEventAttributes_t`.
#[repr(C)]
struct Attributes {
    version: u16,
    bytes: u16,
    category: u32,
    color_kind: i32,
    color: u32,
    payload_kind: i32,
    reserved: i32,
    payload: u64,
    message_kind: i32,
    message: *const c_char,
}

// As the header has it for 64-bit systems.
const _: () = assert!(size_of::<Attributes>() == 48);

/// The payload is a number of 64 bits, the message ASCII.
const NUMBER: i32 = 1;
const ASCII: i32 = 1;

/// What the host does while a range is open.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Category {
    /// It waits for the launches.
    Runs = 1,
    /// It queues them.
    Queues = 2,
}

/// A tool that listens.
pub(crate) struct Tool {
    /// Its handle for what this library tells; null if it tells no domains apart.
    domain: AtomicPtr<c_void>,
}

static TOOL: OnceLock<Option<Tool>> = OnceLock::new();

/// Looks for a tool, once. A device's context is to be there: compute-sanitizer asks for that.
pub(crate) fn attach() {
    TOOL.get_or_init(|| load(&std::env::var_os(ENV_LIBRARY)?));
}

/// The tool, if there is one and it was looked for.
#[inline]
pub(crate) fn tool() -> Option<&'static Tool> {
    TOOL.get()?.as_ref()
}

/// Opens a range around launches, if there is a tool.
#[inline]
pub(crate) fn range(launches: &[Launch<'_>], category: Category) -> Option<Range<'static>> {
    let tool = tool()?;
    let lanes = |launch: &Launch<'_>| {
        u64::from(launch.config.grid_dim) * u64::from(launch.config.block_dim)
    };
    let name = match launches {
        [] => return None,
        [one] => one.entry.to_string(),
        [first, .., last] => {
            format!(
                "{} launches, {} to {}",
                launches.len(),
                first.entry,
                last.entry
            )
        }
    };
    Some(tool.range(&name, category, launches.iter().map(lanes).sum()))
}

/// Names a stream, if there is a tool.
pub(crate) fn name_stream(stream: CUstream, name: &str) {
    if let Some(tool) = tool() {
        tool.name_stream(stream, name);
    }
}

/// The tool whose library this is.
fn load(path: &OsStr) -> Option<Tool> {
    if path.is_empty() || path == NONE {
        return None;
    }
    let failed = |why: &dyn std::fmt::Display| {
        tracing::warn!(?path, %why, "a tool was asked for that does not listen: {ENV_LIBRARY}");
    };
    // SAFETY: who started the program wants the tool's library in it.
    let library = unsafe { Library::new(path) };
    let library = library.map_err(|error| failed(&error)).ok()?;
    // SAFETY: NVTX says that a tool's function of this name has this type.
    let initialize = unsafe { library.get::<Initialize>(b"InitializeInjectionNvtx2\0") };
    let initialize = *initialize.map_err(|error| failed(&error)).ok()?;
    // SAFETY: as above, for names of memory.
    let extension = unsafe { library.get(b"InitializeInjectionNvtxExtension\0") };
    let extension = extension.ok().map(|found| *found);
    // SAFETY: they are the tool's, whose library is kept if it listens, and not used any more if it does not.
    let tool = unsafe { Tool::attach(initialize, extension) };
    match tool {
        // Its functions are called as long as the process runs.
        Some(_) => std::mem::forget(library),
        None => failed(&"it refuses"),
    }
    tool
}

impl Tool {
    /// Asks a tool for its functions; `None` if it refuses.
    ///
    /// # Safety
    /// These are a tool's `InitializeInjectionNvtx2` and `InitializeInjectionNvtxExtension`, and it stays loaded if it does not refuse.
    unsafe fn attach(
        initialize: Initialize,
        extension: Option<memory::Initialize>,
    ) -> Option<Self> {
        // SAFETY: the caller's promise; the tables stay.
        if unsafe { initialize(slots::export_table) } == 0 {
            return None;
        }
        // SAFETY: the type is that of NVTX's function of this number; so below.
        let domain = match unsafe { DOMAINS[CREATE].function::<Create>() } {
            // SAFETY: a function of the tool, which is loaded, and a text that outlives the call; so below.
            Some(create) => unsafe { create(c"warpheap".as_ptr()) },
            None => std::ptr::null_mut(),
        };
        // SAFETY: see above.
        if let Some(call) = unsafe { DOMAINS[NAME_CATEGORY].function::<NameCategory>() } {
            let names = [
                (Category::Runs, c"waited for"),
                (Category::Queues, c"queued"),
            ];
            for (category, name) in names {
                // SAFETY: see above.
                unsafe { call(domain, category as u32, name.as_ptr()) };
            }
        }
        // SAFETY: the caller's promise.
        let names_memory = extension.is_some_and(|extension| unsafe { memory::attach(extension) });
        tracing::debug!(names_memory, "a tool listens");
        Some(Tool {
            domain: AtomicPtr::new(domain),
        })
    }

    fn domain(&self) -> *mut c_void {
        self.domain.load(Ordering::Relaxed)
    }

    /// Opens a range on this thread. The number is shown beside its name: how many lanes are launched.
    pub(crate) fn range(&self, name: &str, category: Category, lanes: u64) -> Range<'_> {
        let text = text(name);
        let attributes = Attributes {
            version: VERSION,
            bytes: size_of::<Attributes>() as u16,
            category: category as u32,
            color_kind: 0,
            color: 0,
            payload_kind: NUMBER,
            reserved: 0,
            payload: lanes,
            message_kind: ASCII,
            message: text.as_ptr(),
        };
        // SAFETY: the type is that of NVTX's function of this number.
        if let Some(push) = unsafe { DOMAINS[PUSH].function::<Push>() } {
            // SAFETY: a function of a tool that stays loaded, with a structure as NVTX has it, which outlives the call.
            unsafe { push(self.domain(), &attributes) };
        }
        Range {
            tool: self,
            thread: PhantomData,
        }
    }

    /// Names the memory that the driver allocated at an address.
    pub(crate) fn name_memory(&self, address: u64, name: &str) {
        memory::name(self.domain(), address, name);
    }

    /// Names a stream of the driver.
    pub(crate) fn name_stream(&self, stream: CUstream, name: &str) {
        // SAFETY: the type is that of NVTX's function of this number.
        if let Some(call) = unsafe { CUDA[NAME_STREAM].function::<NameStream>() } {
            // SAFETY: a function of a tool that stays loaded, and a text that outlives the call.
            unsafe { call(stream, text(name).as_ptr()) };
        }
    }
}

/// A range, until it is dropped: on the thread that opened it, behind those that were opened later.
pub(crate) struct Range<'a> {
    tool: &'a Tool,
    thread: PhantomData<*const ()>,
}

impl Drop for Range<'_> {
    fn drop(&mut self) {
        // SAFETY: the type is that of NVTX's function of this number.
        if let Some(pop) = unsafe { DOMAINS[POP].function::<Pop>() } {
            // SAFETY: a function of a tool that stays loaded.
            unsafe { pop(self.tool.domain()) };
        }
    }
}

/// A text as C has it. Names have no zeros in them.
fn text(name: &str) -> CString {
    CString::new(name).unwrap_or_default()
}
