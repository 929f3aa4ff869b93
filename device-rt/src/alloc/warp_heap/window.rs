//! What lanes share that have no home: those that ask alone, or of which some ask for one class and some for another.
//!
//! Each row has *currents*, words that name the chunks in use; which of them a warp reads is told by its number. A chunk
//! without room is replaced by another one of the row's *window*: places that were opened before, by cells too. Where
//! none has room a chunk is opened, at a place behind the window that is the same for many warps, so that a launch opens
//! as many as it fills and not one for each warp. Where the window no longer has chunks of the class it shrinks.
//!
//! All of this says only where to look, so it is read as near as there is a copy. What is written here may be old, or
//! overwritten by somebody else, and nothing is lost: what decides are a chunk's state and bits. Who looks are `look` and
//! `look_units`.

use super::WarpHeap;
use super::row::{Row, Want};
use super::state::{FREE, count_of, tag_of};
use crate::arch;
use crate::sync::hash;
use crate::thread;
use warpheap_api::{HeapMemory, select};

/// The score of a chunk that is nearly full: most of its words are.
const NEARLY_FULL: u32 = 2;

/// How good a chunk in this state is for a row: the fuller the better, so that the others become idle; less again if it is
/// nearly full, 1 if nobody uses it, 0 if it has no room.
#[inline(always)]
pub(super) fn score(row: Row, state: u32) -> u32 {
    let count = count_of(state);
    let nearly_full = count > row.most - row.most / 8;
    let score = select(nearly_full, NEARLY_FULL, NEARLY_FULL + 1 + count);
    select(has_room(row, state), score, (state == FREE) as u32)
}

/// Whether a chunk in this state is of a row and has room.
#[inline(always)]
pub(super) fn has_room(row: Row, state: u32) -> bool {
    (tag_of(state) == row.tag) & (count_of(state) <= row.limit)
}

/// Whether a chunk in this state is used by another row.
#[inline(always)]
pub(super) fn is_foreign(row: Row, state: u32) -> bool {
    (tag_of(state) != row.tag) & (state != FREE)
}

/// The number of the calling warp in the launch.
#[inline(always)]
pub(super) fn warp() -> u32 {
    thread::index() >> arch::warp_width().trailing_zeros()
}

/// Where a warp opens a chunk.
#[derive(Clone, Copy)]
pub(super) struct Opening {
    /// The place.
    pub place: u32,
    /// How many warps that want as many come before it there; for others some number.
    pub rank: u32,
}

impl WarpHeap {
    /// The place behind a window where the calling warp opens a chunk. Warps are spread over a quarter as many places as
    /// the window has. If all warps are expected to want some, it is as many as they would take where nothing is open yet,
    /// and an eighth of that where most may find room in what is.
    #[inline(always)]
    pub(super) fn opening(self, row: Row, want: Want, window: u32) -> Opening {
        let warps = thread::count() >> arch::warp_width().trailing_zeros();
        let all = warps * want.many / row.most;
        let all = select(window == 0, all, all / 8);
        let some = window / 4 + 1;
        let many = all > some;
        let spread = select(many, all, some);
        let number = select(many, warp(), hash(warp()));
        let rank = number / spread;
        Opening {
            place: window + number - rank * spread,
            rank,
        }
    }

    /// The chunk at a place of a row.
    #[inline(always)]
    pub(super) fn chunk_at(self, row: u32, granules: u32, place: u32) -> u32 {
        let entry = self.words.glance(self.geometry.directory_word(row, place));
        let home = self.geometry.home(granules, place);
        select(entry == 0, home, entry.wrapping_sub(1))
    }

    /// Makes a window smaller by a quarter, of which all that somebody looked at is of other rows.
    #[inline(always)]
    pub(super) fn narrow(self, row: Row, window: u32) {
        let less = window - window / 4 - 1;
        self.words
            .compare_exchange(self.geometry.window_word(row.index), window, less);
    }

    /// The leader of a search that opened a chunk adds it to the row, and notes where the search ended.
    #[inline(always)]
    pub(super) fn note(self, row: Row, chunk: u32, opened: bool) {
        let (words, geometry) = (self.words, self.geometry);
        words.store(geometry.ended_word(row.index), chunk + 1);
        words.store(geometry.current_word(row.index, warp()), chunk + 1);
        if opened {
            let window = words.load(geometry.window_word(row.index));
            let any = hash(chunk) & (geometry.places() - 1);
            let place = select(window < geometry.places(), window, any);
            words.store(geometry.directory_word(row.index, place), chunk + 1);
            words.fetch_max(geometry.window_word(row.index), place + 1);
        }
    }
}
