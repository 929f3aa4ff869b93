//! Kernels whose lanes returned errors.

use crate::error::own_number;
use crate::{AllocError, KernelError};
use std::string::String;

/// Lanes of a kernel returned an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFailure {
    /// Entry point of the kernel.
    pub kernel: String,
    /// Number of lanes that returned an error.
    pub lanes: u32,
    /// Of these: `Exhausted`, `Contended`, `Unsupported`. The others failed with errors of the program's own.
    pub by_cause: [u32; 3],
    /// The error that was recorded first.
    pub first: Cause,
    /// Block index of the lane that recorded it.
    pub block: u32,
    /// Index of that lane inside its block.
    pub lane: u32,
}

/// Why a lane failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An error of the heap.
    Heap(AllocError),
    /// An error of the program's own, by its number.
    Own(u32),
}

impl Cause {
    /// The cause that a code of a launch report stands for.
    pub fn from_code(code: u32) -> Self {
        match own_number(code) {
            Some(number) => Cause::Own(number),
            None => Cause::Heap(AllocError::from_code(code)),
        }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cause::Heap(error) => error.fmt(f),
            Cause::Own(number) => write!(f, "error {number} of the kernel's own"),
        }
    }
}

impl KernelFailure {
    /// Lanes that failed with errors of the program's own.
    pub fn own(&self) -> u32 {
        let heap = self
            .by_cause
            .iter()
            .fold(0, |sum: u32, n| sum.saturating_add(*n));
        self.lanes.saturating_sub(heap)
    }

    /// The first error, if it is one of the program's own.
    pub fn own_error<E: KernelError>(&self) -> Option<E> {
        match self.first {
            Cause::Heap(_) => None,
            Cause::Own(number) => E::from_number(number),
        }
    }
}

impl std::fmt::Display for KernelFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [exhausted, contended, unsupported] = self.by_cause;
        write!(
            f,
            "kernel {}: {} lane(s) failed (exhausted {exhausted}, contended {contended}, unsupported {unsupported}",
            self.kernel, self.lanes
        )?;
        if self.own() != 0 {
            write!(f, ", own {}", self.own())?;
        }
        write!(
            f,
            "); first in block {}, lane {}: {}",
            self.block, self.lane, self.first
        )?;
        // Arenas have no cause of their own for a lane that has no part in one.
        match unsupported {
            0 => Ok(()),
            _ => f.write_str("; FdgMalloc answers so, too, if an arena is misused, and counts it"),
        }
    }
}

impl std::error::Error for KernelFailure {}
