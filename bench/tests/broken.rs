//! What the lab says of an allocator that hands out wrong memory: a bump pointer that goes round and
//! round in a small part of the heap, so that blocks overlap sooner or later.

use warpheap_api::abi::{ARG_FIRST, ArgBlock, HEAP_WORDS, SLICE_WORDS};
use warpheap_api::host::{
    Device, DeviceError, HeapPlan, HeapReader, HostAlloc, HostEntry, PlanError, Pool, Usage,
};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapData, HeapHandle, HeapMemory, HeapParams, Layout,
    header, layout,
};
use warpheap_bench::lab::Lab;
use warpheap_bench::measure::measure;
use warpheap_bench::plan::{Cell, Work};
use warpheap_bench::replay::Script;
use warpheap_bench::row::{Call, Row};
use warpheap_bench::scenario::Scenario;
use warpheap_bench_kernels::mix::Mix;
use warpheap_bench_kernels::{churn, contents, growth, handover, latency, replay, requests, sizes};
use warpheap_host::HostConfig;
use warpheap_rt::arch::{self, AtomicWord, Words};
use warpheap_rt::host::{Trace, TraceCall, TraceEvent};
use warpheap_rt::sync::Group;
use warpheap_rt::{Heap, entry};

/// Bytes of the heap.
const POOL: u64 = 1 << 20;
/// Granules of a part of the heap that is handed out but once in a test that does little.
const LARGE: u32 = 1 << 15;
/// Granules of a part that is not enough for one warp.
const SMALL: u32 = 8;
/// Word of the pointer.
const NEXT: usize = header::HEADER_WORDS;
/// The first granule that is handed out.
const FIRST: u32 = header::HEADER_WORDS as u32 / 4 + 1;

#[derive(Clone, Copy)]
struct Broken {
    words: Words,
    /// Granules of the part of the heap that is handed out again and again.
    part: u32,
}

impl HeapHandle for Broken {
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        Broken {
            words,
            part: params[0],
        }
    }
}

// SAFETY: it keeps nothing of the contract, which is what is tested; but its blocks lie in the heap.
unsafe impl DeviceAlloc for Broken {
    type Memory = Words;
    const NAME: &'static str = "Broken";
    const CAPS: Caps = Caps {
        frees: true,
        max_align: 16,
        max_size: 1 << 15,
    };
    fn memory(self) -> Words {
        self.words
    }
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        // Here the emulator turns to the next lane, so that lanes hold blocks at the same time.
        Group::here().barrier();
        let start = self.words.fetch_add(NEXT, layout::granules(layout)) % self.part;
        Ok(DevicePtr::from_granule(FIRST + start))
    }
    unsafe fn free(self, _: DevicePtr<u8>, _: Layout) {}
}

impl HostAlloc for Broken {
    const KIND: u32 = 0xbad;
    type Config = u32;
    fn plan(_: u64, part: &u32) -> Result<HeapPlan, PlanError> {
        let mut params = HeapParams::default();
        params[0] = *part;
        Ok(HeapPlan {
            params,
            fills: Vec::new(),
            metadata_bytes: u64::from(FIRST) * 16,
        })
    }
    fn usage(_: &HeapParams, _: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        Ok(Usage::default())
    }
}

/// Reads a kernel's arguments one after the other.
struct Reader<'a> {
    args: &'a ArgBlock,
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self, words: usize) -> usize {
        self.at += words;
        self.at - words
    }
    fn heap(&mut self) -> Heap<Broken> {
        let at = self.next(HEAP_WORDS);
        // SAFETY: the lab made the arguments to match the kernel's parameters.
        unsafe { entry::heap(arch::heap_words(self.args, at), self.args, at) }
    }
    fn slice<T>(&mut self) -> &'a [T] {
        let at = self.next(SLICE_WORDS);
        // SAFETY: the lab made the arguments to match the kernel's parameters.
        unsafe { arch::slice(self.args, at) }
    }
    fn slice_mut<T: HeapData>(&mut self) -> &'a mut [T] {
        let at = self.next(SLICE_WORDS);
        // SAFETY: the lab made the arguments to match the kernel's parameters.
        unsafe { arch::slice_mut(self.args, at) }
    }
    fn scalar<T: HeapData>(&mut self) -> T {
        let at = self.next(T::WORDS as usize);
        // SAFETY: the same.
        unsafe { T::from_args(self.args, at) }
    }
}

