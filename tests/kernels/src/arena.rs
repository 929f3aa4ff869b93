//! Arenas of warps: lanes allocate, tidy up, end, hand over, and do what they must not.

use crate::pattern::{fill, intact, words_of};
use warpheap_rt::device::*;
use warpheap_rt::sync::{Group, LaneMask, hash};

/// What the lanes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct ArenaPlan {
    /// Times that every lane allocates all its blocks; it tidies up in between.
    pub rounds: u32,
    /// Blocks of each lane and round; two lanes of three have one or two less.
    pub each: u32,
    /// The smallest block, in bytes.
    pub least: u32,
    /// How many bytes more the largest has.
    pub range: u32,
    /// Blocks are aligned to 16 bytes, or to 16 << (0 to `aligns`).
    pub aligns: u32,
    /// Makes sizes and alignments.
    pub seed: u32,
    /// Lanes whose index leaves this rest when divided by 4 have no arena.
    pub absent: u32,
    /// [`END`], [`HAND_OVER`] or [`LEAVE_OPEN`].
    pub finish: u32,
}

/// At last: the arena ends.
pub const END: u32 = 0;
/// At last: it is handed over.
pub const HAND_OVER: u32 = 1;
/// At last: nothing, which is misuse.
pub const LEAVE_OPEN: u32 = 2;

/// One block as a lane got it.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct ArenaBlock {
    /// The block, null if there is none.
    pub ptr: DevicePtr<u8>,
    /// Bytes asked for.
    pub size: u32,
    /// Alignment asked for.
    pub align: u32,
    /// 0, or the code of the error.
    pub code: u32,
}

impl ArenaBlock {
    /// What was not asked for.
    pub const NONE: ArenaBlock = ArenaBlock {
        ptr: DevicePtr::NULL,
        size: 0,
        align: 16,
        code: 0,
    };
}

/// What came of it for a lane.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct ArenaRow {
    /// 0, or the code of the error of start or take over.
    pub code: u32,
    /// Blocks that did not hold what was written to them.
    pub damaged: u32,
    /// Clean-ups that this lane's call was among the last of.
    pub last: u32,
    /// The arena, if it was handed over.
    pub handle: DevicePtr<u8>,
    /// The lanes that handed it over.
    pub lanes: [u32; 2],
}

/// Fills the lane's blocks from its `first` on, `each` of them.
#[inline(always)]
fn allocate<A: WarpArena>(
    heap: Heap<A>,
    arena: Arena,
    blocks: &mut [ArenaBlock],
    first: usize,
    count: u32,
    plan: ArenaPlan,
    round: u32,
) {
    let mut i = 0;
    while i < count {
        let at = first + i as usize;
        let dice = hash(plan.seed ^ hash(at as u32 ^ round << 24));
        let mut block = ArenaBlock {
            ptr: DevicePtr::NULL,
            size: plan.least + dice % (plan.range + 1),
            align: 16 << ((dice >> 20) % (plan.aligns + 1)),
            code: 0,
        };
        let layout = layout::aligned(block.size as usize, block.align as usize);
        // SAFETY: whichever lanes are here call.
        match unsafe { heap.allocator().alloc(arena, layout) } {
            Ok(ptr) => {
                block.ptr = ptr;
                fill(heap, ptr, 0, words_of(block.size), at as u32 + 1);
            }
            Err(error) => block.code = error.code(),
        }
        blocks[at] = block;
        i += 1;
    }
}

/// How many of the lane's blocks do not hold what was written to them.
#[inline(always)]
fn damaged<A: WarpArena>(heap: Heap<A>, blocks: &[ArenaBlock], first: usize, count: u32) -> u32 {
    let mut damaged = 0;
    let mut i = 0;
    while i < count {
        let at = first + i as usize;
        let block = blocks[at];
        let words = words_of(block.size);
        if !block.ptr.is_null() {
            let good = intact(heap, block.ptr, 0, words, words, at as u32 + 1);
            damaged += !good as u32;
        }
        i += 1;
    }
    damaged
}

/// Blocks of this lane in a round.
#[inline(always)]
fn count_of(plan: ArenaPlan) -> u32 {
    plan.each - thread::index() % 3 % (plan.each + 1)
}

/// Each lane's blocks of the last round are left in `blocks`, `each` places for every lane.
#[kernel(allocators = [FdgMalloc<WarpHeap>, FdgMalloc<ScatterAlloc>, FdgMalloc<CudaMalloc>], unsafe(slices))]
pub fn arena_rounds<A: WarpArena>(
    heap: Heap<A>,
    rows: &mut [ArenaRow],
    blocks: &mut [ArenaBlock],
    plan: ArenaPlan,
) {
    let index = thread::index();
    if ((index as usize) < rows.len()) & (index % 4 != plan.absent) {
        let mut row = ArenaRow {
            code: 0,
            damaged: 0,
            last: 0,
            handle: DevicePtr::NULL,
            lanes: [0; 2],
        };
        // SAFETY: whichever lanes are here call.
        match unsafe { heap.allocator().start() } {
            Ok(arena) => {
                // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
                let lanes = unsafe { heap.allocator() }.lanes(arena);
                let first = (index * plan.each) as usize;
                let mut round = 0;
                while round < plan.rounds {
                    let count = count_of(plan);
                    allocate(heap, arena, blocks, first, count, plan, round);
                    row.damaged += damaged(heap, blocks, first, count);
                    round += 1;
                    if round < plan.rounds {
                        // SAFETY: the lane's blocks are used no more; whichever lanes are here call.
                        row.last += unsafe { heap.allocator().tidy_up(arena) } as u32;
                        // All have tidied up before any of them goes on.
                        // SAFETY: the arena's lanes, all of which come here.
                        unsafe { Group::of(lanes) }.barrier();
                    }
                }
                if plan.finish == HAND_OVER {
                    // SAFETY: whichever lanes are here call.
                    row.handle = unsafe { heap.allocator().hand_over(arena) };
                    row.lanes = [lanes.lo, lanes.hi];
                } else if plan.finish == END {
                    // SAFETY: as above, and blocks are used no more.
                    row.last += unsafe { heap.allocator().end(arena) } as u32;
                }
            }
            Err(error) => row.code = error.code(),
        }
        rows[index as usize] = row;
    }
}

