//! What the host shares with a module whose kernels use Rust's own collections: the heap that these take
//! from, and the report of panics. See [`abi::GLOBAL_HEAP`] and [`abi::PANIC_REPORT`].

use crate::context::{limit, set_limit};
use crate::handles::end_of_default_stream;
use crate::module::Loaded;
use crate::session::Session;
use crate::state::State;
use crate::status::Status;
use crate::sys::limit::STACK_SIZE;
use std::ffi::CString;
use warpheap_api::abi::{self, ARG_WORDS, HEAP_WORDS};
use warpheap_api::host::{DeviceError, Launch};

/// The words in which a module is told of its heap.
type HeapWords = [u32; ARG_WORDS];

/// Whether a PTX text defines a variable of this name and number of words.
pub(crate) fn defines(ptx: &str, name: &str, words: usize) -> bool {
    let variable = format!(" {name}[{}]", words * 4);
    let mut lines = ptx.lines();
    lines.any(|line| line.contains(".global ") && line.contains(&variable))
}

/// Whether kernels of a PTX text call functions by pointer, as formatting and `dyn` do.
pub(crate) fn calls_by_pointer(ptx: &str) -> bool {
    ptx.contains(".callprototype")
}

/// Makes lanes' stacks at least `bytes` large. Calls through pointers, of which formatting and `dyn` are
/// made, keep the driver from knowing what a kernel needs.
pub(crate) fn enlarge_stacks(session: &mut Session, bytes: usize) -> Result<(), DeviceError> {
    let enlarge = || -> Result<(), Status> {
        if limit(STACK_SIZE)? < bytes {
            set_limit(STACK_SIZE, bytes)?;
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
        let name = CString::new(abi::GLOBAL_HEAP).unwrap_or_default();
        self.code.put(&name, &words)?;
        // The copy may still be on its way on the default stream, and launches are on other ones. These are not waited for.
        end_of_default_stream()?;
        Ok(())
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap_api::abi::PANIC_WORDS;

    #[test]
    fn calls_through_pointers_are_seen() {
        let call = "prototype_2 : .callprototype (.param .b32 _) _ (.param .b64 _);\n";
        assert!(calls_by_pointer(call));
        assert!(!calls_by_pointer("call.uni (retval0), write, (param0);\n"));
    }

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
}