/// Compiles kernels for `Broken`, for the emulator alone: what `#[kernel]` does for the library's
/// allocators.
macro_rules! kernels {
    ($($module:ident::$trait:ident = $kernel:ident($($kind:ident $(::<$of:ty>)?),*);)*) => {$(
        impl $module::$trait for Broken {
            const IMAGE: &'static str = "";
            const ENTRY: &'static str = stringify!($kernel);
            const HOST: HostEntry = {
                unsafe fn host(args: &ArgBlock) {
                    let mut reader = Reader { args, at: ARG_FIRST };
                    // SAFETY: the emulator gives every launch a report.
                    let report = unsafe { arch::report(args) };
                    entry::finish(report, $module::$kernel($(reader.$kind$(::<$of>)?()),*));
                }
                host
            };
        }
    )*};
}

type Block = DevicePtr<u8>;

kernels! {
    requests::MallocEntry = malloc(heap, slice_mut::<Block>, scalar::<u32>);
    requests::MallocWarpEntry = malloc_warp(heap, slice_mut::<Block>, scalar::<u32>);
    requests::MallocMixedEntry = malloc_mixed(heap, slice_mut::<Block>, scalar::<Mix>);
    requests::MallocMixedWarpEntry = malloc_mixed_warp(heap, slice_mut::<Block>, scalar::<Mix>);
    requests::FreeEntry = free(heap, slice::<Block>, scalar::<u32>);
    requests::FreeWarpEntry = free_warp(heap, slice::<Block>, scalar::<u32>);
    requests::FreeMixedEntry = free_mixed(heap, slice::<Block>, scalar::<Mix>);
    requests::FreeMixedWarpEntry = free_mixed_warp(heap, slice::<Block>, scalar::<Mix>);
    contents::MarkEntry = mark(heap, slice::<Block>, scalar::<Mix>, scalar::<u32>);
    contents::VerifyEntry =
        verify(heap, slice::<Block>, slice::<AtomicWord>, scalar::<Mix>, scalar::<u32>);
    churn::ChurnEntry = churn(
        heap, slice::<AtomicWord>, scalar::<Mix>, scalar::<u32>, scalar::<u32>, scalar::<u32>
    );
    churn::StampEntry = stamp(heap, slice::<Block>, scalar::<Mix>);
    churn::RefillEntry = refill(
        heap, slice_mut::<Block>, slice_mut::<u32>, slice::<AtomicWord>, scalar::<Mix>,
        scalar::<churn::Turn>
    );
    churn::DrainEntry =
        drain(heap, slice::<Block>, slice::<u32>, slice::<AtomicWord>, scalar::<Mix>);
    sizes::EnterEntry =
        enter(heap, slice_mut::<Block>, slice_mut::<u32>, slice::<AtomicWord>);
    sizes::LeaveEntry = leave(
        heap, slice_mut::<Block>, slice::<u32>, slice::<AtomicWord>, scalar::<u32>, scalar::<u32>
    );
    growth::GrowBlockEntry =
        grow_block(heap, slice::<AtomicWord>, scalar::<u32>, scalar::<u32>, scalar::<u32>);
    growth::GrowVectorEntry =
        grow_vector(heap, slice::<AtomicWord>, scalar::<u32>, scalar::<u32>);
    handover::ProduceEntry = produce(heap, slice_mut::<Block>, scalar::<u32>);
    handover::ConsumeEntry =
        consume(heap, slice::<Block>, slice::<AtomicWord>, scalar::<u32>);
    latency::MallocTimedEntry =
        malloc_timed(heap, slice_mut::<Block>, slice_mut::<u32>, scalar::<u32>);
    replay::ReplayEntry = replay(
        heap, slice::<replay::Step>, slice::<u32>, slice_mut::<replay::Place>, slice::<AtomicWord>,
        scalar::<u32>, scalar::<u32>
    );
}

