//! The conformance suite of warpheap: what a user of any allocator on any backend relies on.
//!
//! Every test is a function generic over the allocator that takes a [`Site`], an opened device with
//! the suite's kernels. [`conformance!`] makes `#[test]`s of all of them for every allocator of the
//! library's list. The files in `tests/` say where: the emulator at several warp widths and under
//! explored schedules, Vulkan, CUDA. A new allocator gets all of this with its row in
//! `warpheap-allocators`; a new test needs its line in [`all_tests!`].
//!
//! | module | what |
//! |---|---|
//! | [`site`] | devices to test on |
//! | [`heap`] | a heap under test: runs programs on it and checks what came of them |
//! | [`blocks`] | blocks that the host allocates one by one |
//! | [`arena`] | a heap with arenas of warps under test |
//! | [`oracle`] | which blocks were live together, and whether they overlap |
//! | [`suite`] | the tests |
//! | [`compiled`] | the tests for each allocator, compiled once |
//! | [`walks`] | steps of random walks, measured and expected |

pub mod arena;
pub mod blocks;
pub mod heap;
pub mod oracle;
pub mod site;
pub mod suite;
pub mod walks;

pub use heap::{Failures, TestHeap};
pub use site::Site;
pub use suite::Subject;

/// Makes tests of the whole suite for every allocator. `fn site() -> Option<Site>` must be in scope;
/// where it gives none, the tests are skipped.
#[macro_export]
macro_rules! conformance {
    () => {
        use $crate::suite_of;
        ::warpheap_rt::for_each_allocator! { suite_of }
    };
}

/// The suite for a list of allocators; called by [`conformance!`].
#[macro_export]
macro_rules! suite_of {
    ($($allocator:ident),* $(,)?) => {$(
        #[allow(non_snake_case)]
        mod $allocator {
            $crate::all_tests! { compiled_tests $allocator }
        }
    )*};
}

/// Gives a macro of this crate the list of all tests of an allocator.
#[macro_export]
macro_rules! all_tests {
    ($given:ident $allocator:ident) => {
        $crate::$given! { $allocator:
            blocks: alignments, sizes, zero_sizes, mixed_sizes, divergent_callers, callocs,
                arrays, absurd_requests;
            branches: vectors, blocks;
            lifetime: outlive_launches, freed_elsewhere, handed_over, rounds_without_growth,
                reset_heap;
            exhaustion: one_lane_fills, all_lanes_fill, other_sizes_afterwards, largest_block;
            resize: grows_and_shrinks, keeps_block_on_failure;
            compaction: keeps_contents;
            rounded: whole_blocks, takes_the_same, absurd_requests;
            warp: together, some_lanes, out_of_memory;
            workgroup: one_for_all, out_of_memory, absurd_requests;
            vectors: like_a_vec, across_launches, relocated, out_of_memory, nested, kernel_runs_out;
            random: programs, churn;
            counted: exact_counts;
            pools: too_small, too_large, stats_tell_usage, stats_tell_longest_stretch,
                stats_while_kernels_run, host_allocates, host_owns, reset_ends_vectors;
            snapshots: parts_add_up, after_streams, grown;
            growth: while_full, shrinks_to_blocks, changes_in_between, host_keeps, runs_again,
                two_heaps, impossible;
            streams: one_heap;
        }
    };
}

/// The suite for each allocator, compiled once for all test programs.
pub mod compiled {
    /// The functions of a list of allocators.
    macro_rules! functions_of {
        ($($allocator:ident),* $(,)?) => {$(
            #[allow(non_snake_case, missing_docs)]
            pub mod $allocator {
                $crate::all_tests! { compiled_functions $allocator }
            }
        )*};
    }
    warpheap_rt::for_each_allocator! { functions_of }
}

/// Makes the functions of [`compiled`] of one allocator.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_functions {
    ($allocator:ident: $($module:ident: $($test:ident),* $(,)?;)*) => {$(
        pub mod $module {
            $(
                #[inline(never)]
                pub fn $test(site: &$crate::Site) {
                    $crate::suite::$module::$test::<::warpheap_rt::alloc::$allocator>(site);
                }
            )*
        }
    )*};
}

/// Makes tests of the functions of [`compiled`] of one allocator.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_tests {
    ($allocator:ident: $($module:ident: $($test:ident),* $(,)?;)*) => {$(
        mod $module {
            $(
                #[test]
                fn $test() {
                    if let Some(site) = super::super::site() {
                        $crate::compiled::$allocator::$module::$test(&site);
                    }
                }
            )*
        }
    )*};
}

/// Makes tests of functions of the suite.
#[macro_export]
macro_rules! tests_of {
    ($allocator:ident: $($module:ident: $($test:ident),* $(,)?;)*) => {$(
        mod $module {
            $(
                #[test]
                fn $test() {
                    if let Some(site) = super::super::site() {
                        $crate::suite::$module::$test::<super::$allocator>(&site);
                    }
                }
            )*
        }
    )*};
}
