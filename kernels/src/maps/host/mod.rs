//! Owners of maps and sets in a heap, on the host: each makes one, fills it, passes it to kernels, reads it back, and
//! frees it when it is dropped.

mod map;
mod multi_map;
mod pairs;
mod set;
mod table;

pub use map::DeviceHashMap;
pub use multi_map::DeviceMultiMap;
pub use set::DeviceHashSet;
pub use table::MapAlloc;

use warpheap_rt::device::HeapData;

/// The words of a value.
fn words_of<T: HeapData + Copy>(value: T) -> impl Iterator<Item = u32> {
    (0..T::WORDS).map(move |i| value.word_at(i))
}

/// The values that `words` are, one after the other.
fn values_of<T: HeapData + Copy>(words: &[u32]) -> impl Iterator<Item = T> {
    const { assert!(T::WORDS > 0 && size_of::<T>() == T::WORDS as usize * 4) }
    words.chunks_exact(T::WORDS as usize).map(|words| {
        // SAFETY: HeapData is valid for every bit pattern, and these are its words.
        unsafe { words.as_ptr().cast::<T>().read_unaligned() }
    })
}
