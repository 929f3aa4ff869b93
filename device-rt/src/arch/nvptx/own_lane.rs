//! The lane's own bit in masks, for code that the builder does not see.

use super::asm;

/// `lanes` of the calling lane's `activemask` with its own bit added, which is set anyway. The assembler then knows that
/// other lanes may have other masks.
///
/// `warpheap_ptx` knows it by its text. Compilers may move inline PTX, which does no harm here: the result is the same
/// wherever it stands.
#[inline(always)]
pub(super) fn with(lanes: i32) -> i32 {
    let own: i32;
    // SAFETY: reads a special register.
    unsafe {
        asm!(
            "{{ .reg .b32 %own; mov.u32 %own, %lanemask_eq; or.b32 {mask}, {lanes}, %own; }}",
            lanes = in(reg32) lanes,
            mask = lateout(reg32) own,
            options(nomem, nostack, preserves_flags),
        );
    }
    own
}
