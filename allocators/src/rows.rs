//! The rows.

/// Calls a macro with the rows of all allocators: `rows! { [then] more }` is `then! { [more] ROWS }`.
///
/// Allocators stand in the block of their folder in `device-rt/src/alloc`, with what [`Allocator`](crate::Allocator) has:
///
/// | field | what |
/// |---|---|
/// | `kind` | marks its heaps: a number below 256 that no other has, and that it keeps |
/// | `listed` | whether `#[kernel(allocators = all)]` has it |
/// | `frees` | whether memory comes back before the heap is reset |
/// | `largest` | what bounds a block: the `Pool`, or a `Setting` |
///
/// Their order is the one in which programs and reports name them.
#[macro_export]
macro_rules! rows {
    ([$($then:tt)*] $($more:tt)*) => {
        $($then)*! { [$($more)*]
            bump {
                Bump { kind: 1, listed: true, frees: false, largest: Pool }
            }
            scatter {
                ScatterAlloc { kind: 2, listed: true, frees: true, largest: Setting }
            }
            warp_heap {
                WarpHeap { kind: 3, listed: true, frees: true, largest: Pool }
            }
            ouroboros {
                OuroborosPS { kind: 10, listed: true, frees: true, largest: Setting }
                OuroborosPVA { kind: 11, listed: true, frees: true, largest: Setting }
                OuroborosPVL { kind: 12, listed: true, frees: true, largest: Setting }
                OuroborosCS { kind: 13, listed: true, frees: true, largest: Setting }
                OuroborosCVA { kind: 14, listed: true, frees: true, largest: Setting }
                OuroborosCVL { kind: 15, listed: true, frees: true, largest: Setting }
                OuroborosMixed { kind: 16, listed: false, frees: true, largest: Setting }
            }
            gallatin {
                Gallatin { kind: 20, listed: true, frees: true, largest: Pool }
            }
            random_walk {
                RandomWalk { kind: 30, listed: true, frees: true, largest: Setting }
                RandomWalkBitmap { kind: 31, listed: true, frees: true, largest: Setting }
                CollaborativeWalk { kind: 32, listed: true, frees: true, largest: Setting }
                ClusteredWalk { kind: 33, listed: true, frees: true, largest: Setting }
                RandomWalkMalloc { kind: 34, listed: true, frees: true, largest: Setting }
            }
            lists {
                SizeList { kind: 40, listed: true, frees: true, largest: Pool }
                MpList { kind: 41, listed: true, frees: true, largest: Pool }
            }
            direct {
                DirectOutput { kind: 42, listed: true, frees: false, largest: Pool }
            }
            cuda_malloc {
                CudaMalloc { kind: 43, listed: false, frees: true, largest: Setting }
            }
        }
    };
}
