//! Parameters of kernels that lanes write through without racing.
//!
//! | parameter | what a lane may change |
//! |---|---|
//! | `x: &mut T` | the element with its number. There is no type for it here: `#[kernel]` hands out a copy and writes it back |
//! | [`PerLane`] | the same, in a kernel that all lanes run |
//! | [`Scatter`] | any element, by an `unsafe` call |
//!
//! All of them borrow the launch, so that none outlives it.

use crate::thread;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};
use warpheap_api::Element;
use warpheap_api::abi::ArgBlock;

/// Elements of which each lane has its own: that with the lane's number in the launch.
///
/// The host gives a `&mut DeviceVec<T>`. All lanes of the launch run, also those beyond the last element, which is
/// what collective calls need; where lanes beyond the end have nothing to do, `x: &mut T` is shorter.
///
/// ```text
/// #[kernel]
/// fn double(mut values: PerLane<u32>) {
///     if let Some(i) = values.lane_index() {
///         values[i] *= 2;
///     }
/// }
/// ```
#[derive(Debug)]
pub struct PerLane<'a, T> {
    elements: *mut [T],
    launch: PhantomData<&'a mut [T]>,
}

/// The index of the calling lane's own element, which nobody else reaches.
///
/// It cannot be kept beyond the launch or handed to another lane: it borrows the launch, is no `HeapData`, and is
/// neither `Send` nor `Sync`.
#[derive(Clone, Copy, Debug)]
pub struct LaneIndex<'a> {
    index: u32,
    launch: PhantomData<(&'a ArgBlock, *mut ())>,
}

impl LaneIndex<'_> {
    /// The number.
    #[inline(always)]
    pub fn get(self) -> u32 {
        self.index
    }
}

impl<'a, T> PerLane<'a, T> {
    /// For the expansion of `#[kernel]`.
    ///
    /// # Safety
    /// The elements are valid while the arguments are. In this launch lanes access them through values made here
    /// alone, and each argument of a lane has elements of its own.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn attach(_args: &'a ArgBlock, elements: *mut [T]) -> Self {
        PerLane {
            elements,
            launch: PhantomData,
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.elements.len() as u32
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the calling lane's element, if there are so many.
    #[inline(always)]
    pub fn lane_index(&self) -> Option<LaneIndex<'a>> {
        let index = thread::index();
        if index < self.len() {
            Some(LaneIndex {
                index,
                launch: PhantomData,
            })
        } else {
            None
        }
    }
}

impl<T: Element> PerLane<'_, T> {
    /// Takes the element out and leaves another one.
    #[inline(always)]
    pub fn replace(&mut self, index: LaneIndex<'_>, value: T) -> T {
        core::mem::replace(&mut self[index], value)
    }
}

impl<T> Index<LaneIndex<'_>> for PerLane<'_, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: LaneIndex<'_>) -> &T {
        // SAFETY: the elements are valid, and no other lane has an index of this one.
        unsafe { &((*self.elements)[index.index as usize]) }
    }
}

impl<T> IndexMut<LaneIndex<'_>> for PerLane<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, index: LaneIndex<'_>) -> &mut T {
        // SAFETY: the elements are valid, and no other lane has an index of this one.
        unsafe { &mut ((*self.elements)[index.index as usize]) }
    }
}

/// Elements of which a lane may write any, where the program knows that no two lanes write one.
///
/// The host gives a `&mut DeviceVec<T>`. Words that several lanes change are `&[AtomicWord]`.
#[derive(Debug)]
pub struct Scatter<'a, T> {
    elements: *mut [T],
    launch: PhantomData<&'a mut [T]>,
}

impl<T> Clone for Scatter<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Scatter<'_, T> {}

impl<'a, T: Element> Scatter<'a, T> {
    /// For the expansion of `#[kernel]`.
    ///
    /// # Safety
    /// As [`PerLane::attach`].
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn attach(_args: &'a ArgBlock, elements: *mut [T]) -> Self {
        Scatter {
            elements,
            launch: PhantomData,
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.elements.len() as u32
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Writes an element. An index beyond the last is a mistake as with slices.
    ///
    /// # Safety
    /// No other lane writes or reads this element in the launch, unless something orders the two.
    #[inline(always)]
    pub unsafe fn write(self, index: u32, value: T) {
        // SAFETY: the elements are valid; the rest is the caller's promise.
        unsafe { (*self.elements)[index as usize] = value };
    }

    /// An element, for the expansion of `#[kernel]`.
    ///
    /// # Safety
    /// No other lane accesses this element in the launch, and nothing else of this lane while the reference lives.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn at(self, index: u32) -> &'a mut T {
        // SAFETY: the elements are valid; the rest is the caller's promise.
        unsafe { &mut ((*self.elements)[index as usize]) }
    }

    /// Reads an element. An index beyond the last is a mistake as with slices.
    ///
    /// # Safety
    /// No other lane writes this element in the launch, unless something orders the two. A container that is read is
    /// written back, or only looked at.
    #[inline(always)]
    pub unsafe fn read(self, index: u32) -> T {
        // SAFETY: the elements are valid; the rest is the caller's promise.
        unsafe { core::ptr::read(&raw const (*self.elements)[index as usize]) }
    }
}
