//! Lanes explore a graph together: a queue holds what is to be visited, a map counts the visits. Who visits a node
//! first puts its successors into the queue.

use crate::numbers::TRIES;
use warpheap::device::*;

/// Nodes that a lane visits in one launch, at most.
const VISITS: u32 = 16;

/// Word of the tally: nodes that were taken from the queue.
pub const TAKEN: usize = 0;
/// Word of the tally: nodes that were put into it.
pub const PUT: usize = 1;

/// The first successor of a node, in a graph of so many.
#[inline(always)]
pub fn first_successor(node: u32, nodes: u32) -> u32 {
    node.wrapping_mul(5).wrapping_add(3) % nodes
}

/// The second one.
#[inline(always)]
pub fn second_successor(node: u32, nodes: u32) -> u32 {
    (node / 2 + 7) % nodes
}

/// Takes nodes from the queue, counts the visit in the map, and puts the successors of new ones into the queue,
/// until the queue is empty or the lane has done its share. A launch ends when nobody finds work; another one goes
/// on with what came meanwhile.
///
/// # Errors
/// As the containers': what the lane had taken is not explored then.
#[kernel(allocators = all)]
pub fn explore<A: DeviceAlloc>(
    heap: Heap<A>,
    visits: HeapHashMap<u32, u32>,
    open: HeapChunkQueue<u32>,
    nodes: u32,
    tally: &[AtomicWord],
) -> Result<(), AllocError> {
    let mut result = Ok(());
    let (mut taken, mut put) = (0, 0);
    let mut round = 0;
    while (round < VISITS) & result.is_ok() {
        round += 1;
        let mut node = 0;
        match open.try_pop(heap, &mut node) {
            Ok(()) => {
                taken += 1;
                match visit(heap, visits, node) {
                    Ok(before) => {
                        // Both successors through one loop: the body of a push is long.
                        let mut n = if before == 0 { 0 } else { 2 };
                        let mut tries = 0;
                        while (n < 2) & result.is_ok() {
                            let next = if n == 0 {
                                first_successor(node, nodes)
                            } else {
                                second_successor(node, nodes)
                            };
                            match open.push(heap, next) {
                                Ok(()) => {
                                    n += 1;
                                    put += 1;
                                }
                                Err(AllocError::Contended) if tries < TRIES => tries += 1,
                                Err(error) => result = Err(error),
                            }
                        }
                    }
                    Err(error) => result = Err(error),
                }
            }
            Err(QueueError::Contended) => {}
            Err(_) => round = VISITS,
        }
    }
    if taken + put != 0 {
        tally[TAKEN].fetch_add(taken);
        tally[PUT].fetch_add(put);
    }
    result
}

/// Counts a visit: 0 if it is the first one of the node.
#[inline]
fn visit<A: DeviceAlloc>(
    heap: Heap<A>,
    visits: HeapHashMap<u32, u32>,
    node: u32,
) -> Result<u32, AllocError> {
    let mut answer = Err(AllocError::Contended);
    let mut tries = 0;
    while tries < TRIES {
        answer = match visits.add(heap, node, 1) {
            Ok(before) => Ok(before.was_there() as u32),
            Err(error) => Err(error),
        };
        tries = match answer {
            Err(AllocError::Contended) => tries + 1,
            _ => TRIES,
        };
    }
    answer
}

/// One lane frees nodes of the queue that are empty, in a launch in which nobody else uses it.
#[kernel(allocators = all)]
pub fn tidy<A: DeviceAlloc>(heap: Heap<A>, open: HeapChunkQueue<u32>) {
    if thread::index() == 0 {
        // SAFETY: this is the only lane that uses the queue.
        unsafe { open.tidy(heap) };
    }
}
