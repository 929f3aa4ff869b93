//! The map's leaf: a value of two words under a lock bit and a version (a seqlock).
//!
//! Device: `container/map/leaf.rs` `settle`, `revive` (write), `remove`; `container/map/mod.rs` `read_or` (read);
//! `container/map/cursor.rs` `step_present` (a look that only asks whether the key is there).
//!
//! Claim: a reader gets both words of one write, and what the writer did before; a writer that comes after another one
//! overwrites both of its words; who finds a key absent comes after what its remover did.
//!
//! The acquire in `revive` repeats that of `settle`: one of the two is enough.

use crate::check::{BROKEN, Idiom, Mutant, Note, Out, Program, Says::Caught, Says::Holds};
use crate::memory::{Plain, Word};
use std::sync::Arc;

pub const PRESENT: u32 = 1;
pub const LOCKED: u32 = 2;
pub const VERSION: u32 = 4;
/// The device code tries 2^16 times.
const ROUNDS: u32 = 2;

pub const SETTLE: Out = Out::fence(0);
pub const REVIVE_ACQUIRE: Out = Out::fence(1);
pub const REVIVE_BEGIN: Out = Out::fence(2);
pub const REVIVE_END: Out = Out::fence(3);
const READ_STATE: Out = Out::fence(4);
const READ_VALUE: Out = Out::fence(5);
const REMOVE: Out = Out::fence(6);
const LOOK: Out = Out::fence(7);

pub struct Leaf<const WORDS: usize> {
    pub state: Word,
    pub value: [Word; WORDS],
}

impl<const WORDS: usize> Leaf<WORDS> {
    pub fn new(state: u32) -> Self {
        Leaf {
            state: Word::new(state),
            value: [0; WORDS].map(Word::new),
        }
    }

    pub fn revive(&self, seen: u32, value: u32, out: Out) -> bool {
        let held = seen | LOCKED;
        let mut done = false;
        if self.state.compare_exchange(seen, held) == seen {
            out.acquire(REVIVE_ACQUIRE);
            out.release(REVIVE_BEGIN);
            for word in &self.value {
                // The device code stores. The checker has no order of a store and an exchange of others that did not
                // see it, though one that did not see it comes before.
                if WORDS == 1 {
                    word.exchange(value);
                } else {
                    word.store(value);
                }
            }
            out.release(REVIVE_END);
            let new = seen.wrapping_add(VERSION) | PRESENT;
            done = self.state.compare_exchange(held, new) == held;
            if !done {
                self.state.fetch_and(!LOCKED);
            }
        }
        done
    }

    /// `settle` with a `live` that overwrites.
    fn set(&self, value: u32, out: Out) -> bool {
        (0..ROUNDS).any(|_| {
            let seen = self.state.load();
            out.acquire(SETTLE);
            seen & LOCKED == 0 && self.revive(seen, value, out)
        })
    }

    /// `settle` with a `live` that does nothing: whether the key was absent and is there now.
    fn insert(&self, value: u32, out: Out) -> bool {
        let seen = self.state.load();
        out.acquire(SETTLE);
        seen & (PRESENT | LOCKED) == 0 && self.revive(seen, value, out)
    }

    fn remove(&self, out: Out) -> bool {
        let seen = self.state.load();
        if seen & PRESENT == 0 || seen & LOCKED != 0 {
            return false;
        }
        out.release(REMOVE);
        let new = seen.wrapping_add(VERSION) & !PRESENT;
        self.state.compare_exchange(seen, new) == seen
    }

    fn read(&self, out: Out) -> Option<[u32; WORDS]> {
        let before = self.state.load();
        out.acquire(READ_STATE);
        if before & LOCKED != 0 {
            return None;
        }
        let found = std::array::from_fn(|i| self.value[i].load());
        out.acquire(READ_VALUE);
        (self.state.load() == before).then_some(found)
    }
}

/// A leaf, and what its lanes do beside it.
struct Map<const WORDS: usize> {
    leaf: Leaf<WORDS>,
    beside: Plain,
    done: [Note; 2],
}

fn map<const WORDS: usize>(state: u32) -> Map<WORDS> {
    Map {
        leaf: Leaf::new(state),
        beside: Plain::new(0),
        done: Default::default(),
    }
}

fn writer(map: &Arc<Map<2>>, out: Out) {
    map.beside.write(7);
    map.leaf.set(1, out);
}

