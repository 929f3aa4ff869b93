//! What pushing to and popping from one queue costs all lanes, and what that is held against: the additions alone, and the
//! queue of tickets of B. Kerbl and others, *The Broker Queue* (ICS 2018), written anew after the paper.

use warpheap_rt::device::*;
use warpheap_rt::sync::Group;

/// How often a lane tries to push or to pop before it gives that one up, …
const TRIES: u32 = 1 << 12;
/// … if it is told that the queue is full or empty; being told that others came first counts as so many.
const CONTENDED: u32 = TRIES / 4;
/// How often a lane looks whether a place with a ticket is ready.
const LOOKS: u32 = 1 << 16;

/// Of the counters of a queue of tickets: the next place that is pushed to, …
pub const TAIL: usize = 0;
/// … the next one that is popped from, …
pub const HEAD: usize = 32;
/// … how many elements there are, or are about to be, …
pub const COUNT: usize = 64;
/// … and how many counters there are.
pub const COUNTERS: usize = 96;

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    each: u32,
    pushes: bool,
    pops: bool,
}

impl Work {
    /// The calling lane's share where each lane pushes `each` elements and pops as many: in turn, or, `apart`, so that
    /// warps with an even number push twice as many and the others pop them.
    #[inline(always)]
    fn new(each: u32, apart: u32) -> Self {
        let odd = thread::index() >> 5 & 1 != 0;
        let in_turn = apart == 0;
        Work {
            each: if in_turn { each } else { each * 2 },
            pushes: in_turn | !odd,
            pops: in_turn | odd,
        }
    }
}

/// Does a lane's [`Work`]. `push` and `pop` say for how many tries they count in vain, 0 where they did it. A macro and not a
/// function with closures: these would keep pointers to slices in variables, which SPIR-V forbids.
macro_rules! run {
    ($work:expr, |$element:ident| $push:block, |$popped:ident| $pop:block) => {{
        let work = $work;
        let mut done = Done::default();
        for k in 0..work.each {
            if work.pushes {
                let $element = thread::index().wrapping_mul(0x9e37_79b9) ^ k;
                let (mut tries, mut pushed) = (0, false);
                while !pushed & (tries < TRIES) {
                    let vain: u32 = $push;
                    pushed = vain == 0;
                    tries += vain;
                }
                done.pushed += pushed as u32;
                done.sum = done.sum.wrapping_add(if pushed { $element } else { 0 });
            }
            if work.pops {
                let mut $popped = 0;
                let (mut tries, mut popped) = (0, false);
                while !popped & (tries < TRIES) {
                    let vain: u32 = $pop;
                    popped = vain == 0;
                    tries += vain;
                }
                done.popped += popped as u32;
                done.sum = done.sum.wrapping_sub(if popped { $popped } else { 0 });
            }
        }
        done
    }};
}

/// What a lane did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Done {
    /// Elements that it pushed.
    pub pushed: u32,
    /// Elements that it popped.
    pub popped: u32,
    /// The sum of the elements that it pushed, less those that it popped.
    pub sum: u32,
}

/// For how many tries an operation counts.
#[inline(always)]
fn in_vain(result: Result<(), QueueError>) -> u32 {
    match result {
        Ok(()) => 0,
        Err(QueueError::Contended) => CONTENDED,
        Err(_) => 1,
    }
}

/// All lanes push to and pop from a bounded queue.
#[kernel(allocators = [WarpHeap])]
pub fn mix_queue<A: DeviceAlloc>(
    heap: Heap<A>,
    queue: HeapQueue<u32>,
    each: u32,
    apart: u32,
    done: &mut Done,
) {
    *done = run!(
        Work::new(each, apart),
        |element| { in_vain(queue.try_push(heap, element)) },
        |element| { in_vain(queue.try_pop(heap, &mut element)) }
    );
}

/// [`mix_queue`] for one that grows.
#[kernel(allocators = [WarpHeap])]
pub fn mix_chunk_queue<A: DeviceAlloc>(
    heap: Heap<A>,
    queue: HeapChunkQueue<u32>,
    each: u32,
    apart: u32,
    done: &mut Done,
) {
    *done = run!(
        Work::new(each, apart),
        |element| {
            match queue.push(heap, element) {
                Ok(()) => 0,
                Err(_) => CONTENDED,
            }
        },
        |element| { in_vain(queue.try_pop(heap, &mut element)) }
    );
}

