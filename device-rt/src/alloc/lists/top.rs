//! Memory behind the last segment: handed out by an addition.
//!
//! The addition that carries the top beyond the end is the only one that does, because what comes after
//! begins beyond it; its warp puts the top back to where it was, and nobody takes anything meanwhile.

use super::geometry::TOP_WORD;
use super::{Ask, Row, SegmentLists};
use crate::arch::Group;
use crate::sync::group_sum;
use warpheap_api::{HeapMemory, select};

/// Requests of a warp of more units than this go one by one: 64 lanes and 16000 warps at a time stay below
/// 2^30, as many as there may be units, so the top cannot wrap before it is put back.
const MOST_ADDED: u32 = 1 << 16;
/// Compare-and-swap attempts before a lane looks elsewhere.
const ATTEMPTS: u32 = 64;

impl<const PER_PROCESSOR: bool> SegmentLists<PER_PROCESSOR> {
    /// Collective: a block for each lane that `wants` one, by one addition for all; others keep `unit`.
    #[inline(always)]
    pub(super) fn top_together(self, group: Group, ask: Ask, wants: bool, unit: u32) -> u32 {
        let asked = ask.size.wrapping_add(ask.align - 1);
        let small = wants & (asked <= MOST_ADDED / 64);
        let shared = select(small, asked, 0);
        let sum = group_sum(group, shared);
        let mut base = 0;
        if group.leads() & (sum.total != 0) {
            base = self.words.fetch_add(TOP_WORD, sum.total);
            if base > self.geometry.units {
                base = u32::MAX;
            } else if sum.total > self.geometry.units - base {
                // A store carries on nothing by itself of what was done before the top was lowered.
                self.words.acquire();
                self.words.release();
                self.words.store(TOP_WORD, base);
                base = u32::MAX;
            }
        }
        // What was swallowed there came before the top was lowered.
        group.acquire();
        let base = group.broadcast(base);
        let mut unit = unit;
        if small & (base != u32::MAX) {
            let start = base + sum.before;
            self.begin(start, asked);
            unit = start;
            if ask.align > 1 {
                unit = self.cut(start, asked, ask, 1).first;
            }
        }
        unit
    }

    /// A block for one lane, checking before moving.
    #[inline(always)]
    pub(super) fn top_alone(self, ask: Ask, busy: &mut bool) -> Row {
        let mut row = Row::NONE;
        let mut open = true;
        let mut attempt = 0;
        while open & (attempt < ATTEMPTS) {
            attempt += 1;
            let top = self.words.load(TOP_WORD);
            // Beyond the end it is about to be put back.
            if top <= self.geometry.units {
                let room = self.geometry.units - top;
                let asked = ask.size.wrapping_add(self.geometry.front(top, ask.align));
                if asked > room {
                    open = false;
                } else if self.words.compare_exchange(TOP_WORD, top, top + asked) == top {
                    self.words.acquire();
                    self.begin(top, asked);
                    row = self.cut(top, asked, ask, 1);
                    open = false;
                }
            }
        }
        *busy |= open;
        row
    }
}
