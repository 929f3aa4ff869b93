//! What a block of lanes does together, under two hundred explored schedules for each allocator: the
//! seeds of five warp widths.

macro_rules! explored {
    ($($allocator:ident),* $(,)?) => {$(
        #[allow(non_snake_case)]
        mod $allocator {
            use warpheap_rt::alloc::$allocator;
            use warpheap_tests::suite::workgroup::schedules;

            #[test]
            fn every_width() {
                for width in [1, 4, 8, 32, 64] {
                    schedules::<$allocator>(width, 0..40);
                }
            }
        }
    )*};
}

warpheap_rt::for_each_allocator! { explored }
