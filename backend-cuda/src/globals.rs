//! What the host shares with a module whose kernels use Rust's own collections: the heap that these take
//! from, and the report of panics. See [`GLOBAL_HEAP`](warpheap_api::abi::GLOBAL_HEAP) and [`PANIC_REPORT`](warpheap_api::abi::PANIC_REPORT).

use crate::context::{limit, set_limit};
use crate::session::Session;
use crate::status::Status;
use crate::sys::limit::STACK_SIZE;
use warpheap_api::host::DeviceError;

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

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap_api::abi::{self, PANIC_WORDS};

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