/// Takes over what [`arena_rounds`] handed over: checks the blocks, allocates as many again in the places
/// behind them (`again` says where these begin), and ends.
#[kernel(allocators = [FdgMalloc<WarpHeap>, FdgMalloc<ScatterAlloc>, FdgMalloc<CudaMalloc>], unsafe(slices))]
pub fn arena_resumes<A: WarpArena>(
    heap: Heap<A>,
    rows: &mut [ArenaRow],
    blocks: &mut [ArenaBlock],
    plan: ArenaPlan,
    again: u32,
) {
    let index = thread::index();
    if ((index as usize) < rows.len()) & (index % 4 != plan.absent) {
        let mut row = rows[index as usize];
        // SAFETY: whichever lanes are here call, with handles of the launch before.
        let taken = unsafe { heap.allocator().take_over(row.handle) };
        let lanes = LaneMask {
            lo: row.lanes[0],
            hi: row.lanes[1],
        };
        if !lanes.is_empty() {
            // Those that came apart find the arena taken over already, which they must not after it has ended.
            // SAFETY: the lanes that handed the arena over, all of which come here.
            unsafe { Group::of(lanes) }.barrier();
        }
        match taken {
            Ok(arena) => {
                let first = (index * plan.each) as usize;
                let count = count_of(plan);
                let behind = first + again as usize;
                allocate(heap, arena, blocks, behind, count, plan, 9);
                row.damaged += damaged(heap, blocks, first, count);
                row.damaged += damaged(heap, blocks, behind, count);
                // SAFETY: as above, and blocks are used no more.
                row.last += unsafe { heap.allocator().end(arena) } as u32;
            }
            Err(error) => row.code = error.code(),
        }
        rows[index as usize] = row;
    }
}

/// A kind of misuse: lanes with odd numbers never call start and allocate from no arena.
pub const NEVER_STARTED: u32 = 0;
/// They allocate from the arena of their neighbours, which they have no part in.
pub const BORROWED: u32 = 1;
/// All lanes end, then allocate.
pub const AFTER_END: u32 = 2;
/// Lanes with odd numbers end twice, the others once.
pub const ENDED_TWICE: u32 = 3;

/// Lanes misuse arenas of two rounds of one block. For each lane the codes of its two requests (0 for
/// none), and whether the arena's last call was this lane's.
#[kernel(allocators = [FdgMalloc<WarpHeap>, FdgMalloc<ScatterAlloc>, FdgMalloc<CudaMalloc>], unsafe(slices))]
pub fn arena_misuses<A: WarpArena>(heap: Heap<A>, codes: &mut [u32], kind: u32) {
    let index = thread::index() as usize;
    if index * 3 + 2 < codes.len() {
        let odd = thread::lane() % 2 == 1;
        let group = Group::here();
        let layout = layout::bytes(48);
        let mut arena = Arena::NONE;
        let starts = !odd | (kind >= AFTER_END);
        if starts {
            // SAFETY: whichever lanes are here call.
            if let Ok(started) = unsafe { heap.allocator().start() } {
                arena = started;
            }
        }
        if kind == BORROWED {
            arena = share(group, arena);
        }
        // SAFETY: whichever lanes are here call.
        let first = unsafe { heap.allocator().alloc(arena, layout) };
        codes[index * 3] = code_of(first);
        let mut last = 0;
        let calls = 1 + (odd & (kind == ENDED_TWICE)) as u32;
        // Nobody's arena ends before all have allocated.
        group.barrier();
        let mut call = 0;
        // Who has no part in it and ends it changes nothing.
        while call < calls {
            // SAFETY: blocks are used no more; whichever lanes are here call.
            last |= unsafe { heap.allocator().end(arena) } as u32;
            call += 1;
        }
        codes[index * 3 + 2] = last;
        group.barrier();
        if kind == AFTER_END {
            // SAFETY: whichever lanes are here call.
            let second = unsafe { heap.allocator().alloc(arena, layout) };
            codes[index * 3 + 1] = code_of(second);
        }
    }
}

#[inline(always)]
fn code_of(result: Result<DevicePtr<u8>, AllocError>) -> u32 {
    match result {
        Ok(_) => 0,
        Err(error) => error.code(),
    }
}

/// The arena of the first lane of the group: odd lanes have none.
#[inline(always)]
fn share(group: Group, arena: Arena) -> Arena {
    let granule = arena.ptr().granule();
    let shared = group.shuffle(granule, group.lanes().first());
    Arena::from_ptr(DevicePtr::from_granule(shared))
}
