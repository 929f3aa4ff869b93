//! How large a heap is at the moment, and the parameters that follow from it.

use crate::HeapParams;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The size of a heap, and its allocator's parameters; clones are of the same heap. Launches that were prepared before the
/// heap got another size find the new one here.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    now: Arc<Now>,
    most: u64,
}

/// Who changes this holds all of the heap meanwhile, and who launches holds a part: the locks of that order the two. Who asks
/// without holding any of it gets numbers of one time or another.
#[derive(Debug)]
struct Now {
    words: AtomicU64,
    params: [AtomicU32; crate::abi::HEAP_PARAMS],
}

impl Extent {
    /// A heap of so many words, which may come to have `most`.
    pub(super) fn new(words: u64, most: u64, params: HeapParams) -> Self {
        let params = params.map(AtomicU32::new);
        let words = AtomicU64::new(words);
        Extent {
            now: Arc::new(Now { words, params }),
            most,
        }
    }

    pub(super) fn words(&self) -> u64 {
        self.now.words.load(Ordering::Relaxed)
    }

    /// As many words as it may come to have.
    pub(super) fn most_words(&self) -> u64 {
        self.most
    }

    pub(super) fn params(&self) -> HeapParams {
        let params = self.now.params.each_ref();
        params.map(|param| param.load(Ordering::Relaxed))
    }

    /// Sets both.
    pub(super) fn set(&self, words: u64, params: &HeapParams) {
        self.now.words.store(words, Ordering::Relaxed);
        for (now, param) in self.now.params.iter().zip(params) {
            now.store(*param, Ordering::Relaxed);
        }
    }
}
