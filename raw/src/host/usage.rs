//! How much of a heap is in use.

use super::Layout;
use crate::Words;
use thiserror::Error;
use warpheap_api::host::{DeviceError, HeapReader, HostAlloc, Usage};
use warpheap_api::{LAYOUT_VERSION, header};

/// Why it is not known how much of a heap is in use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UsageError<E> {
    /// The program could not read the heap.
    #[error("reading the heap: {0}")]
    Read(E),
    /// What was read is no heap of this allocator and version.
    #[error(
        "the memory does not hold a {allocator} heap of layout version {LAYOUT_VERSION}: it was never laid out, or something \
         wrote over it; set the ranges of its layout again"
    )]
    NoHeap {
        /// Name of the allocator.
        allocator: &'static str,
    },
}

/// Reads by the program's own means, and keeps what went wrong.
struct Reader<F, E> {
    read: F,
    error: Option<E>,
}

impl<E, F: FnMut(u64, &mut [u32]) -> Result<(), E>> HeapReader for Reader<F, E> {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        (self.read)(first * 4, words).map_err(|error| {
            self.error = Some(error);
            DeviceError::Emulator("the program could not read the heap".into())
        })
    }
}

impl<A: HostAlloc<Memory = Words>> Layout<A> {
    /// How much of a heap of this layout is in use. `read(offset, words)` fills `words` with what lies in the heap from byte
    /// `offset` on. While kernels allocate the figures are of no single moment, but never more than there is.
    ///
    /// # Errors
    /// [`UsageError::Read`] with the error of `read`; [`UsageError::NoHeap`] if there is no such heap.
    pub fn usage<E>(
        &self,
        read: impl FnMut(u64, &mut [u32]) -> Result<(), E>,
    ) -> Result<Usage, UsageError<E>> {
        let no_heap = UsageError::NoHeap { allocator: A::NAME };
        let mut reader = Reader { read, error: None };
        let mut head = [0; 4];
        let usage = reader.read(0, &mut head).and_then(|()| {
            let magic = (head[header::WORD_MAGIC], head[header::WORD_VERSION]);
            let is_heap = (magic.0, magic.1, head[header::WORD_KIND])
                == (header::MAGIC, LAYOUT_VERSION, A::KIND);
            match is_heap {
                true => A::usage(self.params(), &mut reader).map(Some),
                false => Ok(None),
            }
        });
        match usage {
            Ok(usage) => usage.ok_or(no_heap),
            // Nothing else goes wrong than reading.
            Err(_) => Err(reader.error.map_or(no_heap, UsageError::Read)),
        }
    }
}
