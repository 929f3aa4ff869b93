//! Kernels whose blocks share words.

use warpheap_rt::device::*;

/// Bins of [`block_counts`].
pub const BINS: usize = 8;
/// Words that it leaves for each block.
pub const COUNTS: u32 = BINS as u32 + 4;

/// Each lane gets the sum of the values of its block, which halves the numbers that are left until there is one. Blocks have
/// up to 256 lanes.
#[kernel]
pub fn block_sums(values: &[u32], shared: SharedWords<256>, mut out: PerLane<u32>) {
    let i = thread::index_in_block();
    let at = thread::index() as usize;
    let mut own = 0;
    if at < values.len() {
        own = values[at];
    }
    // SAFETY: each lane writes its own word, and all are at each barrier, since the loop is the same for all.
    unsafe {
        shared.write(i, own);
        thread::block_barrier();
        let mut left = thread::block_dim();
        while left > 1 {
            let half = left.div_ceil(2);
            if i + half < left {
                shared.write(i, shared.read(i) + shared.read(i + half));
            }
            thread::block_barrier();
            left = half;
        }
    }
    if let Some(index) = out.lane_index() {
        // SAFETY: nobody writes it behind the last barrier.
        out[index] = unsafe { shared.read(0) };
    }
}

/// For each block [`COUNTS`] words: how many of its values leave each rest, the least and the greatest of them, all of
/// their bits, and how many lanes were the first to change a word, which has to be one.
#[kernel]
pub fn block_counts(
    values: &[u32],
    bins: SharedWords<BINS>,
    others: SharedWords<{ BINS - 4 }>,
    out: &[AtomicWord],
) {
    let i = thread::index_in_block();
    if i == 0 {
        for k in 0..bins.len() {
            bins.store(k, 0);
        }
        others.store(0, u32::MAX);
        others.store(1, 0);
        others.store(2, 0);
        others.store(3, 0);
    }
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
    let at = thread::index() as usize;
    if at < values.len() {
        let value = values[at];
        bins.fetch_add(value % BINS as u32, 1);
        others.fetch_min(0, value);
        others.fetch_max(1, value);
        others.fetch_or(2, value);
        if others.compare_exchange(3, 0, i + 1) == 0 {
            // The first one leaves its mark in the upper half.
            others.fetch_add(3, 1 << 16);
        }
    }
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
    let first = thread::block_index() * COUNTS;
    if (i < COUNTS) & (((first + COUNTS) as usize) <= out.len()) {
        let word = if i < bins.len() {
            bins.load(i)
        } else if i < COUNTS - 1 {
            others.load(i - bins.len())
        } else {
            others.exchange(3, 0) >> 16
        };
        out[(first + i) as usize].store(word);
    }
}

/// Nearly as much as CUDA has: each lane gets what the next one of its block wrote.
#[kernel]
pub fn share_much(shared: SharedWords<12_000>, mut out: PerLane<u32>) {
    let (i, lanes) = (thread::index_in_block(), thread::block_dim());
    let stride = shared.len() / lanes;
    shared.store(i * stride, thread::index());
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
    if let Some(index) = out.lane_index() {
        out[index] = shared.load((i + 1) % lanes * stride);
    }
}

/// A lane writes where there is no word.
#[kernel]
pub fn share_beyond(shared: SharedWords<4>, at: u32, mut out: PerLane<u32>) {
    shared.store(at, 7);
    if let Some(index) = out.lane_index() {
        out[index] = shared.load(0);
    }
}
