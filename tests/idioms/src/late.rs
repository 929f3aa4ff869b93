//! The map's leaf: a change of a value of one word that comes late.
//!
//! Device: `container/map/leaf.rs` `changed`, `revive`, `settle`; `container/map/trie.rs` `bring` (the release and the
//! exchange).
//!
//! A lane saw that the key is there; then the key was removed. The lane changes the value by one exchange, without the
//! lock, while another one inserts the key again.
//!
//! Claim: if the lane still finds the key absent after its call, its change came before the removal, so the value that
//! was inserted stays.

use crate::check::{BROKEN, Idiom, Mutant, Note, Out, Program, Says::Caught, Says::Holds};
use crate::leaf::{
    LOCKED, Leaf, PRESENT, REVIVE_ACQUIRE, REVIVE_BEGIN, REVIVE_END, SETTLE, VERSION,
};
use std::sync::Arc;

/// The device code tries 2^16 times.
const ROUNDS: u32 = 3;

const BRING: Out = Out::fence(10);
const CHANGED_ACQUIRE: Out = Out::fence(11);
const CHANGED_RELEASE: Out = Out::fence(12);

fn change(leaf: &Leaf<1>, value: u32, out: Out) {
    out.release(BRING);
    leaf.value[0].exchange(value);
    out.acquire(CHANGED_ACQUIRE);
    if leaf.state.load() & LOCKED != 0 {
        out.release(CHANGED_RELEASE);
        leaf.state.fetch_add(VERSION);
    }
}

struct Map {
    leaf: Leaf<1>,
    inserted: Note,
    came_before: Note,
}

fn late(map: &Arc<Map>, out: Out) {
    change(&map.leaf, 1, out);
    let absent = map.leaf.state.load() & PRESENT == 0;
    map.came_before.set(absent as u32);
}

fn insert(map: &Arc<Map>, out: Out) {
    let inserted = (0..ROUNDS).any(|_| {
        let seen = map.leaf.state.load();
        out.acquire(SETTLE);
        map.leaf.revive(seen, 2, out)
    });
    map.inserted.set(inserted as u32);
}

fn program(out: Out) -> Program {
    let map = Map {
        // Removed already.
        leaf: Leaf::new(VERSION),
        inserted: Note::default(),
        came_before: Note::default(),
    };
    Program::new(map, out, &[late, insert], |map| {
        if map.inserted.get() & map.came_before.get() == 1 {
            let value = map.leaf.value[0].load();
            assert_eq!(value, 2, "{BROKEN}a late change is seen");
        }
    })
}

pub const LATE: Idiom = Idiom {
    name: "leaf: late change",
    source: "container/map/leaf.rs changed, trie.rs bring",
    program,
    preemptions: None,
    mutants: &[
        Mutant {
            name: "changed: acquire",
            out: CHANGED_ACQUIRE,
            says: Caught,
        },
        Mutant {
            name: "revive: release before the value",
            out: REVIVE_BEGIN,
            says: Caught,
        },
        // An exchange that did not see the first value comes before it, one that did comes right behind it: so the
        // value that is written again comes last without this fence, too.
        Mutant {
            name: "changed: release",
            out: CHANGED_RELEASE,
            says: Holds,
        },
        // These are for other claims.
        Mutant {
            name: "settle and revive: acquire",
            out: SETTLE.and(REVIVE_ACQUIRE),
            says: Holds,
        },
        Mutant {
            name: "bring: release",
            out: BRING,
            says: Holds,
        },
        Mutant {
            name: "revive: release after the value",
            out: REVIVE_END,
            says: Holds,
        },
    ],
};

crate::tests!(LATE);
