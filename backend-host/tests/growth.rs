//! Launches that grow a heap: which one, and which do not.

mod common;

use common::{args, heap, prepare, running, words_after_heap};
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{DeviceError, DeviceVec, Growth};
use warpheap_api::{AllocError, Layout};
use warpheap_rt::alloc::Bump;
use warpheap_rt::{arch, entry};

const LESS: u64 = 64 << 10;
const MORE: u64 = 1 << 20;

fn finish(args: &ArgBlock, outcome: Result<(), AllocError>) {
    // SAFETY: the emulator passes the report.
    entry::finish(unsafe { arch::report(args) }, outcome);
}

/// Every lane takes a block of 1 KiB of the first heap.
unsafe fn take(args: &ArgBlock) {
    let taken = heap(args).malloc(Layout::new::<[u32; 256]>());
    finish(args, taken.map(|_| ()));
}

/// The same, until the word behind the heap is 0, which it counts down: then it fails for another reason.
unsafe fn take_some(args: &ArgBlock) {
    let taken = heap(args).malloc(Layout::new::<[u32; 256]>());
    let left = words_after_heap(args)[0].fetch_sub(1);
    finish(
        args,
        match left {
            0 => Err(AllocError::Unsupported),
            _ => taken.map(|_| ()),
        },
    );
}

/// As long as the heap that is to grow is the full one, and the reason is that it is full.
#[test]
fn only_a_heap_that_is_full_grows() {
    let device = running(4);
    let grows = || device.reserve_growing::<Bump>(LESS, MORE).expect("a pool");
    let growth = Growth::double();
    let (mut full, mut other) = (grows(), grows());
    let both = args([full.arg(), other.arg()]);
    let launch = prepare(&device, "take", take, (25, 4), both);
    // The first heap has no room, the second one has and is the one that may grow.
    match other.launch_or_grow(&launch, growth) {
        Err(DeviceError::Kernel(failure)) => assert!(failure.by_cause[0] > 0, "{failure}"),
        result => panic!("{result:?}"),
    }
    assert_eq!((full.bytes(), other.bytes()), (LESS, LESS));
    full.launch_or_grow(&launch, growth).expect("it grows");
    assert!(full.bytes() >= 100 << 10 && full.bytes() < MORE);
    assert_eq!(other.bytes(), LESS);

    // Lanes that fail for another reason fail in a larger heap, too.
    let mut pool = grows();
    let left = DeviceVec::from_slice(&device, &[70u32]).expect("a word");
    let both = args([pool.arg(), left.arg()]);
    let launch = prepare(&device, "take_some", take_some, (25, 4), both);
    match pool.launch_or_grow(&launch, growth) {
        Err(DeviceError::Kernel(failure)) => assert_eq!(failure.by_cause[2], 1, "{failure}"),
        result => panic!("{result:?}"),
    }
    assert_eq!(pool.bytes(), LESS);
}
