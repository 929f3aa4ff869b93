//! Well-known litmus tests.

use super::Op::{Acquire, Load, Release, Rmw, Store, When};
use super::{Op, Program};

/// Whether an execution ends with a one in the last word.
fn allowed(memory: Vec<u32>, threads: Vec<Vec<Op>>) -> bool {
    let bad = |memory: &[u32]| memory.last() == Some(&1);
    let program = Program {
        memory,
        threads,
        bad,
    };
    program.explore().bad.is_some()
}

#[test]
fn message_passing_needs_both_fences() {
    for (release, acquire) in [(true, true), (true, false), (false, true)] {
        let mut send = vec![Store(0, 1), Release, Store(1, 1)];
        let mut receive = vec![Load(1), When(1), Acquire, Load(0), When(0), Store(2, 1)];
        if !release {
            send.remove(1);
        }
        if !acquire {
            receive.remove(2);
        }
        let stale = allowed(vec![0; 3], vec![send, receive]);
        assert_eq!(stale, !(release && acquire), "{release} {acquire}");
    }
}

#[test]
fn stores_may_wait_behind_loads() {
    let add: fn(u32) -> u32 = |before| before.wrapping_add(1);
    let lane = |mine, other| vec![Store(mine, 1), Load(other), When(0), Rmw(2, add)];
    let memory = vec![0, 0, u32::MAX];
    assert!(allowed(memory, vec![lane(0, 1), lane(1, 0)]));
}

#[test]
fn loads_wait_for_later_stores_unless_these_depend_on_them() {
    // What a lane's read gave is left in the word itself, so that nothing has to depend on it: both gave one.
    let allowed = |lane: fn(usize, usize) -> Vec<Op>| {
        let program = Program {
            memory: vec![0; 3],
            threads: vec![lane(0, 1), lane(1, 0)],
            bad: |memory| memory[..2] == [3, 3],
        };
        program.explore().bad.is_some()
    };
    const ADD: fn(u32) -> u32 = |before| before + 2;
    assert!(allowed(|own, other| vec![Rmw(own, ADD), Store(other, 1)]));
    assert!(!allowed(|own, other| vec![
        Rmw(own, ADD),
        When(1),
        Store(other, 1)
    ]));
    // Something else that the store depends on does not matter.
    assert!(allowed(|own, other| vec![
        Load(2),
        When(0),
        Rmw(own, ADD),
        Store(other, 1)
    ]));
}

#[test]
fn a_word_has_one_order() {
    let read = vec![Load(0), When(1), Load(0), When(0), Store(1, 1)];
    assert!(!allowed(vec![0; 2], vec![vec![Store(0, 1)], read]));
    let add: fn(u32) -> u32 = |before| before + 1;
    assert!(!allowed(
        vec![0],
        vec![vec![Rmw(0, add)], vec![Rmw(0, add)]]
    ));
}

#[test]
fn a_release_goes_on_through_read_modify_writes() {
    let send = vec![Store(0, 1), Release, Store(1, 1)];
    let between = |op| vec![Load(1), When(1), op];
    let receive = vec![Load(1), When(2), Acquire, Load(0), When(0), Store(2, 1)];
    let through = |op| allowed(vec![0; 3], vec![send.clone(), between(op), receive.clone()]);
    assert!(!through(Rmw(1, |before| before + 1)));
    assert!(through(Store(1, 2)));
}
