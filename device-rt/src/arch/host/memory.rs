//! What lanes do to memory, as an emulator sees it.

use core::panic::Location;

/// A lane's access to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Plain read.
    Read,
    /// Plain write.
    Write(u32),
    /// Atomic load.
    Load,
    /// Atomic store.
    Store(u32),
    /// Atomic read-modify-write: what it does, and with what.
    Change(Change, u32),
    /// A subtraction that is a release itself.
    ReleaseSub(u32),
    /// Atomic compare-and-swap.
    CompareExchange {
        /// What is expected.
        current: u32,
        /// What is stored then.
        new: u32,
    },
}

/// What a read-modify-write makes of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The sum, wrapping.
    Add,
    /// The difference, wrapping.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// The larger one.
    Max,
    /// The smaller one.
    Min,
    /// The new one.
    Exchange,
}

impl Change {
    /// The new value.
    #[inline(always)]
    pub fn of(self, old: u32, value: u32) -> u32 {
        match self {
            Change::Add => old.wrapping_add(value),
            Change::Sub => old.wrapping_sub(value),
            Change::And => old & value,
            Change::Or => old | value,
            Change::Max => old.max(value),
            Change::Min => old.min(value),
            Change::Exchange => value,
        }
    }
}

/// A fence at device scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// What comes before is visible to who acquires.
    Release,
    /// The other half.
    Acquire,
}

/// Where in the source a device function was called.
pub type Site = &'static Location<'static>;
