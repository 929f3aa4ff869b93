//! Instances of two kinds in one heap.

use crate::Settings;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpheap_api::host::{DeviceError, HeapReader, HostAlloc};
use warpheap_api::{
    AllocError, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, layout,
};
use warpheap_rt::alloc::{OuroborosCVL, OuroborosMixed, OuroborosPVA};
use warpheap_rt::arch::Words;

/// Pages for small sizes, chunks for large ones, used by threads that each are a warp of one lane.
type Both = OuroborosMixed<OuroborosPVA, OuroborosCVL>;

// Called from several places; in place of each call they would be minutes of the compiler's time.

#[inline(never)]
fn take(heap: Both, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
    heap.malloc(layout)
}

/// # Safety
/// The block came from this heap with this layout.
#[inline(never)]
unsafe fn give_back(heap: Both, block: DevicePtr<u8>, layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe { heap.free(block, layout) };
}

/// The words of a heap that threads share.
fn words_of(bytes: u64, config: &Settings) -> (Vec<u32>, HeapParams) {
    let plan = Both::plan(bytes, config).expect("a plan");
    let mut words = vec![0u32; bytes as usize / 4];
    for fill in &plan.fills {
        words[fill.word as usize..][..fill.words as usize].fill(fill.value);
    }
    (words, plan.params)
}

#[test]
fn instances_of_two_kinds_share_a_pool() {
    let config = Settings {
        instances: Some(2),
        ..Settings::default()
    };
    let (mut words, params) = words_of(2 << 20, &config);
    let (base, len) = (words.as_mut_ptr() as u64, words.len() as u64);
    // SAFETY: the words live until the end of the test and are used through such handles alone.
    let attach = || unsafe { Both::attach(Words::from_address(base, len), params) };
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            scope.spawn(move || {
                let heap = attach();
                let mut dice = SmallRng::seed_from_u64(thread as u64);
                let mut held: Vec<(DevicePtr<u8>, Layout, u32)> = Vec::new();
                let mut served = 0;
                for i in 0..4000u32 {
                    if held.len() > 40 || dice.random_range(0..3) == 0 && !held.is_empty() {
                        let at = dice.random_range(0..held.len());
                        let (ptr, layout, stamp) = held.swap_remove(at);
                        let memory = heap.memory();
                        let ends = [
                            heap.memory().word_of(ptr),
                            heap.memory().word_of(ptr) + layout.size() / 4 - 1,
                        ];
                        assert_eq!(ends.map(|word| memory.read(word)), [stamp; 2]);
                        // SAFETY: the block came from this heap with this layout.
                        unsafe { give_back(heap, ptr, layout) };
                    } else {
                        let size = [16, 100, 3000, 8192, 9000, 40_000][dice.random_range(0..6)];
                        let layout = layout::bytes(size);
                        if let Ok(ptr) = take(heap, layout) {
                            let stamp = i << 2 | thread;
                            heap.memory().write(heap.memory().word_of(ptr), stamp);
                            heap.memory()
                                .write(heap.memory().word_of(ptr) + size / 4 - 1, stamp);
                            held.push((ptr, layout, stamp));
                            served += 1;
                        }
                    }
                }
                assert!(served > 500, "{served}");
                for (ptr, layout, _) in held {
                    // SAFETY: as before.
                    unsafe { give_back(heap, ptr, layout) };
                }
            });
        }
    });
    // What one instance has, the other gets.
    let heap = attach();
    let usage = || Both::usage(&params, &mut InMemory(base)).expect("usage");
    assert_eq!(usage().used_bytes, 0);
    for size in [64, 20_000, 64, 60_000] {
        let layout = layout::bytes(size);
        let mut blocks = Vec::new();
        let mut failures = 0;
        while failures < 3 {
            match take(heap, layout) {
                Ok(block) => blocks.push(block),
                Err(_) => failures += 1,
            }
        }
        let room = len * 4 - Both::plan(2 << 20, &config).expect("a plan").metadata_bytes;
        assert!(
            usage().used_bytes * 2 > room,
            "{size}: {:?} of {room}",
            usage()
        );
        for block in blocks {
            // SAFETY: the blocks came from this heap with this layout.
            unsafe { give_back(heap, block, layout) };
        }
        assert_eq!(usage().used_bytes, 0);
    }
    drop(words);
}

/// Reads words at an address.
struct InMemory(u64);

impl HeapReader for InMemory {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        // SAFETY: the words live, and nobody writes them meanwhile.
        let heap = unsafe { Words::from_address(self.0, u32::MAX as u64) };
        for (at, word) in (first as usize..).zip(words) {
            *word = heap.load(at);
        }
        Ok(())
    }
}
