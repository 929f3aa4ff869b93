//! Lanes that free and allocate in turn, and look at what they wrote before they free it.

use crate::mix::Mix;
use crate::pattern::{ENDS, damage, words_of, write};
use warpheap_rt::api::select;
use warpheap_rt::device::*;
use warpheap_rt::sync::{Group, group_sum, hash};

/// Index in `counts`: mallocs that failed.
pub const FAILED: usize = 0;
/// Index in `counts`: blocks that did not hold what was written to them.
pub const DAMAGED: usize = 1;
/// Index in `counts`: blocks that were freed.
pub const FREED: usize = 2;
/// Number of `counts`.
pub const COUNTS: usize = 3;

/// Slots of a lane in [`churn`].
pub const SLOTS: u32 = 4;

/// Words of the slots of a lane; in registers, so chosen from without an index.
#[derive(Clone, Copy)]
struct Slots {
    a: u32,
    b: u32,
    c: u32,
    d: u32,
}

impl Slots {
    #[inline(always)]
    fn all(word: u32) -> Self {
        Slots {
            a: word,
            b: word,
            c: word,
            d: word,
        }
    }

    #[inline(always)]
    fn get(self, at: u32) -> u32 {
        let low = select(at & 1 == 0, self.a, self.b);
        let high = select(at & 1 == 0, self.c, self.d);
        select(at & 2 == 0, low, high)
    }

    #[inline(always)]
    fn with(self, at: u32, word: u32) -> Self {
        Slots {
            a: select(at == 0, word, self.a),
            b: select(at == 1, word, self.b),
            c: select(at == 2, word, self.c),
            d: select(at == 3, word, self.d),
        }
    }
}

/// The stamp of the block that a lane allocates in a round.
#[inline(always)]
fn stamp_of(lane: u32, round: u32) -> u32 {
    hash(lane).wrapping_add(round)
}

/// Each of `lanes` lanes, for `rounds` rounds: picks one of its four slots; checks and frees the block in
/// it, if there is one; allocates a block of another size of `mix` and writes it. Then it empties all
/// slots. Of each block every `step`-th word is written and checked.
#[kernel(allocators = all)]
pub fn churn<A: DeviceAlloc>(
    heap: Heap<A>,
    counts: &[AtomicWord],
    mix: Mix,
    lanes: u32,
    rounds: u32,
    step: u32,
) {
    let lane = thread::index();
    if lane < lanes {
        let mut handles = Slots::all(DevicePtr::<u8>::NULL.granule());
        let mut stamps = Slots::all(0);
        let mut failed = 0;
        let mut damaged = 0;
        for round in 0..rounds + SLOTS {
            let goes_on = round < rounds;
            let dice = hash(stamp_of(lane, round)) >> 7;
            let at = select(goes_on, dice, round.wrapping_sub(rounds)) & (SLOTS - 1);
            let old = DevicePtr::<u8>::from_granule(handles.get(at));
            if !old.is_null() {
                let stamp = stamps.get(at);
                let size = mix.size(stamp);
                damaged += damage(heap, old, words_of(size), stamp, step);
                // SAFETY: the lane's own block, of this size, that it forgets below.
                unsafe { heap.free(old, layout::bytes(size as usize)) };
            }
            let mut handle = DevicePtr::<u8>::NULL.granule();
            let stamp = stamp_of(lane, round);
            if goes_on {
                let size = mix.size(stamp);
                match heap.malloc(layout::bytes(size as usize)) {
                    Ok(new) => {
                        write(heap, new, 0, words_of(size), stamp, step);
                        handle = new.granule();
                    }
                    Err(_) => failed += 1,
                }
            }
            handles = handles.with(at, handle);
            stamps = stamps.with(at, stamp);
        }
        add(counts, FAILED, failed);
        add(counts, DAMAGED, damaged);
    }
}

/// The number by which slot `slot` asks `mix` for its size, when it was filled `times` times before.
#[inline(always)]
pub fn request_of(slot: u32, times: u32) -> u32 {
    slot ^ hash(times)
}

