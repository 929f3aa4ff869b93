//! What the host shares with a module whose kernels use Rust's own collections: the heap that these take
//! from, and the report of panics. See [`abi::GLOBAL_HEAP`] and [`abi::PANIC_REPORT`].

use crate::handles::end_of_default_stream;
use crate::module::Loaded;
use crate::session::Session;
use crate::state::State;
use crate::status::Status;
use cust::context::{CurrentContext, ResourceLimit};
use cust::memory::{CopyDestination, DeviceCopy};
use std::ffi::CString;
use warpheap_api::abi::{self, ARG_WORDS, HEAP_WORDS, PANIC_WORDS};
use warpheap_api::host::{DeviceError, KernelPanic, Launch};

/// The words in which a module is told of its heap.
type HeapWords = [u32; ARG_WORDS];

/// Whether a PTX text defines a variable of this name and number of words.
pub(crate) fn defines(ptx: &str, name: &str, words: usize) -> bool {
    let variable = format!(" {name}[{}]", words * 4);
    let mut lines = ptx.lines();
    lines.any(|line| line.contains(".global ") && line.contains(&variable))
}

/// Makes lanes' stacks at least `bytes` large. Calls through pointers, of which formatting and `dyn` are
/// made, keep the driver from knowing what a kernel needs.
pub(crate) fn enlarge_stacks(session: &mut Session, bytes: usize) -> Result<(), DeviceError> {
    let enlarge = || -> Result<(), Status> {
        if CurrentContext::get_resource_limit(ResourceLimit::StackSize)? < bytes {
            CurrentContext::set_resource_limit(ResourceLimit::StackSize, bytes)?;
        }
        Ok(())
    };
    enlarge().map_err(|status| session.fail("cuCtxSetLimit", "enlarging the lanes' stacks", status))
}

impl Loaded {
    /// Tells the module where the heap of its collections is; zeros for nowhere.
    pub(crate) fn set_heap(&self, heap: [u32; HEAP_WORDS]) -> Result<(), Status> {
        let mut words: HeapWords = [0; ARG_WORDS];
        words[..HEAP_WORDS].copy_from_slice(&heap);
        self.put(abi::GLOBAL_HEAP, &words)
    }

    /// The report of panics, if there is one of any; it is empty again afterwards.
    fn take_panics(&self) -> Result<Option<[u32; PANIC_WORDS]>, Status> {
        let name = CString::new(abi::PANIC_REPORT).unwrap_or_default();
        let mut words = [0; PANIC_WORDS];
        let report = self.module.get_global::<[u32; PANIC_WORDS]>(&name)?;
        report.copy_to(&mut words)?;
        if words[abi::PANIC_LANES] == 0 {
            return Ok(None);
        }
        self.put(abi::PANIC_REPORT, &[0; PANIC_WORDS])?;
        Ok(Some(words))
    }

    fn put<T: DeviceCopy>(&self, name: &str, value: &T) -> Result<(), Status> {
        let name = CString::new(name).unwrap_or_default();
        self.module.get_global::<T>(&name)?.copy_from(value)?;
        // The copy may still be on its way on the default stream, and launches are on other ones. These are not waited for.
        end_of_default_stream().map_err(|refused| refused.status)
    }
}

impl State {
    /// Whether launches of streams may write to the same report of panics as these launches.
    pub(crate) fn shares_panics(&self, launches: &[Launch<'_>]) -> bool {
        let mut streams = self.streams.values();
        streams.any(|stream| {
            let mut open = stream.open_modules();
            open.any(|open| launches.iter().any(|launch| launch.module.0 == open))
        })
    }

    /// The panics of a batch of launches that has ended, beside which no stream ran launches of the same modules.
    pub(crate) fn panics(&mut self, launches: &[Launch<'_>]) -> Result<(), DeviceError> {
        let mut asked = Vec::new();
        for launch in launches {
            let id = launch.module;
            let Some(module) = self.modules.get(&id.0) else {
                continue;
            };
            if !module.reports_panics || asked.contains(&id) {
                continue;
            }
            asked.push(id);
            let words = module.take_panics().map_err(|status| {
                let during = "reading the report of panics";
                self.session.fail("cuModuleGetGlobal", during, status)
            })?;
            let panic = words.and_then(|words| {
                let of_module = launches.iter().filter(|launch| launch.module == id);
                KernelPanic::from_words(&names(of_module.map(|launch| launch.entry)), &words)
            });
            if let Some(panic) = panic {
                return Err(Box::new(panic).into());
            }
        }
        Ok(())
    }
}

/// Each of some kernels once.
fn names<'a>(entries: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for entry in entries {
        if !names.contains(&entry) {
            names.push(entry);
        }
    }
    names.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_told_from_their_uses() {
        let ptx = ".visible .global .align 4 .b8 warpheap_panic_report[672];\n\
                   \tld.global.b32 \t%r2, [warpheap_global_heap+4];\n\
                   .global .align 4 .b8 not_warpheap_global_heap[4];\n";
        assert!(defines(ptx, abi::PANIC_REPORT, PANIC_WORDS));
        assert!(!defines(ptx, abi::PANIC_REPORT, 1));
        assert!(!defines(ptx, abi::GLOBAL_HEAP, 1));
        assert!(!defines("", abi::PANIC_REPORT, PANIC_WORDS));
    }

    #[test]
    fn kernels_of_a_batch_are_named_once() {
        assert_eq!(names(["a"].into_iter()), "a");
        assert_eq!(names(["a", "b", "a"].into_iter()), "a or b");
    }
}
