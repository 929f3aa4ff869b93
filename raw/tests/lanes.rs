//! The device half in the emulator, in memory that no pool owns.
#![cfg(feature = "host")]

use std::alloc::{GlobalAlloc, Layout as Bytes, alloc, dealloc};
use std::sync::Mutex;
use std::time::Duration;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{Args, HostAlloc, KernelImage, LaunchConfig, Prepared};
use warpheap_host::HostConfig;
use warpheap_raw::host::Layout;
use warpheap_raw::*;

const BYTES: u64 = 8 << 20;
const LANES: u32 = 256;

/// Memory where a heap may begin, full of garbage.
struct Memory(*mut u32);

impl Memory {
    const BYTES: Bytes = match Bytes::from_size_align(BYTES as usize, 64 << 10) {
        Ok(bytes) => bytes,
        Err(_) => panic!("a power of two"),
    };

    fn heap<A: HostAlloc<Memory = Words>>() -> (Memory, Layout<A>, RawHeap) {
        // SAFETY: so many bytes are not none.
        let memory = Memory(unsafe { alloc(Self::BYTES) }.cast());
        // SAFETY: as many as were allocated, and nobody else knows of them.
        unsafe { memory.0.write_bytes(0xa5, BYTES as usize / 4) };
        let layout = Layout::of(BYTES).expect("room");
        // SAFETY: as above, and written to.
        layout.set(unsafe { std::slice::from_raw_parts_mut(memory.0, BYTES as usize / 4) });
        let heap = layout.heap(memory.0 as u64).expect("aligned");
        (memory, layout, heap)
    }

    fn used<A: HostAlloc<Memory = Words>>(&self, layout: &Layout<A>) -> u64 {
        let read = |offset: u64, words: &mut [u32]| {
            // SAFETY: offsets are within the heap, and no kernel runs.
            let from =
                unsafe { std::slice::from_raw_parts(self.0.add(offset as usize / 4), words.len()) };
            words.copy_from_slice(from);
            Ok::<(), ()>(())
        };
        layout.usage(read).expect("a heap").used_bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.0.cast(), Self::BYTES) }
    }
}

/// Runs an entry in the emulator.
fn run(width: u32, entry: unsafe fn(&ArgBlock)) {
    const IMAGE: KernelImage = KernelImage {
        name: "raw",
        ptx: None,
        spirv: None,
    };
    let device = warpheap_host::open(HostConfig {
        warp_width: width,
        threads: 2,
        watchdog: Duration::from_secs(20),
        ..HostConfig::default()
    });
    let module = device
        .expect("settings are in range")
        .load(&IMAGE)
        .expect("any image");
    let shape = LaunchConfig {
        grid_dim: LANES / 64,
        block_dim: 64,
    };
    // SAFETY: the entries of this file take no arguments.
    let launch = unsafe { Prepared::new(module, "lanes", entry, shape, Args::new()) };
    launch.run().expect("it works");
}

/// Each lane allocates blocks of its own sizes in branches, as long as it can, fills and checks them, and frees them.
fn branches(alloc: impl Fn(Bytes) -> *mut u8, free: impl Fn(*mut u8, Bytes)) {
    let lane = thread::index();
    let mut held: Vec<(*mut u8, Bytes)> = Vec::new();
    for k in 0..6 {
        let size = match lane % 3 {
            0 => 16 << k,
            1 => 1 + (lane as usize * 7 + k) % 300,
            _ if k % 2 == 0 => 4096,
            _ => continue,
        };
        let layout = Bytes::from_size_align(size, 8).expect("a power of two");
        let block = alloc(layout);
        assert!(!block.is_null() && block as usize % 8 == 0);
        // SAFETY: so many bytes were asked for.
        unsafe { block.write_bytes(lane as u8, size) };
        held.push((block, layout));
    }
    for (block, layout) in held {
        // SAFETY: this lane wrote to all of it.
        let bytes = unsafe { std::slice::from_raw_parts(block, layout.size()) };
        assert!(
            bytes.iter().all(|&byte| byte == lane as u8),
            "another lane wrote to it"
        );
        free(block, layout);
    }
}

/// The heap of the test that runs.
static HEAP: Mutex<RawHeap> = Mutex::new(RawHeap::NONE);
/// One test at a time.
static TURN: Mutex<()> = Mutex::new(());

unsafe fn by_pointer<A: HeapHandle<Memory = Words>>(_: &ArgBlock) {
    let heap = *HEAP.lock().expect("no lane panicked");
    // SAFETY: the test laid it out and keeps it.
    let heap: Heap<A> = unsafe { heap.attach() }.expect("a heap of this allocator");
    branches(
        |layout| heap.malloc_ptr(layout),
        // SAFETY: each block is freed once, with its layout.
        |block, layout| unsafe { heap.free_ptr(block, layout) },
    );
}

fn lanes_allocate<A: HostAlloc<Memory = Words>>() {
    for width in [1, 4, 32] {
        let (memory, layout, heap) = Memory::heap::<A>();
        *HEAP.lock().expect("no lane panicked") = heap;
        run(width, by_pointer::<A>);
        if A::CAPS.frees {
            assert_eq!(memory.used(&layout), 0, "{} at width {width}", A::NAME);
        }
    }
}

#[test]
fn lanes_allocate_in_memory_of_no_pool() {
    let _turn = TURN.lock().expect("the others pass");
    lanes_allocate::<WarpHeap>();
    lanes_allocate::<ScatterAlloc>();
    lanes_allocate::<Gallatin>();
    lanes_allocate::<Bump>();
}

