//! The suite in the emulator, at several warp widths.

use warpheap_tests::Site;

macro_rules! at_widths {
    ($($module:ident: $width:literal),* $(,)?) => {$(
        mod $module {
            fn site() -> Option<super::Site> {
                Some(super::Site::host($width))
            }
            warpheap_tests::conformance! {}
            warpheap_tests::launch_tests! {}
            warpheap_tests::stream_tests! {}
            warpheap_tests::whole_heap_tests! {}
            warpheap_tests::forward_tests! {}
        }
    )*};
}

at_widths! { width_1: 1, width_4: 4, width_8: 8, width_32: 32, width_64: 64 }
