//! Why a device-side request could not be served, and why a kernel failed.

use core::marker::PhantomData;
use core::num::NonZeroU32;

/// Why a request for memory was not served.
///
/// The three outcomes are counted separately in the heap header, where the host reads them.
/// `repr(u32)` with no variant at zero is what lets `Result<_, AllocError>` compile on every
/// device target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum AllocError {
    /// No free memory of the size and alignment that was asked for.
    Exhausted = 1,
    /// A bounded number of retries was used up while other lanes changed the same words. Memory
    /// may be free; asking again is reasonable.
    Contended = 2,
    /// This allocator never serves such a request: larger than its largest block, aligned beyond
    /// its largest alignment, or an operation that the family does not have.
    Unsupported = 3,
}

impl AllocError {
    /// The number that stands for this error in the heap header and in launch reports: 1, 2 or 3.
    #[inline(always)]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The error that this number stands for; `Unsupported` for numbers of none.
    #[inline(always)]
    pub const fn from_code(code: u32) -> Self {
        if code == AllocError::Exhausted.code() {
            AllocError::Exhausted
        } else if code == AllocError::Contended.code() {
            AllocError::Contended
        } else {
            AllocError::Unsupported
        }
    }
}

impl core::fmt::Display for AllocError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            AllocError::Exhausted => "the heap has no free block of that size",
            AllocError::Contended => "the retry bound was used up under contention",
            AllocError::Unsupported => "this allocator does not serve such a request",
        })
    }
}

impl core::error::Error for AllocError {}

/// The errors of a program's own kernels: an enum without fields, `#[repr(u32)]`, that derives it.
///
/// A kernel returns them beside those of the heap, as `Result<(), Failure<E>>`.
pub trait KernelError: Copy + 'static {
    /// The number of this error, its discriminant: below 2^31.
    fn number(self) -> u32;

    /// The error with this number, if there is one.
    fn from_number(number: u32) -> Option<Self>;
}

/// Why a lane of a kernel failed: an error of the heap or one of the program's own. Both become one by `?`
/// and `into()`.
///
/// ```text
/// #[derive(Clone, Copy, Debug, KernelError)]
/// #[repr(u32)]
/// enum Trouble { TooDeep = 1, NotSorted }
///
/// #[kernel(allocators = all)]
/// fn descend<A: DeviceAlloc>(heap: Heap<A>, node: &mut Node) -> Result<(), Failure<Trouble>> {
///     let block = heap.malloc(layout::bytes(64))?;       // an AllocError
///     if node.depth > 40 {
///         return Err(Trouble::TooDeep.into());
///     }
///     …
/// ```
///
/// One word that is never zero, since a `Result<(), _>` of that compiles on every device target.
#[derive(Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Failure<E> {
    code: NonZeroU32,
    own: PhantomData<fn() -> E>,
}

impl<E> Clone for Failure<E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Failure<E> {}

/// Codes of a program's own errors are their numbers, and this more.
const FIRST_OWN: u32 = 16;
/// All bits that the number of such an error may have.
const OWN_BITS: u32 = u32::MAX >> 1;

impl<E> Failure<E> {
    /// The number that stands for it in a launch report.
    #[inline(always)]
    pub const fn code(self) -> u32 {
        self.code.get()
    }

    /// A code that is not zero.
    #[inline(always)]
    const fn with_code(code: u32) -> Self {
        Failure {
            // SAFETY: codes of the heap's errors begin with 1, those of others with `FIRST_OWN`, and none wraps.
            code: unsafe { NonZeroU32::new_unchecked(code) },
            own: PhantomData,
        }
    }
}

impl<E: KernelError> From<E> for Failure<E> {
    #[inline(always)]
    fn from(error: E) -> Self {
        Failure::with_code(FIRST_OWN + (error.number() & OWN_BITS))
    }
}

impl<E> From<AllocError> for Failure<E> {
    #[inline(always)]
    fn from(error: AllocError) -> Self {
        Failure::with_code(error.code())
    }
}

/// The number of the program's own error that a code of a launch report stands for, if it is one.
#[cfg(feature = "std")]
pub(crate) const fn own_number(code: u32) -> Option<u32> {
    code.checked_sub(FIRST_OWN)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::{AllocError, Failure, KernelError, own_number};

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Numbered(u32);

    impl KernelError for Numbered {
        fn number(self) -> u32 {
            self.0
        }
        fn from_number(number: u32) -> Option<Self> {
            Some(Numbered(number))
        }
    }

    #[test]
    fn failures_are_the_heaps_or_ones_own() {
        let heap = Failure::<Numbered>::from(AllocError::Unsupported);
        assert_eq!((heap.code(), own_number(heap.code())), (3, None));
        for number in [0, 7, u32::MAX >> 1] {
            let own = Failure::from(Numbered(number)).code();
            assert_eq!(own_number(own), Some(number));
        }
        // Too large a number is cut, and still an error.
        assert_eq!(own_number(Failure::from(Numbered(1 << 31)).code()), Some(0));
    }

    #[test]
    fn codes_name_their_errors() {
        for error in [
            AllocError::Exhausted,
            AllocError::Contended,
            AllocError::Unsupported,
        ] {
            assert_eq!(AllocError::from_code(error.code()), error);
        }
    }
}
