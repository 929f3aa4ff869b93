//! Containers that lanes share, as arguments of a kernel.

use super::bytes::{filled_by, words_of};
use super::contents::Known;
use super::{Arg, DeviceError, DeviceVec, HostAlloc, IntoArg, Pool, RawPool};
use crate::HeapData;
use core::any::Any;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

/// A container that lanes share, as what a launch takes for a parameter of type `C`: maps, sets, queues and shared vectors
/// give one of themselves.
///
/// The container is there for as long as this value is, a clone of it, or a launch that it was given to, prepared, queued or
/// running: its owner may be dropped before, and the last of them all frees it. A launch is refused if the container lies in
/// another heap than the launch has, or in one that was made fresh since.
#[derive(Clone, Debug)]
#[must_use = "it is an argument of a launch"]
pub struct SharedArg<C> {
    container: C,
    known: Known,
}

/// What frees a container when it is dropped.
pub(super) type Owner = Arc<dyn Any + Send + Sync>;

/// The words of a container that lanes share, among the arguments of a launch.
#[derive(Clone, Debug)]
pub struct ContainerWords {
    /// The words.
    pub words: Vec<u32>,
    /// Of which heap it is, and who is kept until the launch has ended.
    pub(super) known: Known,
}

impl<C: HeapData + Copy> SharedArg<C> {
    /// A container that nobody on the host owns: one that a kernel made and left in a vector, say.
    ///
    /// # Safety
    /// The container is one of this heap as it is now. Nobody frees it, or containers in it, as long as it may be used: by
    /// whoever has this value or a clone of it, by a launch that it was given to, or from where a kernel put it.
    pub unsafe fn assume_of<A: HostAlloc>(pool: &Pool<A>, container: C) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::assume_of_raw(pool.raw(), container) }
    }

    /// The same for a pool without its allocator's type.
    ///
    /// # Safety
    /// The container is one of this heap as it was when `pool` was taken from it. For the rest as
    /// [`assume_of`](Self::assume_of).
    pub unsafe fn assume_of_raw(pool: &RawPool, container: C) -> Self {
        Self::of(pool, container, Vec::new())
    }

    /// A container with what frees it when it is dropped.
    ///
    /// # Safety
    /// The container is one of this heap as it was when `pool` was taken from it, and nobody frees it as long as `owner` is
    /// there.
    pub unsafe fn owned(pool: &RawPool, container: C, owner: Arc<impl Any + Send + Sync>) -> Self {
        Self::of(pool, container, vec![owner])
    }

    fn of(pool: &RawPool, container: C, owners: Vec<Owner>) -> Self {
        let home = Some(pool.home());
        SharedArg {
            container,
            known: Known { home, owners },
        }
    }
}

// SAFETY: the words of a value are what `HeapData::from_args` reads, and they say that they are of a heap.
unsafe impl<C: HeapData + Copy> IntoArg<C> for SharedArg<C> {
    fn into_arg(self) -> Arg {
        // Does not compile for what no vector may hold.
        const { _ = C::HOLDS_SHARED };
        Arg::Container(ContainerWords {
            words: words_of(core::slice::from_ref(&self.container)),
            known: self.known,
        })
    }
}

impl<T: HeapData + Copy> DeviceVec<T> {
    /// An element that is a container, or has some, as what a launch takes for it by value: one that a kernel made and left
    /// there.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if there is no such element; errors of the device.
    pub fn shared(&self, element: usize) -> Result<SharedArg<T>, DeviceError> {
        let what = "DeviceVec::shared";
        self.in_range(what, element, 1)?;
        let mut known = Known::default();
        let read = filled_by(1, |bytes| {
            known = self.read_known(element, bytes)?;
            Ok(())
        });
        match read?.pop() {
            Some(container) => Ok(SharedArg { container, known }),
            None => Err(DeviceError::OutOfRange {
                what,
                got: 1,
                room: 0,
            }),
        }
    }
}
