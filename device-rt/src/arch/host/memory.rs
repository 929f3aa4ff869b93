//! What lanes do to memory, as an emulator sees it.

use core::panic::Location;
use core::sync::atomic::{AtomicU32, Ordering};

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

impl Access {
    /// Makes the access, relaxed: what is read, or was there before; what is written by [`Write`](Self::Write) and
    /// [`Store`](Self::Store).
    ///
    /// # Safety
    /// The word is aligned and valid, and accessed atomically alone.
    #[inline(always)]
    pub unsafe fn make(self, word: *mut u32) -> u32 {
        // SAFETY: the caller's promise.
        let word = unsafe { AtomicU32::from_ptr(word) };
        match self {
            Access::Read | Access::Load => word.load(Ordering::Relaxed),
            Access::Write(value) | Access::Store(value) => {
                word.store(value, Ordering::Relaxed);
                value
            }
            Access::Change(change, value) => match change {
                Change::Add => word.fetch_add(value, Ordering::Relaxed),
                Change::Sub => word.fetch_sub(value, Ordering::Relaxed),
                Change::And => word.fetch_and(value, Ordering::Relaxed),
                Change::Or => word.fetch_or(value, Ordering::Relaxed),
                Change::Max => word.fetch_max(value, Ordering::Relaxed),
                Change::Min => word.fetch_min(value, Ordering::Relaxed),
                Change::Exchange => word.swap(value, Ordering::Relaxed),
            },
            Access::ReleaseSub(value) => word.fetch_sub(value, Ordering::Release),
            Access::CompareExchange { current, new } => {
                match word.compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(old) | Err(old) => old,
                }
            }
        }
    }
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

/// What happens to a block of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEvent {
    /// It was handed out.
    Malloc,
    /// It was handed out, and is zero.
    Calloc,
    /// It is about to be freed.
    Free,
    /// It is about to be moved or resized by the lane, which tells next where it has [moved](Self::Moved).
    Moving,
    /// Here it is, with what was in it, as far as that fits.
    Moved,
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
