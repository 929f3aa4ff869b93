//! Why a device-side request could not be served.

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

#[cfg(test)]
mod tests {
    use super::AllocError;

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
