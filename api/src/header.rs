//! The heap header: the first words of every heap, read by host and device.
//!
//! | words | content |
//! |---|---|
//! | 0 | magic |
//! | 1 | layout version |
//! | 2 | kind of allocator |
//! | 3 | budget in granules, of the adaptor `Limited`; 0 of other allocators, and without a budget |
//! | 4..8 | failures by cause (index = error code; 4 unused) |
//! | 8..11 | arenas: settings, open ones, misuses; 0 of other allocators |
//! | 11 | requests until one is refused, of the adaptor `Failing`; 0 of other allocators |
//! | 12 | granules of the budget that are in use, of `Limited`; 0 of other allocators |
//! | 13 | granules of the pool, of the adaptor `Checked`; 0 of other allocators |
//! | 14..16 | granules that requests asked for which found nothing, low word and high word |
//! | 16..16+8×32 | counters, in 32 stripes so that warps do not meet on one word |
//!
//! The counters are written by the adaptor `Counted` alone; the failure counts by every allocator.

/// First word of a heap: `WHP1` in ASCII, little-endian.
pub const MAGIC: u32 = 0x3150_4857;

/// Word index of the magic number.
pub const WORD_MAGIC: usize = 0;
/// Word index of the layout version.
pub const WORD_VERSION: usize = 1;
/// Word index of the allocator's kind.
pub const WORD_KIND: usize = 2;
/// Word index of the budget in granules, made by the host; a reset by a kernel leaves it.
pub const WORD_BUDGET: usize = 3;
/// Word index of the failure counts: add the error code.
pub const WORD_FAILURES: usize = 4;
/// Word index of the settings of arenas, made by the host.
pub const WORD_ARENA_SETTINGS: usize = 8;
/// Word index of the number of open arenas, where they are counted.
pub const WORD_ARENAS_OPEN: usize = 9;
/// Word index of the number of calls on arenas that were misuse.
pub const WORD_ARENA_MISUSES: usize = 10;
/// Word index of the number of requests until one is refused, which one that refuses counts down.
pub const WORD_REFUSE: usize = 11;
/// Word index of the granules of the budget that are in use.
pub const WORD_SPENT: usize = 12;
/// Word index of the granules of the pool, by which the host finds the words at its end; a reset by a kernel leaves it.
pub const WORD_POOL: usize = 13;
/// Word index of the granules of requests that were [`Exhausted`](crate::AllocError::Exhausted), low word; the high word follows.
pub const WORD_REFUSED: usize = 14;
/// Word index of the first stripe of counters.
pub const WORD_COUNTERS: usize = 16;

/// Number of counter stripes.
pub const STRIPES: usize = 32;
/// Words of one stripe.
pub const STRIPE_WORDS: usize = 8;

/// In a stripe: blocks handed out.
pub const COUNT_MALLOCS: usize = 0;
/// In a stripe: blocks taken back.
pub const COUNT_FREES: usize = 1;
/// In a stripe: bytes asked for by mallocs, low word; the high word follows.
pub const COUNT_MALLOC_BYTES: usize = 2;
/// In a stripe: bytes given back by frees, low word; the high word follows.
pub const COUNT_FREE_BYTES: usize = 4;

/// Words of the header. The allocator's own metadata begins here.
pub const HEADER_WORDS: usize = WORD_COUNTERS + STRIPES * STRIPE_WORDS;

static_assertions::const_assert!(HEADER_WORDS % 4 == 0);
static_assertions::const_assert!(COUNT_FREE_BYTES + 2 <= STRIPE_WORDS);
