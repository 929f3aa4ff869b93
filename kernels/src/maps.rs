//! Filling, reading and freeing hash maps on behalf of the host, whatever their keys and values are: widths are
//! numbers that the kernels get.

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host;

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub use host::{DeviceHashMap, DeviceHashSet, DeviceMultiMap, MapAlloc};

use warpheap_rt::api::HeapMemory;
use warpheap_rt::container::map::{Stored, Table, TableCursor, WordSource};
use warpheap_rt::device::*;
use warpheap_rt::sync::Group;

/// `count` words of a slice from `first` on.
#[derive(Clone, Copy)]
struct Row<'a> {
    words: &'a [u32],
    first: u32,
    count: u32,
}

impl<'a> Row<'a> {
    /// The words of number `index`, where each has `count`.
    #[inline(always)]
    fn of(words: &'a [u32], index: u32, count: u32) -> Self {
        Row {
            words,
            first: index * count,
            count,
        }
    }
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

/// The key that a cursor is at.
#[derive(Clone, Copy)]
struct KeyAt<M> {
    memory: M,
    cursor: TableCursor,
}

impl<M: HeapMemory> WordSource for KeyAt<M> {
    #[inline(always)]
    fn words(self) -> u32 {
        self.cursor.key_words()
    }
    #[inline(always)]
    fn word(self, index: u32) -> u32 {
        self.cursor.key_word(self.memory, index)
    }
}

/// Lane `i` inserts the `i`-th key of `keys` with the `i`-th value of `values`, or overwrites its value.
///
/// # Errors
/// As `HeapHashMap::set`.
#[kernel(allocators = [all, Traced<WarpHeap>, WarpHeap32, WarpHeap64])]
pub fn map_fill<A: DeviceAlloc>(
    heap: Heap<A>,
    map: Table,
    keys: &[u32],
    values: &[u32],
    key_words: u32,
    value_words: u32,
    count: u32,
) -> Result<(), AllocError> {
    let i = thread::index();
    if i < count {
        let key = Row::of(keys, i, key_words);
        let value = Row::of(values, i, value_words);
        map.bring(heap, key, value, true)?;
    }
    Ok(())
}

/// Lane `i` writes the value of the `i`-th key of `keys` to `values`, and to `found[i]` whether it is there.
#[kernel(allocators = [all, Traced<WarpHeap>, WarpHeap32, WarpHeap64], unsafe(slices))]
pub fn map_get<A: DeviceAlloc>(
    heap: Heap<A>,
    map: Table,
    keys: &[u32],
    values: &mut [u32],
    found: &mut [u32],
    key_words: u32,
    value_words: u32,
    count: u32,
) {
    let i = thread::index();
    if i < count {
        let key = Row::of(keys, i, key_words);
        found[i as usize] = map.words(heap, key, value_words, move |word, value| {
            values[(i * value_words + word) as usize] = value;
        });
    }
}

/// Lane `i` removes the `i`-th key of `keys`, and adds 1 to `removed[0]` if it was there.
///
/// # Errors
/// As `HeapHashMap::remove`.
#[kernel(allocators = [all, Traced<WarpHeap>, WarpHeap32, WarpHeap64])]
pub fn map_remove<A: DeviceAlloc>(
    heap: Heap<A>,
    map: Table,
    keys: &[u32],
    removed: &[AtomicWord],
    key_words: u32,
    value_words: u32,
    count: u32,
) -> Result<(), AllocError> {
    let i = thread::index();
    if i < count {
        let key = Row::of(keys, i, key_words);
        // SAFETY: the map's own memory, by the map's own rules.
        let before = map.remove(unsafe { heap.words() }, key, value_words)?;
        if before.was_there() {
            let group = Group::here();
            if group.leads() {
                removed[0].fetch_add(group.count());
            }
        }
    }
    Ok(())
}

/// All lanes together bring what is in one map to another one of the same widths.
///
/// # Errors
/// As `HeapHashMap::set`.
#[kernel(allocators = [all, Traced<WarpHeap>, WarpHeap32, WarpHeap64])]
pub fn map_move<A: DeviceAlloc>(
    heap: Heap<A>,
    from: Table,
    to: Table,
    key_words: u32,
    value_words: u32,
) -> Result<(), AllocError> {
    // SAFETY: the host launches it while nobody else uses the maps.
    let memory = unsafe { heap.words() };
    let (index, count) = (thread::index(), thread::count());
    let mut cursor = TableCursor::new(memory, from, key_words, value_words, index, count);
    while cursor.step_present(memory) {
        let value = Stored {
            memory,
            first: cursor.value_word(memory),
            count: value_words,
        };
        to.bring(heap, KeyAt { memory, cursor }, value, true)?;
    }
    Ok(())
}

/// All lanes together write keys and values to `keys` and `values`, in any order, as far as there is `room`, and
/// their number to `found[0]`, which was zero.
#[kernel(allocators = [all, Traced<WarpHeap>, WarpHeap32, WarpHeap64], unsafe(slices))]
pub fn map_read<A: DeviceAlloc>(
    heap: Heap<A>,
    map: Table,
    keys: &mut [u32],
    values: &mut [u32],
    found: &[AtomicWord],
    key_words: u32,
    value_words: u32,
    room: u32,
) {
    // SAFETY: the host launches it while nobody else uses the map.
    let memory = unsafe { heap.words() };
    let mut cursor = TableCursor::new(
        memory,
        map,
        key_words,
        value_words,
        thread::index(),
        thread::count(),
    );
    while cursor.step_present(memory) {
        // One addition for the lanes that are here.
        let group = Group::here();
        let mut base = 0;
        if group.leads() {
            base = found[0].fetch_add(group.count());
        }
        let at = group.broadcast(base) + group.rank();
        if at < room {
            for i in 0..key_words {
                keys[(at * key_words + i) as usize] = cursor.key_word(memory, i);
            }
            let value = cursor.value_word(memory);
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
#[kernel(allocators = [all, Traced<WarpHeap>, WarpHeap32, WarpHeap64])]
pub fn map_free<A: DeviceAlloc>(
    heap: Heap<A>,
    map: Table,
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