/// The floor of [`mix_queue`]: the lanes that are together add to one of two counters once, and each stores or loads one word of
/// the ring, of which there are `1 << log2`. Nobody looks whether there is something.
#[kernel]
pub fn mix_additions(
    counters: &[AtomicWord],
    ring: &[AtomicWord],
    log2: u32,
    each: u32,
    apart: u32,
    done: &mut Done,
) {
    let mask = (1 << log2) - 1;
    *done = run!(
        Work::new(each, apart),
        |element| {
            let group = Group::here();
            let mut first = 0;
            if group.leads() {
                first = counters[TAIL].fetch_add(group.count());
            }
            first = group.broadcast(first);
            ring[(first.wrapping_add(group.rank()) & mask) as usize].store(element);
            0
        },
        |element| {
            let group = Group::here();
            let mut first = 0;
            if group.leads() {
                first = counters[HEAD].fetch_add(group.count());
            }
            first = group.broadcast(first);
            element = ring[(first.wrapping_add(group.rank()) & mask) as usize].load();
            0
        }
    );
}

/// All lanes push to and pop from a queue of tickets: a count of elements says whether there is room or something, a counter
/// gives the place, and a lane waits until the place's ticket says that it is ready. `ring` has a ticket and an element for each of
/// `1 << log2` places. Lanes that are together add once. A lane that waits in vain leaves its place, and with it the queue, broken,
/// which the sum shows.
#[kernel]
pub fn mix_tickets(
    counters: &[AtomicWord],
    ring: &[AtomicWord],
    log2: u32,
    each: u32,
    apart: u32,
    done: &mut Done,
) {
    let places = 1u32 << log2;
    *done = run!(
        Work::new(each, apart),
        |element| {
            let group = Group::here();
            let (mut first, mut some) = (0, 0);
            if group.leads() {
                let before = counters[COUNT].fetch_add(group.count());
                if before as i32 + group.count() as i32 <= places as i32 {
                    first = counters[TAIL].fetch_add(group.count());
                    some = 1;
                } else {
                    counters[COUNT].fetch_sub(group.count());
                }
            }
            first = group.broadcast(first);
            some = group.broadcast(some);
            let position = first.wrapping_add(group.rank());
            let (at, round) = ((position & (places - 1)) as usize * 2, position >> log2);
            let mut ready = some == 0;
            let mut looks = 0;
            while !ready & (looks < LOOKS) {
                ready = ring[at].load() == 2 * round;
                looks += 1;
            }
            let pushed = ready & (some != 0);
            // Who popped the place's last element has read it.
            group.acquire();
            if pushed {
                ring[at + 1].store(element);
            }
            group.release();
            if pushed {
                ring[at].store(2 * round + 1);
            }
            !pushed as u32
        },
        |element| {
            let group = Group::here();
            let (mut first, mut some) = (0, 0);
            if group.leads() {
                let before = counters[COUNT].fetch_sub(group.count()) as i32;
                let there = if before > 0 { before as u32 } else { 0 };
                some = if there < group.count() {
                    there
                } else {
                    group.count()
                };
                if some < group.count() {
                    counters[COUNT].fetch_add(group.count() - some);
                }
                if some != 0 {
                    first = counters[HEAD].fetch_add(some);
                }
            }
            first = group.broadcast(first);
            some = group.broadcast(some);
            let position = first.wrapping_add(group.rank());
            let (at, round) = ((position & (places - 1)) as usize * 2, position >> log2);
            let mine = group.rank() < some;
            let mut ready = !mine;
            let mut looks = 0;
            while !ready & (looks < LOOKS) {
                ready = ring[at].load() == 2 * round + 1;
                looks += 1;
            }
            let popped = ready & mine;
            group.acquire();
            if popped {
                element = ring[at + 1].load();
            }
            group.release();
            if popped {
                ring[at].store(2 * (round + 1));
            }
            !popped as u32
        }
    );
}
