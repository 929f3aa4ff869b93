//! A hash join in the manner of radix hashing: partition, build, probe. The probe writes what it finds into
//! pages that it gets from the allocator while it runs.
//!
//! A key's hash says where it belongs: its upper bits are the number of a *bucket*, and the upper bits of
//! that the number of a *partition*. So a partition is a stretch of buckets, and tuples that are in order by
//! partition look for their partners in a stretch of memory that a cache holds.
//!
//! A page has two words, the granule of the page before it and the number of its matches, and then the
//! matches. It belongs to one lane, which puts each new page in front of its list.

use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// A row of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Tuple {
    /// What rows are joined by.
    pub key: u32,
    /// What comes out, for instance the number of the row.
    pub payload: u32,
}

/// A row in its bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Chained {
    /// Its key.
    pub key: u32,
    /// Its payload.
    pub payload: u32,
    /// Number of the next row of the bucket, counted from 1, or 0.
    pub next: u32,
}

/// Two rows with the same key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Match {
    /// Payload of the row that the hash table holds.
    pub build: u32,
    /// Payload of the row that looked for it.
    pub probe: u32,
}

/// The pages of one lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Pages {
    /// Granule of the page that was begun last, if there is one.
    pub first: u32,
    /// Pages.
    pub count: u32,
    /// Matches in all of them.
    pub matches: u32,
}

/// Words of a page before its matches.
pub const PAGE_HEAD_WORDS: u32 = 2;
/// Words of a match.
pub const MATCH_WORDS: u32 = 2;

/// Matches that a page of so many bytes holds.
#[inline(always)]
pub const fn matches_of_page(page_bytes: u32) -> u32 {
    if page_bytes < 4 * PAGE_HEAD_WORDS {
        return 0;
    }
    (page_bytes / 4 - PAGE_HEAD_WORDS) / MATCH_WORDS
}

/// Counts the tuples of each partition: that of a key is its hash without the lower `shift` bits.
#[kernel]
pub fn join_histogram(tuples: &[Tuple], counts: &[AtomicWord], shift: u32) {
    let i = thread::index() as usize;
    if i < tuples.len() {
        counts[(hash(tuples[i].key) >> shift) as usize].fetch_add(1);
    }
}

/// Puts the tuples in order by partition. `ends` has the place of the first tuple of each partition, and
/// afterwards that behind the last.
#[kernel(unsafe(slices))]
pub fn join_scatter(tuples: &[Tuple], ends: &[AtomicWord], out: &mut [Tuple], shift: u32) {
    let i = thread::index() as usize;
    if i < tuples.len() {
        let tuple = tuples[i];
        let at = ends[(hash(tuple.key) >> shift) as usize].fetch_add(1) as usize;
        if at < out.len() {
            out[at] = tuple;
        }
    }
}

/// Chains the tuples of each bucket: the bucket of a key is its hash without the lower `shift` bits. `heads`
/// has the number of a bucket's first row counted from 1, or 0.
#[kernel(unsafe(slices))]
pub fn join_build(tuples: &[Tuple], heads: &[AtomicWord], rows: &mut [Chained], shift: u32) {
    let i = thread::index();
    let count = tuples.len() as u32;
    if i < count {
        let tuple = tuples[i as usize];
        let bucket = (hash(tuple.key) >> shift) as usize;
        let mut next = heads[bucket].load();
        let mut open = true;
        let mut tries = 0;
        // A try fails because another row became the first, which each of them does once.
        while open & (tries <= count) {
            let found = heads[bucket].compare_exchange(next, i + 1);
            if found == next {
                open = false;
            } else {
                next = found;
            }
            tries += 1;
        }
        rows[i as usize] = Chained {
            key: tuple.key,
            payload: tuple.payload,
            next,
        };
    }
}

/// Counts the rows that those of `probe` may have as partners: lane `i` of `sums.len()` adds up, for every row whose index is `i` modulo
/// that, what [`join_histogram`] counted of the other table with the same `shift`. A sum that no word holds is the largest word.
#[kernel(unsafe(slices))]
pub fn join_partners(probe: &[Tuple], counts: &[u32], sums: &mut [u32], shift: u32) {
    let lane = thread::index() as usize;
    if lane < sums.len() {
        let mut sum = 0u32;
        let mut at = lane;
        while at < probe.len() {
            let count = counts[(hash(probe[at].key) >> shift) as usize];
            let most = u32::MAX - sum;
            sum += if count < most { count } else { most };
            at += sums.len();
        }
        sums[lane] = sum;
    }
}