/// Writes the ends of blocks that were allocated as requests of `mix`, so that [`refill`] can check them.
#[kernel(allocators = all)]
pub fn stamp<A: DeviceAlloc>(heap: Heap<A>, blocks: &[DevicePtr<u8>], mix: Mix) {
    let i = thread::index() as usize;
    if i < blocks.len() {
        let block = blocks[i];
        if !block.is_null() {
            let words = words_of(mix.size(i as u32));
            write(heap, block, 0, words, request_of(i as u32, 0), ENDS);
        }
    }
}

/// What the lanes of a launch of [`refill`] do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Turn {
    /// How many take part.
    pub lanes: u32,
    /// How often each picks a slot.
    pub rounds: u32,
    /// Makes the choice of slots differ from that of other launches.
    pub seed: u32,
}

/// Each lane, in each round of its turn: picks one of its slots, which are those at its index and every
/// `lanes` further; checks and frees the block there, if there is one; allocates one of another
/// size. `times` says how often a slot was filled. A slot whose malloc failed stays empty until it is
/// picked again.
#[kernel(allocators = all, unsafe(slices))]
pub fn refill<A: DeviceAlloc>(
    heap: Heap<A>,
    slots: &mut [DevicePtr<u8>],
    times: &mut [u32],
    counts: &[AtomicWord],
    mix: Mix,
    turn: Turn,
) {
    let lane = thread::index();
    let all = slots.len() as u32;
    if lane < turn.lanes && turn.lanes <= all && times.len() >= slots.len() {
        let own = all / turn.lanes;
        let mut freed = 0;
        let mut failed = 0;
        let mut damaged = 0;
        for round in 0..turn.rounds {
            let dice = hash(stamp_of(lane, round) ^ turn.seed);
            let slot = (dice % own) * turn.lanes + lane;
            let i = slot as usize;
            let old = slots[i];
            let before = times[i];
            if !old.is_null() {
                let stamp = request_of(slot, before);
                let size = mix.size(stamp);
                damaged += damage(heap, old, words_of(size), stamp, ENDS);
                // SAFETY: the slot's block, of this size, that is forgotten below.
                unsafe { heap.free(old, layout::bytes(size as usize)) };
                freed += 1;
            }
            let stamp = request_of(slot, before.wrapping_add(1));
            let size = mix.size(stamp);
            match heap.malloc(layout::bytes(size as usize)) {
                Ok(new) => {
                    write(heap, new, 0, words_of(size), stamp, ENDS);
                    slots[i] = new;
                }
                Err(_) => {
                    slots[i] = DevicePtr::NULL;
                    failed += 1;
                }
            }
            times[i] = before.wrapping_add(1);
        }
        add(counts, DAMAGED, damaged);
        add_together(counts, FAILED, failed);
        add_together(counts, FREED, freed);
    }
}

/// Checks and frees what [`refill`] left in the slots.
#[kernel(allocators = all)]
pub fn drain<A: DeviceAlloc>(
    heap: Heap<A>,
    slots: &[DevicePtr<u8>],
    times: &[u32],
    counts: &[AtomicWord],
    mix: Mix,
) {
    let i = thread::index() as usize;
    if i < slots.len() && times.len() >= slots.len() {
        let old = slots[i];
        if !old.is_null() {
            let stamp = request_of(i as u32, times[i]);
            let size = mix.size(stamp);
            add(
                counts,
                DAMAGED,
                damage(heap, old, words_of(size), stamp, ENDS),
            );
            // SAFETY: the slot's block, of this size; the host forgets it.
            unsafe { heap.free(old, layout::bytes(size as usize)) };
        }
    }
}

/// Adds to a count, if there is something to add.
#[inline(always)]
pub(crate) fn add(counts: &[AtomicWord], at: usize, number: u32) {
    if number != 0 && at < counts.len() {
        counts[at].fetch_add(number);
    }
}

/// Like [`add`], once for all lanes of the warp that are here: for counts to which every lane adds. The emulator tells places by their
/// callers: lanes that add to one count are not together with those that add to another.
#[inline(always)]
#[track_caller]
pub(crate) fn add_together(counts: &[AtomicWord], at: usize, number: u32) {
    let group = Group::here();
    let sum = group_sum(group, number).total;
    add(counts, at, select(group.leads(), sum, 0));
}
