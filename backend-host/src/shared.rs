//! Memory that the lanes of a block share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

/// What words hold when a block begins: nothing that a kernel could count on.
const UNSPECIFIED: u32 = 0x5eed_bead;

/// An array of words.
type Array = Arc<[AtomicU32]>;

/// The arrays of one block, by the number of the kernel's parameter.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory(RefCell<BTreeMap<u32, Array>>);

impl SharedMemory {
    /// It is another block's from now on.
    pub(crate) fn begin(&self) {
        self.0.borrow_mut().clear();
    }

    /// The array of a parameter, which the first lane that asks makes.
    pub(crate) fn array(&self, parameter: u32, words: usize, kept: &Kept) -> *mut u32 {
        let mut arrays = self.0.borrow_mut();
        let array = arrays.entry(parameter).or_insert_with(|| {
            let array: Array = (0..words).map(|_| AtomicU32::new(UNSPECIFIED)).collect();
            kept.keep(&array);
            array
        });
        array.as_ptr().cast_mut().cast()
    }
}

/// The arrays of all blocks of a launch whose memory is modelled: the model knows words by their addresses, so that no other
/// block may have the same ones later.
#[derive(Debug, Default)]
pub(crate) struct Kept(Option<Mutex<Vec<Array>>>);

impl Kept {
    /// Keeps them until the launch has ended.
    pub(crate) fn all() -> Self {
        Kept(Some(Mutex::default()))
    }

    fn keep(&self, array: &Array) {
        if let Some(all) = &self.0 {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(array.clone());
        }
    }

    /// The index of the word at this address in its array, if it is in one.
    pub(crate) fn index_of(&self, address: usize) -> Option<usize> {
        let all = self.0.as_ref()?.lock();
        let all = all.unwrap_or_else(PoisonError::into_inner);
        all.iter().find_map(|array| {
            let offset = address.checked_sub(array.as_ptr().addr())?;
            (offset < size_of_val::<[AtomicU32]>(array)).then_some(offset / 4)
        })
    }
}
