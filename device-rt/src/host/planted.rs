//! Words of a heap for tests of what reads them: laid out as a pool does, and changed by hand.

use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;
use warpheap_api::HeapParams;
use warpheap_api::host::{Audit, DeviceError, HeapPlan, HeapReader, HostAlloc};

/// The metadata of a heap.
pub(crate) struct Planted {
    params: HeapParams,
    /// Its words, without those of blocks.
    pub words: Vec<u32>,
}

impl Planted {
    /// A fresh heap.
    pub fn new(plan: &HeapPlan) -> Self {
        let ends = plan.ranges().map(|fill| fill.word + fill.words);
        let mut words = vec![0; ends.max().unwrap_or(0) as usize];
        for fill in plan.ranges() {
            words[fill.word as usize..][..fill.words as usize].fill(fill.value);
        }
        Planted {
            params: plan.params,
            words,
        }
    }
}

impl HeapReader for Planted {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        words.copy_from_slice(&self.words[first as usize..][..words.len()]);
        Ok(())
    }
}

/// What the allocator finds wrong in it; nothing if all is right.
pub(crate) fn told<A: HostAlloc>(heap: &mut Planted) -> String {
    let mut found = Audit::default();
    let params = heap.params;
    A::audit(&params, heap, &mut found).expect("words are read");
    match found.is_clean() {
        true => String::new(),
        false => found.to_string(),
    }
}

/// Makes sure that nothing is wrong in a heap, and that each of these words, put into a fresh one, is told so.
pub(crate) fn each_is_told<A: HostAlloc>(
    heap: impl Fn() -> Planted,
    changes: &[(usize, u32, &str)],
) {
    assert_eq!(told::<A>(&mut heap()), "");
    for (word, value, part) in changes {
        let mut heap = heap();
        heap.words[*word] = *value;
        let told = told::<A>(&mut heap);
        assert!(told.contains(part), "no `{part}` in: {told}");
    }
}
