//! Explored schedules of each allocator in the emulator's model of memory: nothing races, and whoever gets a block knows
//! what its former owner did.

use warpheap_tests::Site;
use warpheap_tests::suite::explore::schedules_on;

macro_rules! modelled {
    ($($allocator:ident),* $(,)?) => {$(
        #[allow(non_snake_case)]
        mod $allocator {
            use super::*;
            use warpheap_rt::alloc::$allocator;

            #[test]
            fn width_1() {
                schedules_on::<$allocator>(Site::modelled, 1, 0..100);
            }
            #[test]
            fn width_4() {
                schedules_on::<$allocator>(Site::modelled, 4, 0..100);
            }
            #[test]
            fn width_32() {
                schedules_on::<$allocator>(Site::modelled, 32, 0..40);
            }
        }
    )*};
}

warpheap_rt::for_each_allocator! { modelled }
