//! Lists of chunks: pushed to by their owners and by all lanes at once.

use warpheap_rt::device::*;

/// What a lane has not done yet.
pub const PENDING: u32 = 9;

/// Lane `i` appends `[i, k]` to list `(i + k) / stride % lists` of those that lie at `heads`, for each `k` below
/// `each` that `codes[i * each + k]` says is pending; there it leaves 0 or the error.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn push_to_lists<A: DeviceAlloc>(
    heap: Heap<A>,
    heads: DevicePtr<u32>,
    lists: u32,
    stride: u32,
    each: u32,
    codes: &mut [u32],
) {
    let lane = thread::index();
    for k in 0..each {
        let slot = (lane * each + k) as usize;
        if slot < codes.len() && codes[slot] == PENDING {
            let list = (lane + k) / stride % lists;
            let word = heap.word_of(heads) + list as usize;
            // SAFETY: the host made the lists, and everybody pushes to them in this way.
            let result = unsafe { HeapList::push_at(heap, word, [lane, k]) };
            codes[slot] = match result {
                Ok(()) => 0,
                Err(error) => error.code(),
            };
        }
    }
}

/// Lane `i` reads list `i` of those at `heads` into `found`, where it has `room` elements, and its length into
/// `lens`; then it frees the list.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn read_lists<A: DeviceAlloc>(
    heap: Heap<A>,
    heads: DevicePtr<HeapList<[u32; 2]>>,
    room: u32,
    lens: &mut [u32],
    found: &mut [[u32; 2]],
) {
    let lane = thread::index();
    if (lane as usize) < lens.len() {
        // SAFETY: there are as many lists as lengths.
        let mut list = unsafe { heap.load_at(heads, lane) };
        lens[lane as usize] = list.len(heap);
        let mut cursor = list.cursor(heap);
        let mut number = 0;
        while !cursor.is_done() & (number < room) {
            found[(lane * room + number) as usize] = cursor.next_or(heap, [0, 0]);
            number += 1;
        }
        list.free(heap);
        // SAFETY: as above.
        unsafe { heap.store_at(heads, lane, list) };
    }
}

/// Lane `i` appends `i + k` to its own list for each `k` below `numbers[i]`, adds up what is in it, and frees it
/// if it is told so.
///
/// # Errors
/// As `HeapList::push`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn own_lists<A: DeviceAlloc>(
    heap: Heap<A>,
    lists: &mut [HeapList<u32>],
    numbers: &[u32],
    sums: &mut [u32],
    free: u32,
) -> Result<(), AllocError> {
    let lane = thread::index();
    let i = lane as usize;
    let mut result = Ok(());
    if i < lists.len() {
        // SAFETY: the lane has it alone, and puts it back below.
        let mut list = unsafe { core::ptr::read(&lists[i]) };
        let mut k = 0;
        while k < numbers[i] {
            let pushed = list.push(heap, lane + k);
            if pushed.is_err() {
                result = pushed;
            }
            k += 1;
        }
        let mut sum = 0u32;
        let mut cursor = list.cursor(heap);
        while !cursor.is_done() {
            sum = sum.wrapping_add(cursor.next_or(heap, 0));
        }
        sums[i] = sum;
        if free != 0 {
            list.free(heap);
        }
        lists[i] = list;
    }
    result
}
