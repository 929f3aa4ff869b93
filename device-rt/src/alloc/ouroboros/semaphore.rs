//! The bulk semaphore (§3.4, Algorithm 2): pages there are, pages expected, pages reserved.
//!
//! The paper packs the three into 64 bits. Here they are three words, since devices may have 32-bit
//! atomics alone; what must be decided at one moment, who makes the next chunk, is decided by a
//! compare-and-swap on the expected ones. Waiting is bounded: who waited long enough makes a chunk
//! of its own.

use super::Core;
use super::geometry::{HEAD_COUNT, HEAD_EXPECTED, HEAD_RESERVED};
use crate::arch;
use warpheap_api::{HeapMemory, least, select};

/// Looks at the count while waiting for expected pages.
const LOOKS: u32 = 48;
/// Nanoseconds between them.
const PAUSE: u32 = 200;
/// Attempts to be the one who makes pages.
const ATTEMPTS: u32 = 4;

impl Core {
    /// Takes up to `wanted` of a count: how many.
    #[inline(always)]
    pub(super) fn take_of(self, at: usize, wanted: u32) -> u32 {
        let old = self.words.fetch_sub(at, wanted);
        let there = select((old as i32) < 0, 0, old);
        let taken = least(there, wanted);
        if taken < wanted {
            self.words.fetch_add(at, wanted - taken);
        }
        taken
    }

    /// Takes `wanted` of a count or nothing; whether it did.
    #[inline(always)]
    pub(super) fn take_all(self, at: usize, wanted: u32) -> bool {
        let enough = self.words.fetch_sub(at, wanted) as i32 >= wanted as i32;
        if !enough {
            self.words.fetch_add(at, wanted);
        }
        enough
    }

    /// Whether pages of the class are about to come.
    #[inline(always)]
    pub(super) fn coming(self, class: u32) -> bool {
        let count = self.words.load(self.geometry.head(class, HEAD_COUNT));
        let expected = self.words.load(self.geometry.head(class, HEAD_EXPECTED));
        (count != 0) | (expected != 0)
    }

    /// Takes up to `wanted` pages, first stage of Algorithm 2: how many.
    #[inline(always)]
    pub(super) fn wait_at_once(self, class: u32, wanted: u32) -> u32 {
        self.take_of(self.geometry.head(class, HEAD_COUNT), wanted)
    }

    /// Waits for expected pages or announces `surplus` of its own: how many pages were taken. If none
    /// were, they are announced and the caller makes them, then calls
    /// [`signal`](Self::signal).
    #[inline(always)]
    pub(super) fn wait(self, class: u32, wanted: u32, surplus: u32) -> u32 {
        let count = self.geometry.head(class, HEAD_COUNT);
        let expected = self.geometry.head(class, HEAD_EXPECTED);
        let reserved = self.geometry.head(class, HEAD_RESERVED);
        let mut taken = 0;
        let mut announced = false;
        let mut attempt = 0;
        while !announced & (taken == 0) & (attempt < ATTEMPTS) {
            let coming = self.words.load(expected);
            let all = self.words.load(count).wrapping_add(coming);
            let left = all.wrapping_sub(self.words.load(reserved)) as i32;
            if (coming == 0) | (left < wanted as i32) {
                let new = coming + surplus;
                announced = self.words.compare_exchange(expected, coming, new) == coming;
            } else {
                self.words.fetch_add(reserved, wanted);
                let mut looks = 0;
                let mut there = false;
                while !there & (looks < LOOKS) {
                    arch::pause(PAUSE);
                    there = self.words.load(count) as i32 > 0;
                    looks += 1;
                }
                self.words.fetch_sub(reserved, wanted);
                if there {
                    taken = self.take_of(count, wanted);
                }
            }
            attempt += 1;
        }
        if !announced & (taken == 0) {
            self.announce(class, surplus);
        }
        taken
    }

    /// Announces pages that the caller makes.
    #[inline(always)]
    pub(super) fn announce(self, class: u32, pages: u32) {
        let expected = self.geometry.head(class, HEAD_EXPECTED);
        self.words.fetch_add(expected, pages);
    }

    /// Pages came, and so many fewer are expected.
    #[inline(always)]
    pub(super) fn signal(self, class: u32, pages: u32, expected: u32) {
        if pages != 0 {
            let count = self.geometry.head(class, HEAD_COUNT);
            self.words.fetch_add(count, pages);
        }
        if expected != 0 {
            let word = self.geometry.head(class, HEAD_EXPECTED);
            self.words.fetch_sub(word, expected);
        }
    }
}
