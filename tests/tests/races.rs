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

// Not among them: the lists and the Ouroboros family, which do race. `docs/ordering.md` says where.
modelled! {
    Bump, DirectOutput, WarpHeap, ScatterAlloc, Gallatin, RandomWalk, RandomWalkBitmap, CollaborativeWalk,
    ClusteredWalk, RandomWalkMalloc,
}
