//! The layout of the whole block, as kernels see it: the same as on the host, with which `rounded` of the conformance suite
//! holds that it is right.

use warpheap_api::HeapHandle;
use warpheap_api::host::{DeviceVec, LaunchConfig};
use warpheap_api::layout;
use warpheap_container_tests::Site;
use warpheap_parameter_kernels::{RoundUpEntry, load};
use warpheap_rt::arch::Words;

/// Bytes, at and beside borders of classes.
const SIZES: [u32; 16] = [
    0,
    1,
    16,
    17,
    40,
    129,
    1000,
    1025,
    4096,
    4097,
    8193,
    70_000,
    131_073,
    300_000,
    5_000_000,
    1 << 30,
];

fn kernels_round_as_the_host<A: RoundUpEntry + HeapHandle<Memory = Words>>(site: &Site) {
    let pool = site.heap::<A>(8 << 20);
    let arg = pool.raw().heap_arg();
    // SAFETY: no word is looked at: no allocator of the library does when it is attached on the host, or when it rounds.
    let heap = unsafe { A::attach(Words::from_address(0, arg.words()), arg.params()) };
    let kernels = load(&site.device).expect("the kernels load");
    let bytes = DeviceVec::from_slice(&site.device, &SIZES).unwrap();
    for align in [1, 16, 64, 4096] {
        let mut whole = DeviceVec::zeroed(&site.device, SIZES.len()).unwrap();
        let config = LaunchConfig::for_num_elems(SIZES.len() as u32);
        let launch = kernels.round_up(&pool, config, &bytes, align, &mut whole);
        launch.expect("rounded");
        let whole: Vec<u32> = whole.to_vec().unwrap();
        for (size, whole) in SIZES.into_iter().zip(whole) {
            let layout = layout::aligned(size as usize, align as usize);
            let expected = heap.rounded(layout).size();
            assert_eq!(whole as usize, expected, "{}: {layout:?}", A::NAME);
        }
    }
}

fn all(site: &Site) {
    macro_rules! each {
        ($($allocator:ident),* $(,)?) => {$(
            kernels_round_as_the_host::<warpheap_rt::alloc::$allocator>(site);
        )*};
    }
    warpheap_rt::for_each_allocator!(each);
}

#[test]
fn host() {
    all(&Site::host(4));
}

warpheap_container_tests::on_gpus!(all);
