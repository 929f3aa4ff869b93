//! The ways of malloc that most requests do not take: what is left to do after the quick way of a whole warp.
//!
//! On CUDA this is one function of an image, which kernels call. In place of each call it costs more than the call:
//! registers that the quick way then keeps in memory, and code that the caches have no room for, in every kernel that
//! allocates in several places. SPIR-V has no calls that keep pointers to a heap, and
//! drivers put all code in place.

use super::quick::Quick;
use super::{Answer, Ask, WarpHeap};
use crate::arch::{Group, where_calls, where_no_calls};

where_calls! {
    mod called;
}

where_no_calls! {
    impl WarpHeap {
        /// Collective: serves the lanes that have no block yet.
        #[inline(always)]
        pub(super) fn rest(self, group: Group, ask: Ask, quick: Quick) -> Answer {
            self.serve(group, ask, quick)
        }
    }
}
