//! Settings that are made for a size.

use warpheap::{Device, HostAlloc};
use warpheap_rt::device::*;

/// A heap for blocks of up to a size serves them, and says so.
fn serves<A: HostAlloc>(device: &Device) {
    for bytes in [16u32, 64, 100, 2048] {
        let config = A::config_for(bytes);
        let largest = A::largest_block(&config);
        assert!(
            largest >= bytes.into(),
            "{}: {largest} for {bytes}",
            A::NAME
        );
        let pool = device.reserve_with::<A>(4 << 20, &config);
        let pool = pool.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        let block = pool.malloc(layout::bytes(bytes as usize));
        assert!(block.is_ok(), "{}, {bytes} bytes: {block:?}", A::NAME);
        // One that is larger is refused as such, where all have one size.
        if largest < 1 << 20 {
            let more = pool.malloc(layout::bytes(largest as usize + 1));
            assert!(more.is_err(), "{}: more than {largest} bytes", A::NAME);
        }
    }
}

#[test]
fn heaps_for_a_size_serve_it() {
    let device = Device::open_named(Some("host"), None).expect("the emulator");
    macro_rules! all {
        ($($allocator:ident),* $(,)?) => {$(
            serves::<$allocator>(&device);
            serves::<Counted<$allocator>>(&device);
        )*};
    }
    warpheap_rt::for_each_allocator!(all);
}
