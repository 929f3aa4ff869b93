//! What the expansion of `#[kernel]` is made of. Not for use by hand.

use crate::arch::{AtomicWord, Group, Words};
use crate::sync::Team;
use crate::{Heap, thread};
use warpheap_api::abi::{self, ArgBlock};
use warpheap_api::{AllocError, Element, Failure, HeapHandle, HeapMemory, HeapParams, KernelError};

/// Whether a lane's own element is changed where it lies. Where a lane that panics leaves others running, a copy would
/// be lost, and what is left may name memory that was freed.
pub const IN_PLACE: bool = crate::arch::PANICS_END_LANES;

/// What the elements of a kernel's slice are on the host's side.
pub trait SliceElement {
    /// The element of the `DeviceVec` that is passed.
    type Host: Element;
}

impl<T: Element> SliceElement for T {
    type Host = T;
}

impl SliceElement for AtomicWord {
    type Host = u32;
}

/// Does nothing, for what can be an element on this target.
pub const fn is_element<T: SliceElement>() {}

/// What a kernel may return.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot return `{Self}`",
    note = "it returns nothing, `Result<(), AllocError>` or `Result<(), Failure<E>>` with errors of its own; values \
            go into a slice"
)]
pub trait Outcome {
    /// Whether there are errors beside the heap's.
    const OWN: bool = false;

    /// 0, or the code of the error.
    fn code(self) -> u32;
}

impl Outcome for () {
    #[inline(always)]
    fn code(self) -> u32 {
        0
    }
}

impl Outcome for Result<(), AllocError> {
    #[inline(always)]
    fn code(self) -> u32 {
        match self {
            Ok(()) => 0,
            Err(error) => error.code(),
        }
    }
}

impl<E: KernelError> Outcome for Result<(), Failure<E>> {
    const OWN: bool = true;
    #[inline(always)]
    fn code(self) -> u32 {
        match self {
            Ok(()) => 0,
            Err(failure) => failure.code(),
        }
    }
}

/// The parameters of the heap whose words begin at `at` in the block.
#[inline(always)]
fn heap_params(args: &ArgBlock, at: usize) -> HeapParams {
    let p = at + abi::HEAP_WORDS - abi::HEAP_PARAMS;
    let w = &args.words;
    [
        w[p],
        w[p + 1],
        w[p + 2],
        w[p + 3],
        w[p + 4],
        w[p + 5],
        w[p + 6],
        w[p + 7],
    ]
}

/// The heap in `words`, whose arguments begin at `at`.
///
/// # Safety
/// The arguments describe the heap in `words`, which is one of `A`'s.
#[inline(always)]
pub unsafe fn heap<A: HeapHandle<Memory = Words>>(
    words: Words,
    args: &ArgBlock,
    at: usize,
) -> Heap<A> {
    // SAFETY: the caller's promise.
    unsafe { Heap::attach(words, heap_params(args, at)) }
}

/// Writes what a lane returned into the launch's report. Lanes that fail here together add once for each cause.
#[inline(always)]
pub fn finish<R: Outcome>(report: Words, outcome: R) {
    let code = outcome.code();
    if code != 0 {
        let team = Team::by_key(Group::here(), code);
        if team.leads() {
            report.fetch_add(abi::REPORT_ERRORS, team.count());
            if !R::OWN || code <= AllocError::Unsupported.code() {
                report.fetch_add(abi::REPORT_BY_CODE + code as usize - 1, team.count());
            }
            // A look first: all but a few come too late to be the first.
            if report.load(abi::REPORT_CODE) == 0
                && report.compare_exchange(abi::REPORT_CODE, 0, code) == 0
            {
                report.store(abi::REPORT_BLOCK, thread::block_index());
                report.store(abi::REPORT_LANE, thread::index_in_block());
            }
        }
    }
}
