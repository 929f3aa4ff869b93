//! What the kernel finds of allocators that do wrong, in the emulator.

use super::*;
use crate::soak::dice::Dice;
use crate::soak::fault::Fault;
use crate::soak::plan::Planner;
use crate::soak::sizes::Sizes;
use crate::soak::worker::{Facts, Kind, Worker};
use warpheap_api::abi::{ARG_FIRST, ArgBlock, HEAP_WORDS, SLICE_WORDS};
use warpheap_api::host::{HeapPlan, HeapReader, HostEntry, PlanError, Usage};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, layout,
};
use warpheap_bench_kernels::soak::soak;
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::alloc::WarpHeap;
use warpheap_rt::arch::{self, Words};
use warpheap_rt::entry;
use warpheap_rt::sync::Group;

/// Nothing is wrong.
const RIGHT: u32 = 0;
/// `calloc` hands out what there is.
const DIRTY: u32 = 1;
/// Alignments are not looked at.
const MISALIGNED: u32 = 2;
/// Of a block that moves, the ends alone are copied.
const INSIDE: u32 = 3;
/// `malloc_warp` gives all lanes one block.
const SHARED: u32 = 4;
/// `free_warp` frees nothing.
const KEPT: u32 = 5;

const POOL: u64 = 1 << 20;
const LANES: u32 = 64;
const BLOCKS: u32 = 1 << 12;

/// WarpHeap with something that is wrong.
#[derive(Clone, Copy)]
struct Faulty<const WHAT: u32> {
    inner: WarpHeap,
}

impl<const WHAT: u32> HeapHandle for Faulty<WHAT> {
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        // SAFETY: the caller's promise.
        let inner = unsafe { WarpHeap::attach(words, params) };
        Faulty { inner }
    }
}

/// The layout that the allocator within sees.
fn seen<const WHAT: u32>(layout: Layout) -> Layout {
    match WHAT {
        MISALIGNED => layout::bytes(layout.size()),
        _ => layout,
    }
}

// SAFETY: it keeps nothing of the contract, which is what is tested; but its blocks lie in the heap.
unsafe impl<const WHAT: u32> DeviceAlloc for Faulty<WHAT> {
    type Memory = Words;
    const NAME: &'static str = "Faulty";
    const CAPS: Caps = WarpHeap::CAPS;

    fn memory(self) -> Words {
        self.inner.memory()
    }

    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        self.inner.malloc(seen::<WHAT>(layout))
    }

    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.inner.free(ptr, seen::<WHAT>(layout)) }
    }

    unsafe fn malloc_warp(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let group = Group::here();
        let block = self.malloc(layout)?;
        match WHAT {
            SHARED if group.count() == arch::warp_width() => {
                let granule = group.shuffle(block.granule(), group.leader());
                Ok(DevicePtr::from_granule(granule))
            }
            _ => Ok(block),
        }
    }

    unsafe fn free_warp(self, ptr: DevicePtr<u8>, layout: Layout) {
        if WHAT != KEPT {
            // SAFETY: the caller's promise.
            unsafe { self.free(ptr, layout) }
        }
    }

    fn calloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        match WHAT {
            DIRTY => self.malloc(layout),
            _ => self.inner.calloc(seen::<WHAT>(layout)),
        }
    }

    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        if WHAT != INSIDE {
            // SAFETY: the caller's promise.
            return unsafe { self.move_block(ptr, layout, new_size) };
        }
        let new = self.malloc(layout::aligned(new_size, layout.align()))?;
        let (words, kept) = (self.memory(), layout.size().min(new_size) / 4);
        for i in [0, kept.saturating_sub(1)] {
            words.write(words.word_of(new) + i, words.read(words.word_of(ptr) + i));
        }
        // SAFETY: the caller's promise.
        unsafe { self.free(ptr, layout) };
        Ok(new)
    }
}

impl<const WHAT: u32> HostAlloc for Faulty<WHAT> {
    const KIND: u32 = WarpHeap::KIND;
    type Config = <WarpHeap as HostAlloc>::Config;

