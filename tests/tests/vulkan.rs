//! The suite on a Vulkan device. Without one the tests are skipped, with a line on standard error;
//! `WARPHEAP_REQUIRE_VULKAN=1` makes that a failure.

use warpheap_tests::Site;

fn site() -> Option<Site> {
    Site::vulkan()
}

warpheap_tests::conformance! {}
warpheap_tests::launch_tests! {}
warpheap_tests::stream_tests! {}
warpheap_tests::whole_heap_tests! {}
warpheap_tests::forward_tests! {}
