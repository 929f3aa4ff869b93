//! Rust's own `write!` into a string, where there is `core::fmt`.

use super::HeapString;
use crate::Heap;
use crate::text::{Show, Spec};
use core::fmt;
use warpheap_api::{AllocError, DeviceAlloc};

impl HeapString {
    /// What Rust's own `write!` writes to, on CUDA and the host; on all backends there is
    /// [`heap_write!`](crate::heap_write).
    ///
    /// Each piece of the text is appended by itself: when memory runs out, the pieces before it stay.
    #[inline(always)]
    pub fn writer<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> StringWriter<'_, A> {
        StringWriter {
            string: self,
            heap,
            error: None,
        }
    }
}

/// Appends to a [`HeapString`] what is written to it. Not on Vulkan, which has no `core::fmt`.
pub struct StringWriter<'s, A> {
    string: &'s mut HeapString,
    heap: Heap<A>,
    error: Option<AllocError>,
}

impl<A> StringWriter<'_, A> {
    /// Why the last write failed, if one did: `fmt::Error` says nothing.
    pub fn error(&self) -> Option<AllocError> {
        self.error
    }
}

impl<A: DeviceAlloc> fmt::Write for StringWriter<'_, A> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let pushed = self.string.push_text(self.heap, text.show(Spec::PLAIN));
        pushed.map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}
