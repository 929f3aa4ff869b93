//! The lists.
//!
//! A bin is two words: an inbox, to which whoever frees adds by an exchange, and a list, which one lane at a
//! time takes as a whole by an exchange, looks through, and puts back. An exchange needs no counter against
//! words that change and change back, and none is ever repeated: a free takes a bounded number of steps.
//! Who finds a list in the hands of another lane goes on to the next one.
//!
//! Between its exchange and the store that follows, the chain that a free has added has no next: who comes
//! to it stops there and puts the rest back.

use super::geometry::{END, INBOX, LEFT_WORD, PENDING, TAKEN};
use super::segment::{LINKED, is_free, size_of};
use super::{Ask, Row, SegmentLists};
use crate::arch::Group;
use crate::sync::Team;
use warpheap_api::HeapMemory;

/// What `LEFT_WORD` holds after a free.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl<const PER_PROCESSOR: bool> SegmentLists<PER_PROCESSOR> {
    /// Links the chain from `first` to `last` into an inbox. The caller has set their bits and written the
    /// links between them.
    #[inline(always)]
    fn link_chain(self, first: u32, last: u32, bin: u32) {
        let next = self.geometry.next_word(last);
        self.words.store(next, PENDING);
        // The links come before.
        self.words.release();
        let inbox = self.geometry.list_word(self.home(), bin) + INBOX;
        let old = self.words.exchange(inbox, first);
        self.words.store(next, old);
    }

    /// Links one segment.
    #[inline(always)]
    pub(super) fn link_alone(self, unit: u32, bin: u32) {
        self.link_chain(unit, unit, bin);
    }

    /// Collective: links the segments of all lanes that have a bin, those of one bin as one chain; `freed` where
    /// the lane has freed something.
    #[inline(always)]
    pub(super) fn link_together(self, group: Group, unit: u32, bin: u32, freed: bool) {
        let links = bin != u32::MAX;
        if group.any(links) {
            let team = Team::by_key(group, bin);
            let first = group.shuffle(unit, team.members().first());
            let next = team.from_next(unit);
            if links & !team.leads() {
                self.words.store(self.geometry.next_word(unit), next);
            }
            // The links of the team come before its leader's release.
            group.barrier();
            if links & team.leads() {
                self.link_chain(first, unit, bin);
            }
        }
        if group.any(freed) & group.leads() {
            self.note_free();
        }
    }

    /// Tells those who swept before that there is something new.
    #[inline(always)]
    pub(super) fn note_free(self) {
        if self.words.load(LEFT_WORD) != UNKNOWN {
            self.words.store(LEFT_WORD, UNKNOWN);
        }
    }

    /// Whether a list may have something in it.
    #[inline(always)]
    pub(super) fn may_have(self, list: usize, exact: bool) -> bool {
        let (mut at, mut inbox) = (END, END);
        if exact {
            at = self.words.load(list);
            inbox = self.words.load(list + INBOX);
        }
        if !exact {
            at = self.words.glance(list);
            inbox = self.words.glance(list + INBOX);
        }
        (at & inbox) != END
    }

    /// Takes the first segment that fits from a list, and cuts up to `most` blocks from it; passes over
    /// `steps` segments at most. Sets `busy` if another lane has the list, or a part of it, in hand.
    #[inline(always)]
    pub(super) fn first_fit(
        self,
        list: usize,
        ask: Ask,
        most: u32,
        steps: u32,
        busy: &mut bool,
    ) -> Row {
        let mut row = Row::NONE;
        let mut first = self.words.exchange(list, TAKEN);
        if first == TAKEN {
            *busy = true;
        } else {
            self.words.acquire();
            let mut before = END;
            let mut at = first;
            let mut emptied = false;
            let mut left = steps;
            let mut open = true;
            let (mut found, mut found_size) = (END, 0);
            while open & (left > 0) {
                left -= 1;
                if at == END {
                    // The end of the list: what was freed since goes on behind it, once.
                    open = !emptied;
                    if open {
                        emptied = true;
                        at = self.words.exchange(list + INBOX, END);
                        self.words.acquire();
                        if before == END {
                            first = at;
                        } else {
                            self.words.store(self.geometry.next_word(before), at);
                        }
                    }
                } else {
                    let next = self.words.load(self.geometry.next_word(at));
                    let state = self.words.load(self.geometry.state_word(at));
                    if next == PENDING {
                        *busy = true;
                        open = false;
                    } else if is_free(state) & !self.fits(at, size_of(state), ask) {
                        before = at;
                        at = next;
                    } else {
                        // It fits, or it is not a free segment any more.
                        if before == END {
                            first = next;
                        } else {
                            self.words.store(self.geometry.next_word(before), next);
                        }
                        found_size = self.unlink(at);
                        if found_size != 0 {
                            found = at;
                            open = false;
                        }
                        at = next;
                    }
                }
            }
            // The links come before.
            self.words.release();
            self.words.store(list, first);
            if found != END {
                if self.fits(found, found_size, ask) {
                    row = self.cut(found, found_size, ask, most);
                } else {
                    // It was another segment a moment ago.
                    *busy = true;
                    self.give(found, found_size);
                }
            }
        }
        row
    }

    /// Clears the bit of a unit that was taken from a list, and claims its segment if it is free; its size,
    /// zero if it is not the caller's.
    #[inline(always)]
    fn unlink(self, unit: u32) -> u32 {
        // Its next was read before; from now on another lane may link it.
        self.words.release();
        let word = self.geometry.state_word(unit);
        let old = self.words.fetch_and(word, !LINKED) & !LINKED;
        let mut size = 0;
        if is_free(old) && self.claim(unit, old) {
            size = size_of(old);
            // What was done with it, and with what it swallowed, comes before.
            self.words.acquire();
        }
        size
    }
}