/// Each lane asks for whole blocks, and writes to all of them.
unsafe fn whole_blocks<A: HeapHandle<Memory = Words>>(_: &ArgBlock) {
    let heap = *HEAP.lock().expect("no lane panicked");
    // SAFETY: the test laid it out and keeps it.
    let heap: Heap<A> = unsafe { heap.attach() }.expect("a heap of this allocator");
    branches(
        |layout| {
            let whole = heap.rounded(layout);
            assert!(whole.size() >= layout.size() && whole.align() >= layout.align());
            assert_eq!(heap.rounded(whole), whole);
            let block = heap.malloc_ptr(whole);
            if !block.is_null() {
                // SAFETY: so many bytes were asked for.
                unsafe { block.write_bytes(0xee, whole.size()) };
            }
            block
        },
        // SAFETY: each block is freed once, with its layout.
        |block, layout| unsafe { heap.free_ptr(block, heap.rounded(layout)) },
    );
}

#[test]
fn lanes_ask_for_whole_blocks() {
    let _turn = TURN.lock().expect("the others pass");
    let (memory, layout, heap) = Memory::heap::<WarpHeap>();
    *HEAP.lock().expect("no lane panicked") = heap;
    run(32, whole_blocks::<WarpHeap>);
    assert_eq!(memory.used(&layout), 0);
    let (_memory, _, heap) = Memory::heap::<ScatterAlloc>();
    *HEAP.lock().expect("no lane panicked") = heap;
    run(32, whole_blocks::<ScatterAlloc>);
}

static GLOBAL: GlobalHeap<WarpHeap> = GlobalHeap::unbound();

unsafe fn by_global(_: &ArgBlock) {
    // SAFETY: no size is zero, and each block is given back once, with its layout.
    branches(
        |layout| unsafe { GLOBAL.alloc(layout) },
        // SAFETY: the same.
        |block, layout| unsafe { GLOBAL.dealloc(block, layout) },
    );
}

#[test]
fn the_global_allocator_takes_from_the_heap_that_it_is_bound_to() {
    let _turn = TURN.lock().expect("the others pass");
    let layout = |size, align| Bytes::from_size_align(size, align).expect("a power of two");
    let small = layout(64, 8);
    // SAFETY: no size is zero; blocks are given back with their layouts, or are of nobody and left alone; nothing else uses
    // the static, since tests take turns.
    unsafe {
        assert!(GLOBAL.alloc(small).is_null(), "no heap is bound");
        assert!(GLOBAL.realloc(16 as *mut u8, small, 128).is_null());
        GLOBAL.dealloc(16 as *mut u8, small);
        let (_other, _, of_another) = Memory::heap::<ScatterAlloc>();
        GLOBAL.bind(of_another);
        assert!(GLOBAL.alloc(small).is_null(), "a heap of another allocator");

        let (memory, heap_layout, heap) = Memory::heap::<WarpHeap>();
        GLOBAL.bind(heap);
        for never in [
            layout(1 << 40, 8),
            layout(64, 1 << 20),
            layout(usize::MAX >> 1, 1),
        ] {
            assert!(GLOBAL.alloc(never).is_null(), "{never:?}");
        }
        for align in [1, 16, 256, 4096, 64 << 10] {
            let asked = layout(100, align);
            let block = GLOBAL.alloc(asked);
            assert!(!block.is_null() && block as usize % align == 0, "{align}");
            GLOBAL.dealloc(block, asked);
        }
        let block = GLOBAL.alloc_zeroed(small);
        assert!((0..64).all(|i| *block.add(i) == 0));
        block.write_bytes(7, 64);
        let grown = GLOBAL.realloc(block, small, 5000);
        assert!((0..64).all(|i| *grown.add(i) == 7));
        assert!(
            GLOBAL.realloc(grown, layout(5000, 8), 1 << 40).is_null(),
            "no room"
        );
        assert!((0..64).all(|i| *grown.add(i) == 7), "it stays");
        let mut elsewhere = 0u64;
        GLOBAL.dealloc((&raw mut elsewhere).cast(), layout(8, 8));
        GLOBAL.dealloc(grown, layout(5000, 8));
        assert_eq!(memory.used(&heap_layout), 0);

        let mut held = Vec::new();
        loop {
            let block = GLOBAL.alloc(layout(64 << 10, 8));
            if block.is_null() {
                break;
            }
            held.push(block);
        }
        assert!(held.len() > 64, "{} blocks", held.len());
        held.into_iter()
            .for_each(|block| GLOBAL.dealloc(block, layout(64 << 10, 8)));
        assert_eq!(memory.used(&heap_layout), 0);

        run(32, by_global);
        assert_eq!(memory.used(&heap_layout), 0);
        GLOBAL.bind(RawHeap::NONE);
        assert!(GLOBAL.alloc(small).is_null());
    }
}

#[test]
fn a_heap_of_another_allocator_is_none() {
    let _turn = TURN.lock().expect("the others pass");
    let (_memory, _, heap) = Memory::heap::<WarpHeap>();
    // SAFETY: it was laid out.
    unsafe {
        assert!(heap.attach::<WarpHeap>().is_some());
        assert!(
            heap.attach::<Counted<WarpHeap>>().is_some(),
            "the same heap"
        );
        assert!(heap.attach::<ScatterAlloc>().is_none());
        assert!(RawHeap::NONE.attach::<WarpHeap>().is_none());
    }
}
