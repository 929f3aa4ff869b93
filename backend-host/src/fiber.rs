//! Fibers: coroutines that run lane after lane, on stacks that are used again.

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, Yielder};
use std::io;
use std::sync::{Mutex, PoisonError};

/// Why a suspended fiber continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    /// Run on, or run the next lane.
    Go,
    /// Unwind the lane.
    Cancel,
    /// Unwind the lane if there is one; then end the fiber.
    Quit,
}

/// What a lane suspends itself with.
pub(crate) type Suspender = Yielder<Resume, ()>;

/// A coroutine that calls its main function each time it is told to go on while it has no lane.
pub(crate) struct Fiber {
    coroutine: Option<Coroutine<Resume, (), (), LaneStack>>,
}

impl Fiber {
    /// A fiber with `bytes` bytes of stack for the lane with index `lane` in its warp.
    ///
    /// # Errors
    /// The system's answer when there is no memory for the stack.
    ///
    /// # Safety
    /// What `main` borrows outlives the fiber. `main` does not unwind.
    pub(crate) unsafe fn new(
        bytes: usize,
        lane: u32,
        main: impl Fn(&Suspender),
    ) -> io::Result<Self> {
        let stack = LaneStack::take(bytes, lane)?;
        let body = move |suspender: &Suspender, first| {
            let mut order = first;
            while order != Resume::Quit {
                if order == Resume::Go {
                    main(suspender);
                }
                order = suspender.suspend(());
            }
        };
        Ok(Fiber {
            // SAFETY: the caller promises that what the function borrows outlives the fiber, which
            // ends the coroutine when it is dropped.
            coroutine: Some(unsafe { Coroutine::with_stack_unchecked(stack, body) }),
        })
    }

    /// Continues the fiber until it suspends itself again.
    #[inline]
    pub(crate) fn resume(&mut self, order: Resume) {
        if let Some(coroutine) = &mut self.coroutine {
            coroutine.resume(order);
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        let Some(mut coroutine) = self.coroutine.take() else {
            return;
        };
        // Once out of a lane that is suspended, if there is one, and once out of the loop.
        while !coroutine.done() {
            coroutine.resume(Resume::Quit);
        }
        coroutine.into_stack().give_back();
    }
}

/// Stacks that no fiber uses, with their sizes.
static SPARE: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());

/// Most stacks that are kept.
const MOST_SPARE: usize = 8192;

/// The stack of a lane.
struct LaneStack {
    inner: DefaultStack,
    base: StackPointer,
}

impl LaneStack {
    fn take(bytes: usize, lane: u32) -> io::Result<Self> {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        let size = |stack: &DefaultStack| stack.base().get() - stack.limit().get();
        let found = spare.iter().rposition(|stack| size(stack) >= bytes);
        let found = found.map(|at| spare.swap_remove(at));
        drop(spare);
        let inner = match found {
            Some(stack) => stack,
            None => DefaultStack::new(bytes)?,
        };
        // Stacks lie at multiples of a page. Lanes do the same things at the same depth, so without
        // different bases their hot lines would all fall into the same few sets of the cache.
        let shift = if cfg!(windows) {
            0
        } else {
            (lane as usize % 32) * 128
        };
        let base = StackPointer::new(inner.base().get() - shift).unwrap_or(inner.base());
        Ok(LaneStack { inner, base })
    }

    fn give_back(self) {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.push(self.inner);
        }
    }
}

// SAFETY: a default stack less at most 4 KiB at its base, which leaves more than the least size
// since stacks have at least 16 KiB; its guard page stays.
unsafe impl Stack for LaneStack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.base
    }
    #[inline]
    fn limit(&self) -> StackPointer {
        self.inner.limit()
    }
    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.inner.teb_fields()
    }
    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.inner
            .update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn runs_again_and_unwinds_what_is_suspended() {
        struct Bell<'a>(&'a Cell<u32>);
        impl Drop for Bell<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let (runs, rung) = (Cell::new(0), Cell::new(0));
        let main = |suspender: &Suspender| {
            runs.set(runs.get() + 1);
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _bell = Bell(&rung);
                if suspender.suspend(()) != Resume::Go {
                    std::panic::resume_unwind(Box::new(()));
                }
            }));
            assert_eq!(caught.is_ok(), rung.get() < 2);
        };
        // SAFETY: the cells live longer than the fiber.
        let mut fiber = unsafe { Fiber::new(64 << 10, 3, main) }.expect("a stack");
        fiber.resume(Resume::Go);
        fiber.resume(Resume::Go);
        assert_eq!((runs.get(), rung.get()), (1, 1));
        fiber.resume(Resume::Go);
        drop(fiber);
        assert_eq!((runs.get(), rung.get()), (2, 2));
    }
}
