//! Filling, reading and freeing hash maps on behalf of the host, whatever their keys and values are: widths are
//! numbers that the kernels get.

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host;

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub use host::{DeviceHashMap, DeviceHashSet, DeviceMultiMap, MapAlloc};

use warpheap_rt::container::map::{Trie, TrieCursor, WordSource};
use warpheap_rt::device::*;
use warpheap_rt::sync::Group;

/// `count` words of a slice from `first` on.
#[derive(Clone, Copy)]
struct Row<'a> {
    words: &'a [u32],
    first: u32,
    count: u32,
}

impl WordSource for Row<'_> {
    #[inline(always)]
    fn words(self) -> u32 {
        self.count
    }
    #[inline(always)]
    fn word(self, index: u32) -> u32 {
        self.words[(self.first + index) as usize]
    }
}

/// Lane `i` inserts the `i`-th key of `keys` with the `i`-th value of `values`, or overwrites its value.
///
/// # Errors
/// As `HeapHashMap::set`.
#[kernel(allocators = all)]
pub fn map_fill<A: DeviceAlloc>(
    heap: Heap<A>,
    map: Trie,
    keys: &[u32],
    values: &[u32],
    key_words: u32,
    value_words: u32,
    count: u32,
) -> Result<(), AllocError> {
    let i = thread::index();
    if i < count {
        let key = Row {
            words: keys,
            first: i * key_words,
            count: key_words,
        };
        let value = Row {
            words: values,
            first: i * value_words,
            count: value_words,
        };
        map.bring(heap, key, value, true)?;
    }
    Ok(())
}

/// All lanes together write keys and values to `keys` and `values`, in any order, as far as there is `room`, and
/// their number to `found[0]`, which was zero.
#[kernel(allocators = all, unsafe(slices))]
pub fn map_read<A: DeviceAlloc>(
    heap: Heap<A>,
    map: Trie,
    keys: &mut [u32],
    values: &mut [u32],
    found: &[AtomicWord],
    key_words: u32,
    value_words: u32,
    room: u32,
) {
    // SAFETY: the host launches it while nobody else uses the map.
    let memory = unsafe { heap.words() };
    let mut cursor = TrieCursor::new(map, key_words, thread::index(), thread::count());
    while cursor.step_present(memory) {
        // One addition for the lanes that are here.
        let group = Group::here();
        let mut base = 0;
        if group.leads() {
            base = found[0].fetch_add(group.count());
        }
        let at = group.broadcast(base) + group.rank();
        if at < room {
            let key = cursor.key_word();
            for i in 0..key_words {
                keys[(at * key_words + i) as usize] = read(heap, key + i as usize);
            }
            let value = key + key_words as usize;
            for i in 0..value_words {
                values[(at * value_words + i) as usize] = read(heap, value + i as usize);
            }
        }
    }
}

#[inline(always)]
fn read<A: DeviceAlloc>(heap: Heap<A>, word: usize) -> u32 {
    // SAFETY: the host launches it while nobody else uses the map.
    u32::get(unsafe { heap.words() }, word)
}

/// The first `shares` lanes take all keys out and free their memory; see `HeapHashMap::free_part`.
#[kernel(allocators = all)]
pub fn map_free<A: DeviceAlloc>(
    heap: Heap<A>,
    map: Trie,
    key_words: u32,
    value_words: u32,
    shares: u32,
) {
    let i = thread::index();
    if i < shares {
        // SAFETY: the host launches it while nobody else uses the map.
        unsafe { map.free_part(heap, key_words, value_words, i, shares) };
    }
}