/// An emulator that does not look after blocks itself: the lab has to find out.
fn host() -> Device {
    let config = HostConfig {
        warp_width: 4,
        check_blocks: Some(false),
        ..HostConfig::default()
    };
    warpheap_host::open(config).unwrap()
}

fn row(scenario: Scenario, work: Work, part: u32) -> Row {
    let device = host();
    let lab = Lab::new(&device, 1).unwrap();
    let lab = lab.with_replay(Some(&script())).unwrap();
    let cell = Cell {
        scenario,
        case: String::new(),
        pool: POOL,
        work,
    };
    let mut pool: Pool<Broken> = device.reserve_with(cell.pool, &part).unwrap();
    let mut rows = measure(&lab, &mut pool, &cell, Call::Lane).unwrap();
    assert_eq!(rows.len(), 1);
    rows.pop().unwrap()
}

/// While no block is handed out twice, nothing is wrong; then something is.
fn caught(scenario: Scenario, work: Work) {
    let right = row(scenario, work, LARGE);
    assert!(right.right && !right.metrics.is_empty(), "{right:?}");
    let wrong = row(scenario, work, SMALL);
    assert!(!wrong.right && wrong.metrics.is_empty(), "{wrong:?}");
    assert!(wrong.status.starts_with("WRONG: "), "{wrong:?}");
}

#[test]
fn requests_that_overlap_are_caught() {
    for (scenario, mix) in [
        (Scenario::S1, Mix::one(64)),
        (Scenario::S2, Mix::powers(64, 256)),
    ] {
        caught(scenario, Work::Requests { mix, n: 64 });
    }
}

#[test]
fn churn_that_overlaps_is_caught_by_whole_contents_and_by_ends() {
    for step in [1, warpheap_bench_kernels::pattern::ENDS] {
        let work = Work::Churn {
            mix: Mix::uniform(16, 256),
            lanes: 16,
            rounds: 8,
            step,
        };
        caught(Scenario::S5, work);
    }
}

#[test]
fn a_heap_that_gives_more_than_it_has_is_caught() {
    let work = Work::Utilisation {
        size: 64,
        then: 1024,
        asking: 256,
    };
    let row = row(Scenario::S6, work, LARGE);
    assert!(!row.right && row.status.contains("overwritten"), "{row:?}");
}

#[test]
fn blocks_of_a_range_that_overlap_are_caught() {
    caught(Scenario::S7, Work::Range { size: 64, n: 64 });
}

#[test]
fn churn_of_a_heap_that_overlaps_is_caught() {
    let work = Work::Fill {
        mix: Mix::uniform(16, 64),
        percent: 1,
        operations: 100,
    };
    caught(Scenario::S10, work);
}

#[test]
fn growth_that_overlaps_is_caught() {
    let (least, doublings) = (16, 3);
    let n = 16;
    caught(
        Scenario::S11,
        Work::Realloc {
            least,
            doublings,
            n,
        },
    );
    caught(Scenario::S11, Work::Vector { elements: 40, n });
}

#[test]
fn sizes_that_change_and_overlap_are_caught() {
    let (percent, rounds) = (50, 3);
    caught(Scenario::S19, Work::Sizes { percent, rounds });
}

/// A launch in which lanes get blocks, and one in which others give them back.
fn script() -> Script {
    let event = |launch, lane: u32, call, granule| TraceEvent {
        time: 0,
        launch,
        lane,
        call,
        granule,
        bytes: 64,
    };
    let mallocs = (0..64).map(|lane| event(0, lane, TraceCall::Malloc, lane));
    let frees = (0..64).map(|lane| event(1, lane, TraceCall::Free, 63 - lane));
    let trace = Trace {
        events: mallocs.chain(frees).collect(),
        ..Trace::default()
    };
    Script::new(&trace, "a.trace").unwrap()
}

#[test]
fn a_replay_of_blocks_that_overlap_is_caught() {
    caught(Scenario::S20, Work::Replay { lanes: 64 });
}

#[test]
fn handover_of_blocks_that_overlap_is_caught() {
    caught(Scenario::S12, Work::Handover { size: 64, n: 64 });
}
