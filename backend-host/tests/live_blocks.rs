//! Frees and resizings of blocks that are not so are stopped, with a message that says where; fresh heaps have no live blocks.

mod common;

use common::{args, assert_tells, device, exploring, heap, launch, stopped};
use warpheap_api::Layout;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::HostEntry;
use warpheap_host::HostConfig;
use warpheap_rt::alloc::Bump;
use warpheap_rt::arch;
use warpheap_rt::thread as lane;

/// Frees what it took, twice in lane 6.
unsafe fn free_twice(args: &ArgBlock) {
    let (heap, layout) = (heap(args), Layout::new::<[u32; 8]>());
    if let Ok(ptr) = heap.malloc(layout) {
        // SAFETY: the block is the lane's; that lane 6 frees it once more is what is tested, and a
        // bump allocator does not mind.
        unsafe {
            heap.free(ptr, layout);
            if lane::lane() == 6 {
                heap.free(ptr, layout);
            }
        }
    }
}

#[test]
fn a_block_that_is_freed_twice_is_stopped() {
    let run = device(HostConfig {
        warp_width: 8,
        check_blocks: Some(true),
        ..HostConfig::default()
    });
    for device in [run, exploring(8, 1)] {
        let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        let message = stopped(
            &device,
            "free_twice",
            free_twice,
            (1, 8),
            args([pool.arg()]),
        );
        assert_tells(
            &message,
            "free_twice",
            "block 0, warp 0, lane 6: free of a block of 32 bytes",
            &["of the heap in argument 1, which is not live: it was freed before"],
        );
    }
}

/// Takes a block and gives it back; lane 3 does so as if it were half as large.
unsafe fn free_half(args: &ArgBlock) {
    let (heap, layout) = (heap(args), Layout::new::<[u32; 8]>());
    if let Ok(ptr) = heap.malloc(layout) {
        let half = Layout::new::<[u32; 4]>();
        let said = if lane::lane() == 3 { half } else { layout };
        // SAFETY: the block is the lane's; that a lane says another layout is what is tested, and a bump allocator does
        // not mind.
        unsafe { heap.free(ptr, said) };
    }
}

/// Takes a block and resizes it; lane 5 does so as if it had a word more.
unsafe fn resize_more(args: &ArgBlock) {
    let (heap, layout) = (heap(args), Layout::new::<[u32; 8]>());
    if let Ok(ptr) = heap.malloc(layout) {
        let more = Layout::new::<[u32; 9]>();
        let said = if lane::lane() == 5 { more } else { layout };
        // SAFETY: as above.
        let _ = unsafe { heap.realloc(ptr, said, 64) };
    }
}

#[test]
fn a_block_that_is_freed_or_resized_with_another_size_is_stopped() {
    let kernels: [(&str, HostEntry, &str); 2] = [
        (
            "free_half",
            free_half,
            "block 0, warp 0, lane 3: free of a block of 16 bytes",
        ),
        (
            "resize_more",
            resize_more,
            "block 0, warp 0, lane 5: realloc of a block of 36 bytes",
        ),
    ];
    for (name, entry, what) in kernels {
        let device = exploring(8, 1);
        let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        let message = stopped(&device, name, entry, (1, 8), args([pool.arg()]));
        let told = "of the heap in argument 1, which has 32 bytes: say the layout that it was allocated with";
        assert_tells(&message, name, what, &[told]);
    }
}

/// Takes a block and leaves it allocated.
unsafe fn leak(args: &ArgBlock) {
    let taken = heap(args).malloc(Layout::new::<[u32; 4]>());
    // SAFETY: the emulator passes the report.
    warpheap_rt::entry::finish(unsafe { arch::report(args) }, taken.map(|_| ()));
}

#[test]
fn a_heap_that_is_formatted_again_has_no_live_blocks() {
    let device = exploring(4, 3);
    let mut pool = device.reserve::<Bump>(64 << 10).expect("a pool");
    for _ in 0..3 {
        launch(&device, "leak", leak, (1, 4), args([pool.arg()])).expect("fresh blocks");
        pool.reset().expect("it can be formatted");
    }
    // Another heap may get the same memory.
    for _ in 0..3 {
        drop(pool);
        pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        launch(&device, "leak", leak, (1, 4), args([pool.arg()])).expect("fresh blocks");
    }
}
