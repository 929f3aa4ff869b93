//! Eight hundred explored schedules for each allocator: the seeds of five warp widths.

macro_rules! explored {
    ($($allocator:ident),* $(,)?) => {$(
        #[allow(non_snake_case)]
        mod $allocator {
            use warpheap_rt::alloc::$allocator;
            use warpheap_tests::suite::explore::schedules;

            #[test]
            fn width_1() {
                schedules::<$allocator>(1, 0..160);
            }
            #[test]
            fn width_4() {
                schedules::<$allocator>(4, 0..160);
            }
            #[test]
            fn width_8() {
                schedules::<$allocator>(8, 0..160);
            }
            #[test]
            fn width_32() {
                schedules::<$allocator>(32, 0..160);
            }
            #[test]
            fn width_64() {
                schedules::<$allocator>(64, 0..160);
            }
        }
    )*};
}

warpheap_rt::for_each_allocator! { explored }
