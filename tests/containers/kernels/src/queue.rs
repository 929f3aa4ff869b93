//! Queues that all lanes push to and pop from.

use warpheap_rt::device::*;

/// Append an element.
pub const PUSH: u32 = 0;
/// Remove the first one.
pub const POP: u32 = 1;

/// The code of an operation that found the queue full or empty.
pub const NOTHING: u32 = 100;
/// The code of an operation that got what nobody had appended.
pub const WRONG: u32 = 77;

/// What an operation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct QueueEvent {
    /// 0, [`NOTHING`] or the error.
    pub code: u32,
    /// What was appended or removed.
    pub value: u32,
    /// When it began.
    pub began: u32,
    /// When it was done.
    pub ended: u32,
}

/// One lane makes two queues, of `1 << log2` slots and of nodes with as many.
///
/// # Errors
/// As `HeapQueue::new_in` and `HeapChunkQueue::new_in`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn make_queues<A: DeviceAlloc>(
    heap: Heap<A>,
    log2: u32,
    bounded: &mut [HeapQueue<[u32; 2]>],
    chunked: &mut [HeapChunkQueue<[u32; 2]>],
) -> Result<(), AllocError> {
    if thread::index() == 0 {
        bounded[0] = HeapQueue::new_in(heap, log2)?;
        chunked[0] = HeapChunkQueue::new_in(heap, log2)?;
    }
    Ok(())
}

/// One lane tells how many elements are in the queues, tidies the second one up, and frees both if it is told so.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn tidy_queues<A: DeviceAlloc>(
    heap: Heap<A>,
    free: u32,
    bounded: &mut [HeapQueue<[u32; 2]>],
    chunked: &mut [HeapChunkQueue<[u32; 2]>],
    lens: &mut [u32],
) {
    if thread::index() == 0 {
        let mut first = bounded[0];
        let mut second = chunked[0];
        lens[0] = first.len(heap);
        lens[1] = second.len(heap);
        // SAFETY: this is the only lane.
        unsafe { second.tidy(heap) };
        if free != 0 {
            // SAFETY: the same, and the handles are gone.
            unsafe { first.free(heap) };
            // SAFETY: the same.
            unsafe { second.free(heap) };
            bounded[0] = first;
            chunked[0] = second;
        }
    }
}

/// The code of a pop or an append to a bounded queue.
#[inline(always)]
fn code_of(result: Result<(), QueueError>) -> u32 {
    match result {
        Ok(()) => 0,
        Err(QueueError::Contended) => AllocError::Contended.code(),
        Err(_) => NOTHING,
    }
}

#[inline(always)]
fn event(code: u32, pop: bool, value: [u32; 2], began: u32) -> QueueEvent {
    let torn = pop & (code == 0) & (value[1] != !value[0]);
    QueueEvent {
        code: if torn { WRONG } else { code },
        value: value[0],
        began,
        ended: 0,
    }
}

/// Lane `i` carries out the operations `ops[i * each ..]`, [`PUSH`] (of the operation's number) or [`POP`], `each` of them, on a
/// bounded queue.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn use_queue<A: DeviceAlloc>(
    heap: Heap<A>,
    queue: HeapQueue<[u32; 2]>,
    each: u32,
    ops: &[u32],
    clock: &[AtomicWord],
    events: &mut [QueueEvent],
) {
    for k in 0..each {
        let number = thread::index() * each + k;
        if (number as usize) < ops.len() {
            let pop = ops[number as usize] == POP;
            let began = clock[0].fetch_add(1);
            // What others ended before this one began is before it.
            heap.acquire();
            let mut value = [number, !number];
            let code = if pop {
                code_of(queue.try_pop(heap, &mut value))
            } else {
                code_of(queue.try_push(heap, value))
            };
            let mut event = event(code, pop, value, began);
            heap.release();
            event.ended = clock[0].fetch_add(1);
            events[number as usize] = event;
        }
    }
}

/// [`use_queue`] for one that grows.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn use_chunk_queue<A: DeviceAlloc>(
    heap: Heap<A>,
    queue: HeapChunkQueue<[u32; 2]>,
    each: u32,
    ops: &[u32],
    clock: &[AtomicWord],
    events: &mut [QueueEvent],
) {
    for k in 0..each {
        let number = thread::index() * each + k;
        if (number as usize) < ops.len() {
            let pop = ops[number as usize] == POP;
            let began = clock[0].fetch_add(1);
            // What others ended before this one began is before it.
            heap.acquire();
            let mut value = [number, !number];
            let code = if pop {
                code_of(queue.try_pop(heap, &mut value))
            } else {
                match queue.push(heap, value) {
                    Ok(()) => 0,
                    Err(error) => error.code(),
                }
            };
            let mut event = event(code, pop, value, began);
            heap.release();
            event.ended = clock[0].fetch_add(1);
            events[number as usize] = event;
        }
    }
}
