//! The rows.

/// Calls a macro with the rows of all allocators: `rows! { [then] more }` is `then! { [more] ROWS }`.
///
/// Allocators stand in the block of their folder in `device-rt/src/alloc`, with what [`Allocator`](crate::Allocator) has:
///
/// | field | what |
/// |---|---|
/// | `kind` | marks its heaps: a number below 256 that no other has, and that it keeps |
/// | `in_all` | whether `#[kernel(allocators = all)]` has it |
/// | `frees` | whether memory comes back before the heap is reset |
/// | `largest` | what bounds a block: the `Pool`, or a `Setting` |
///
/// Their order is the one in which programs and reports name them.
#[macro_export]
macro_rules! rows {
    ([$($then:tt)*] $($more:tt)*) => {
        $($then)*! { [$($more)*]
            bump {
                Bump { kind: 1, in_all: true, frees: false, largest: Pool }
            }
            scatter {
                ScatterAlloc { kind: 2, in_all: true, frees: true, largest: Setting }
            }
            warp_heap {
                WarpHeap { kind: 3, in_all: true, frees: true, largest: Pool }
            }
            ouroboros {
                OuroborosPS { kind: 10, in_all: true, frees: true, largest: Setting }
                OuroborosPVA { kind: 11, in_all: true, frees: true, largest: Setting }
                OuroborosPVL { kind: 12, in_all: true, frees: true, largest: Setting }
                OuroborosCS { kind: 13, in_all: true, frees: true, largest: Setting }
                OuroborosCVA { kind: 14, in_all: true, frees: true, largest: Setting }
                OuroborosCVL { kind: 15, in_all: true, frees: true, largest: Setting }
                OuroborosMixed { kind: 16, in_all: false, frees: true, largest: Setting }
            }
            gallatin {
                Gallatin { kind: 20, in_all: true, frees: true, largest: Pool }
            }
            random_walk {
                RandomWalk { kind: 30, in_all: true, frees: true, largest: Setting }
                RandomWalkBitmap { kind: 31, in_all: true, frees: true, largest: Setting }
                CollaborativeWalk { kind: 32, in_all: true, frees: true, largest: Setting }
                ClusteredWalk { kind: 33, in_all: true, frees: true, largest: Setting }
                RandomWalkMalloc { kind: 34, in_all: true, frees: true, largest: Setting }
            }
            lists {
                SizeList { kind: 40, in_all: true, frees: true, largest: Pool }
                MpList { kind: 41, in_all: true, frees: true, largest: Pool }
            }
            direct {
                DirectOutput { kind: 42, in_all: true, frees: false, largest: Pool }
            }
            cuda_malloc {
                CudaMalloc { kind: 43, in_all: false, frees: true, largest: Setting }
            }
        }
    };
}