fn reader(map: &Arc<Map<2>>, out: Out) {
    if let Some([first, second]) = map.leaf.read(out) {
        assert_eq!(first, second, "{BROKEN}words of two values");
        if first == 1 {
            assert_eq!(map.beside.read(), 7, "{BROKEN}what came before");
        }
    }
}

fn read_write(out: Out) -> Program {
    Program::new(map(PRESENT), out, &[writer, reader], |_| ())
}

fn setter<const NUMBER: usize>(map: &Arc<Map<2>>, out: Out) {
    let done = map.leaf.set(NUMBER as u32 + 1, out);
    map.done[NUMBER].set(done as u32);
}

fn two_writers(out: Out) -> Program {
    Program::new(map(PRESENT), out, &[setter::<0>, setter::<1>], |map| {
        let end = [map.leaf.value[0].load(), map.leaf.value[1].load()];
        assert_eq!(end[0], end[1], "{BROKEN}words of two values");
        let done = [map.done[0].get(), map.done[1].get()];
        if done[0] != done[1] {
            assert_eq!(end[0], 1 + done[1], "{BROKEN}a value that was not set");
        }
    })
}

fn remover(map: &Arc<Map<1>>, out: Out) {
    map.beside.write(7);
    map.leaf.remove(out);
}

fn inserter(map: &Arc<Map<1>>, out: Out) {
    if map.leaf.insert(1, out) {
        map.beside.write(1);
    }
}

fn remove_insert(out: Out) -> Program {
    Program::new(map(PRESENT), out, &[remover, inserter], |_| ())
}

fn bringer(map: &Arc<Map<1>>, out: Out) {
    map.beside.write(7);
    map.leaf.insert(1, out);
}

fn looker(map: &Arc<Map<1>>, out: Out) {
    if map.leaf.state.load() & PRESENT != 0 {
        out.acquire(LOOK);
        assert_eq!(map.beside.read(), 7, "{BROKEN}what came before");
    }
}

/// The acquire after the look is not in the device code.
fn look(out: Out) -> Program {
    Program::new(map(VERSION), out, &[bringer, looker], |_| ())
}

pub const READ_WRITE: Idiom = Idiom {
    name: "leaf: read and write",
    source: "container/map/leaf.rs revive, mod.rs read_or",
    program: read_write,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "settle: acquire",
            out: SETTLE,
            says: Holds,
        },
        Mutant {
            name: "revive: acquire",
            out: REVIVE_ACQUIRE,
            says: Holds,
        },
        Mutant {
            name: "revive: release before the value",
            out: REVIVE_BEGIN,
            says: Caught,
        },
        Mutant {
            name: "revive: release after the value",
            out: REVIVE_END,
            says: Caught,
        },
        Mutant {
            name: "read: acquire before the value",
            out: READ_STATE,
            says: Caught,
        },
        Mutant {
            name: "read: acquire after the value",
            out: READ_VALUE,
            says: Caught,
        },
    ],
};

pub const TWO_WRITERS: Idiom = Idiom {
    name: "leaf: two writers",
    source: "container/map/leaf.rs settle, revive",
    program: two_writers,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "settle: acquire",
            out: SETTLE,
            says: Holds,
        },
        Mutant {
            name: "revive: acquire",
            out: REVIVE_ACQUIRE,
            says: Holds,
        },
        Mutant {
            name: "settle and revive: acquire",
            out: SETTLE.and(REVIVE_ACQUIRE),
            says: Caught,
        },
        Mutant {
            name: "revive: release after the value",
            out: REVIVE_END,
            says: Caught,
        },
    ],
};

pub const REMOVE_INSERT: Idiom = Idiom {
    name: "leaf: remove, insert",
    source: "container/map/leaf.rs remove, settle",
    program: remove_insert,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "remove: release",
            out: REMOVE,
            says: Caught,
        },
        Mutant {
            name: "settle and revive: acquire",
            out: SETTLE.and(REVIVE_ACQUIRE),
            says: Caught,
        },
    ],
};

pub const LOOKING: Idiom = Idiom {
    name: "leaf: a cursor's look (fence not in the device code)",
    source: "container/map/cursor.rs step_present",
    program: look,
    preemptions: None,
    mutants: &[Mutant {
        name: "as in the device code: no acquire",
        out: LOOK,
        says: Caught,
    }],
};

crate::tests!(READ_WRITE, TWO_WRITERS, REMOVE_INSERT, LOOKING);