    fn plan(bytes: u64, config: &Self::Config) -> Result<HeapPlan, PlanError> {
        WarpHeap::plan(bytes, config)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        WarpHeap::usage(params, heap)
    }
}

/// What `#[kernel]` makes for the library's allocators.
unsafe fn host<const WHAT: u32>(args: &ArgBlock) {
    let at = |slices: usize| ARG_FIRST + HEAP_WORDS + slices * SLICE_WORDS;
    // SAFETY: the arguments were made to match the kernel's parameters.
    unsafe {
        let heap = entry::heap::<Faulty<WHAT>>(arch::heap_words(args, ARG_FIRST), args, ARG_FIRST);
        let (steps, begins) = (arch::slice(args, at(0)), arch::slice(args, at(1)));
        let (places, counts) = (arch::slice_mut(args, at(2)), arch::slice(args, at(3)));
        let scalar = |number| <u32 as warpheap_api::HeapData>::from_args(args, at(4) + number);
        soak(heap, steps, begins, places, counts, scalar(0), scalar(1));
        entry::finish(arch::report(args), ());
    }
}

impl<const WHAT: u32> SoakEntry for Faulty<WHAT> {
    const IMAGE: &'static str = "";
    const ENTRY: &'static str = "soak";
    const HOST: HostEntry = host::<WHAT>;
}

/// What is found in so many rounds on a device that looks after nothing itself.
fn found<const WHAT: u32>(width: u32, rounds: u32) -> Option<Fault> {
    found_on::<WHAT>(
        HostConfig {
            warp_width: width,
            check_blocks: Some(false),
            ..HostConfig::default()
        },
        rounds,
    )
}

/// What is found in so many rounds on this device.
fn found_on<const WHAT: u32>(config: HostConfig, rounds: u32) -> Option<Fault> {
    let width = config.warp_width;
    let device = warpheap_host::open(config).expect("the emulator opens");
    let kernels = warpheap_bench_kernels::load(&device).expect("kernels of the host");
    let pool: Pool<Faulty<WHAT>> = device.reserve(POOL).expect("a pool");
    let planner = Planner {
        dice: Dice::new(7),
        sizes: Sizes::new(
            pool.bytes() - pool.metadata_bytes(),
            u64::MAX,
            WarpHeap::CAPS.max_align,
        ),
        lanes: LANES,
        width,
    };
    let facts = Facts {
        frees: true,
        fill: 80,
        one_launch: false,
    };
    let heap = OnDevice::new(&kernels, &device, pool, LANES, BLOCKS).expect("tables");
    let mut worker = Worker::new(heap, Kind::Old, facts, planner, BLOCKS);
    (0..rounds).find_map(|_| worker.round().err())
}

#[test]
fn an_allocator_that_does_right_is_right_at_all_widths() {
    for width in [1, 4, 8, 32, 64] {
        let fault = found::<RIGHT>(width, 60).map(|fault| fault.to_string());
        assert_eq!(fault, None, "at width {width}");
    }
}

/// Lanes meet in any groups, and are counted where they are.
#[test]
fn it_is_right_under_explored_schedules_too() {
    for seed in 0..6 {
        let config = HostConfig {
            warp_width: [4, 8, 32][seed as usize % 3],
            mode: Mode::Explore { seed },
            ..HostConfig::default()
        };
        let fault = found_on::<RIGHT>(config, 12).map(|fault| fault.to_string());
        assert_eq!(fault, None, "with seed {seed}");
    }
}

#[test]
fn what_an_allocator_does_wrong_is_found() {
    let cases = [
        (found::<DIRTY>(8, 200), "blocks of calloc were not all zero"),
        (found::<MISALIGNED>(8, 200), "does not lie at a multiple of"),
        (
            found::<INSIDE>(8, 200),
            "blocks did not hold what was written",
        ),
        (found::<SHARED>(8, 200), "overlap"),
        (found::<KEPT>(8, 200), "blocks are in use, and there are"),
    ];
    for (fault, part) in cases {
        let text = fault.expect(part).to_string();
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}