/// Looks for the partners of the tuples of `probe`: lane `i` of `lists.len()` for every tuple whose index
/// is `i` modulo that. It writes each match to the page that it has begun, and gets a page when it has none or
/// that is full. What a lane found before the heap was full is in its list.
#[kernel(allocators = [all, Traced<WarpHeap>], unsafe(slices))]
pub fn join_probe<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &[Chained],
    heads: &[u32],
    probe: &[Tuple],
    lists: &mut [Pages],
    shift: u32,
    page_bytes: u32,
) -> Result<(), AllocError> {
    let lane = thread::index() as usize;
    if lane >= lists.len() {
        return Ok(());
    }
    // SAFETY: the words of the lane's own pages.
    let memory = unsafe { heap.words() };
    let room = matches_of_page(page_bytes);
    if room == 0 {
        return Err(AllocError::Unsupported);
    }
    let mut result = Ok(());
    let mut page = DevicePtr::<u8>::NULL;
    // As if there were a full page: the first match asks for one.
    let mut filled = room;
    let mut pages = 0;
    let mut matches = 0;
    let mut at = lane;
    let mut link = 0;
    let mut tuple = Tuple { key: 0, payload: 0 };
    let mut open = true;
    // One loop over tuples and chains alike, so that lanes of a warp come together to ask for pages. A chain ends,
    // because each row is in one chain and once.
    while open {
        if link == 0 {
            if at < probe.len() {
                tuple = probe[at];
                link = heads[(hash(tuple.key) >> shift) as usize];
                at += lists.len();
            } else {
                open = false;
            }
        } else {
            let found = rows[(link - 1) as usize];
            link = found.next;
            if found.key == tuple.key {
                if filled == room {
                    match heap.malloc(layout::bytes(page_bytes as usize)) {
                        Ok(new) => {
                            memory.write(memory.word_of(new), page.granule());
                            if pages > 0 {
                                memory.write(memory.word_of(page) + 1, filled);
                            }
                            page = new;
                            pages += 1;
                            filled = 0;
                        }
                        Err(error) => {
                            result = Err(error);
                            open = false;
                        }
                    }
                }
                if open {
                    let word =
                        memory.word_of(page) + (PAGE_HEAD_WORDS + filled * MATCH_WORDS) as usize;
                    memory.write(word, found.payload);
                    memory.write(word + 1, tuple.payload);
                    filled += 1;
                    matches += 1;
                }
            }
        }
    }
    if pages > 0 {
        memory.write(memory.word_of(page) + 1, filled);
    }
    lists[lane] = Pages {
        first: page.granule(),
        count: pages,
        matches,
    };
    result
}

/// Copies the matches out of the pages: those of list `i` to `out[offsets[i]..offsets[i + 1]]`, no further than
/// fits there.
#[kernel(allocators = [all, Traced<WarpHeap>], unsafe(slices))]
pub fn join_collect<A: DeviceAlloc>(
    heap: Heap<A>,
    lists: &[Pages],
    offsets: &[u32],
    out: &mut [Match],
) {
    let i = thread::index() as usize;
    if i < lists.len() {
        // SAFETY: the words of the lane's own pages.
        let memory = unsafe { heap.words() };
        let list = lists[i];
        let mut page = DevicePtr::<u8>::from_granule(list.first);
        let mut at = offsets[i];
        let end = offsets[i + 1];
        for _ in 0..list.count {
            let word = memory.word_of(page);
            let before = memory.read(word);
            let matches = memory.read(word + 1);
            let room = end - at;
            let count = if matches < room { matches } else { room };
            for number in 0..count {
                let word = word + (PAGE_HEAD_WORDS + number * MATCH_WORDS) as usize;
                out[(at + number) as usize] = Match {
                    build: memory.read(word),
                    probe: memory.read(word + 1),
                };
            }
            at += count;
            page = DevicePtr::from_granule(before);
        }
    }
}

/// Frees the pages of all lists and leaves them empty.
#[kernel(allocators = [all, Traced<WarpHeap>], unsafe(slices))]
pub fn join_free<A: DeviceAlloc>(heap: Heap<A>, lists: &mut [Pages], page_bytes: u32) {
    let i = thread::index() as usize;
    if i < lists.len() {
        let list = lists[i];
        let mut page = DevicePtr::<u8>::from_granule(list.first);
        for _ in 0..list.count {
            // SAFETY: the words of the lane's own pages.
            let before = unsafe { heap.words() }.read(heap.word_of(page));
            // SAFETY: the page came from this heap with this layout, and is in this list alone.
            unsafe { heap.free(page, layout::bytes(page_bytes as usize)) };
            page = DevicePtr::from_granule(before);
        }
        lists[i] = Pages {
            first: DevicePtr::<u8>::NULL_GRANULE,
            count: 0,
            matches: 0,
        };
    }
}
