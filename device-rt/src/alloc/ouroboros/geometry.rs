//! Where metadata and chunks lie, and which chunks serve which sizes.
//!
//! Chunks are numbered from the front of the data; one of a larger instance is a row of chunks of the
//! base instance, as many as a power of two, that begins at a multiple of their number. Pages are
//! powers of two, and a *class* is a page size: the classes of all instances in one row.

use warpheap_api::{HeapParams, header, least, select};

/// Parameter: granule of chunk 0.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: chunks of the base instance's size.
pub(crate) const PARAM_CHUNKS: usize = 1;
/// Parameter: four bytes; see [`pack_shape`].
pub(crate) const PARAM_SHAPE: usize = 2;
/// Parameter: first word of the chunks' headers.
pub(crate) const PARAM_HEADERS: usize = 3;
/// Parameter: first word of what queues keep outside of chunks.
pub(crate) const PARAM_QUEUES: usize = 4;
/// Parameter: two to this power words of that are one queue's.
pub(crate) const PARAM_QUEUE_LOG: usize = 5;
/// Parameter: first word of the bits of taken chunks.
pub(crate) const PARAM_BITS: usize = 6;
/// Parameter: queue chunks that stay behind the front of a linked queue.
pub(crate) const PARAM_TRAIL: usize = 7;

/// First word of the heads of the classes; the head behind the last class is the chunk manager's.
pub(crate) const HEADS_WORD: usize = header::HEADER_WORDS.next_multiple_of(256);
/// Words of a head. Words that many warps change lie a quarter of it apart.
pub(crate) const HEAD_WORDS: usize = 1024;
/// Words of a chunk's header: 128 bytes, as in the paper (§3.2).
pub(crate) const HEADER_WORDS: usize = 32;
/// Word of a chunk's header where the bits of its pages begin.
pub(crate) const HEADER_BITS: usize = 16;
/// Most pages of a chunk: as many bits as a header has.
pub(crate) const MOST_PAGES: u32 = 512;

/// Of a class: pages that can be had, the semaphore's count.
pub(crate) const HEAD_COUNT: usize = 0;
/// Pages that are about to be made, the semaphore's expected ones.
pub(crate) const HEAD_EXPECTED: usize = 64;
/// Pages that lanes wait for, the semaphore's reserved ones.
pub(crate) const HEAD_RESERVED: usize = 65;
/// Pages of which the chunks' bits say that they are free, where pages are usually in the queue.
pub(crate) const HEAD_SPILLED: usize = 66;
/// Entries of a queue of chunks.
pub(crate) const HEAD_ENTRIES: usize = 384;
/// First of the [`SLOTS`] of a queue of chunks: a chunk's number and one, or 0.
pub(crate) const HEAD_SLOTS: usize = 576;
/// Chunks of a class that warps take pages from at the same time.
pub(crate) const SLOTS: u32 = 64;
/// Position of the queue's front.
pub(crate) const HEAD_FRONT: usize = 256;
/// Position of the queue's back.
pub(crate) const HEAD_BACK: usize = 512;
/// Positions behind the back that there is room for.
pub(crate) const HEAD_ROOM: usize = 768;
/// Number of the next queue chunk, and a bit that says whether somebody adds it.
pub(crate) const HEAD_NEXT: usize = 832;
/// Linked queue: the queue chunk at the front.
pub(crate) const HEAD_FIRST: usize = 834;
/// Linked queue: the queue chunk at the back.
pub(crate) const HEAD_LAST: usize = 835;
/// Linked queue: the oldest queue chunk that was not given back.
pub(crate) const HEAD_OLD: usize = 836;
/// Linked queue: queue chunks from that one to the front.
pub(crate) const HEAD_PASSED: usize = 837;
/// Linked queue: the queue chunk that was added last.
pub(crate) const HEAD_NEWEST: usize = 838;

/// Of the chunk manager: free chunks.
pub(crate) const HEAD_FREE: usize = 0;
/// Of the chunk manager: a count of the chunks that were asked for.
pub(crate) const HEAD_TICKET: usize = 256;

/// In place of a chunk, a queue's entry or a granule: none. The paper's deletion marker.
pub(crate) const NONE: u32 = u32::MAX;

/// Granules (as powers of two) of a base chunk and of the smallest page, the number of classes, and how
/// many doublings lie between an instance and the next.
#[inline(always)]
pub(crate) const fn pack_shape(chunk_log: u32, least_log: u32, classes: u32, step: u32) -> u32 {
    chunk_log | least_log << 8 | classes << 16 | step << 24
}

/// Two to this power are at least `count`, which is not zero.
#[inline(always)]
pub(crate) const fn log_up(count: u32) -> u32 {
    32 - (count - 1).leading_zeros()
}

/// A heap's layout.
#[derive(Clone, Copy)]
pub(crate) struct Geometry {
    pub(crate) data: u32,
    pub(crate) chunks: u32,
    shape: u32,
    headers: u32,
    pub(super) queues: u32,
    pub(super) queue_log: u32,
    bits: u32,
    pub(super) trail: u32,
}

impl Geometry {
    #[inline(always)]
    pub(crate) fn new(params: HeapParams) -> Self {
        Geometry {
            data: params[PARAM_DATA],
            chunks: params[PARAM_CHUNKS],
            shape: params[PARAM_SHAPE],
            headers: params[PARAM_HEADERS],
            queues: params[PARAM_QUEUES],
            queue_log: params[PARAM_QUEUE_LOG],
            bits: params[PARAM_BITS],
            trail: params[PARAM_TRAIL],
        }
    }

    /// Two to this power granules are a base chunk.
    #[inline(always)]
    pub(crate) fn chunk_log(self) -> u32 {
        self.shape & 0xff
    }

    /// Two to this power entries are in a queue chunk.
    #[inline(always)]
    pub(super) fn slots_log(self) -> u32 {
        self.chunk_log() + 2
    }

    /// Two to this power granules are the smallest page.
    #[inline(always)]
    fn least_log(self) -> u32 {
        (self.shape >> 8) & 0xff
    }

    /// Page sizes of all instances.
    #[inline(always)]
    pub(crate) fn classes(self) -> u32 {
        (self.shape >> 16) & 0xff
    }

    /// The class of pages that hold so many granules at this alignment; the number of classes or more
    /// if there is none.
    #[inline(always)]
    pub(super) fn class_of(self, granules: u32, align: u32) -> u32 {
        let log = log_up(select(granules > align, granules, align));
        let least = self.least_log();
        select(log > least, log.wrapping_sub(least), 0)
    }

    /// Two to this power granules are a page of the class.
    #[inline(always)]
    pub(crate) fn page_log(self, class: u32) -> u32 {
        class + self.least_log()
    }

    /// Two to this power base chunks are a chunk of the class's instance.
    #[inline(always)]
    pub(crate) fn units_log(self, class: u32) -> u32 {
        let (page, chunk) = (self.page_log(class), self.chunk_log());
        let step = self.shape >> 24;
        let beyond = select(page > chunk, page.wrapping_sub(chunk), 0);
        // A base instance alone has no step.
        let step = select(step == 0, 1, step);
        beyond.div_ceil(step) * step
    }

    /// Two to this power pages are in a chunk of the class.
    #[inline(always)]
    fn pages_log(self, class: u32) -> u32 {
        self.chunk_log() + self.units_log(class) - self.page_log(class)
    }

    /// Pages of a chunk of the class.
    #[inline(always)]
    pub(crate) fn pages(self, class: u32) -> u32 {
        1 << self.pages_log(class)
    }

    /// Granule of a chunk.
    #[inline(always)]
    pub(super) fn granule(self, chunk: u32) -> u32 {
        // Also of none.
        self.data.wrapping_add(chunk << self.chunk_log())
    }

    /// The chunk of the class that holds a page, and the page's number in it.
    #[inline(always)]
    pub(super) fn place(self, class: u32, granule: u32) -> (u32, u32) {
        let offset = granule.wrapping_sub(self.data);
        let units = self.units_log(class);
        let chunk = offset >> self.chunk_log() >> units << units;
        let page = offset >> self.page_log(class);
        (chunk, page & (self.pages(class) - 1))
    }

    /// First word of a chunk's header.
    #[inline(always)]
    pub(crate) fn header(self, chunk: u32) -> usize {
        self.headers as usize + chunk as usize * HEADER_WORDS
    }

    /// A word of a class's head.
    #[inline(always)]
    pub(crate) fn head(self, class: u32, word: usize) -> usize {
        HEADS_WORD + class as usize * HEAD_WORDS + word
    }

    /// A word of the chunk manager's head.
    #[inline(always)]
    pub(super) fn manager(self, word: usize) -> usize {
        self.head(self.classes(), word)
    }

    /// The word with the bit of a chunk.
    #[inline(always)]
    pub(super) fn taken_word(self, chunk: u32) -> usize {
        self.bits as usize + (chunk >> 5) as usize
    }

    /// Words of bits of taken chunks.
    #[inline(always)]
    pub(super) fn taken_words(self) -> u32 {
        self.chunks.div_ceil(32)
    }

    /// Bits of a word that belong to a chunk of two to this power base chunks.
    #[inline(always)]
    pub(super) fn unit_bits(units_log: u32) -> u32 {
        u32::MAX >> (32 - (1 << least(units_log, 5)))
    }
}
