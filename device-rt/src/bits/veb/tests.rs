//! The tree against a plain set.

use super::*;
use crate::arch::Words;
use crate::sync::hash;
use std::collections::BTreeSet;
use std::vec::Vec;

/// One level, edges of one, two, three and four levels, and one with a last word of one bit.
const UNIVERSES: [u32; 12] = [
    1,
    5,
    31,
    32,
    33,
    100,
    1024,
    1025,
    1057,
    32768,
    32769,
    1 << 20,
];

struct Room {
    words: Vec<u32>,
    tree: VebTree,
}

impl Room {
    /// With words around the tree's own, to see that they stay.
    fn new(universe: u32) -> Self {
        let mut words = vec![0; VebTree::words(universe) as usize + 20];
        let end = words.len();
        words[..10].fill(0xabcd);
        words[end - 10..].fill(0xabcd);
        let tree = VebTree::new(10, universe);
        Room { words, tree }
    }

    fn memory(&mut self) -> Words {
        // SAFETY: the words live as long as the room, and are used through this handle meanwhile.
        unsafe { Words::from_address(self.words.as_mut_ptr() as u64, self.words.len() as u64) }
    }

    /// Each word above says which words below have bits; nothing outside was touched.
    fn check(&self) {
        let (words, tree) = (&self.words, self.tree);
        for level in 1..tree.levels() {
            for i in 0..tree.bits(level) {
                let says = words[tree.at(level, i)] >> (i & 31) & 1;
                let below = words[tree.at(level - 1, i << 5)];
                assert_eq!(says == 1, below != 0, "level {level}, bit {i}");
            }
        }
        let end = words.len() - 10;
        assert!(
            words[..10]
                .iter()
                .chain(&words[end..])
                .all(|&w| w == 0xabcd)
        );
    }
}

/// The run that [`VebTree::claim_run`] is to find, by trying all.
fn last_run(model: &BTreeSet<u32>, most: u32, count: u32, align: u32, phase: u32) -> Option<u32> {
    let mut firsts = (0..=most.checked_sub(count)?).rev();
    firsts.find(|first| {
        (first + phase) % align == 0 && model.range(*first..first + count).count() == count as usize
    })
}

#[test]
fn levels_lie_one_behind_the_other() {
    for universe in UNIVERSES {
        let tree = VebTree::new(7, universe);
        assert_eq!(tree.first_word(0), 7);
        for level in 0..tree.levels() {
            let words = tree.bits(level).div_ceil(32);
            assert_eq!(tree.first_word(level + 1), tree.first_word(level) + words);
        }
        assert_eq!(tree.bits(tree.levels() - 1).div_ceil(32), 1, "one root");
        assert_eq!(tree.first_word(tree.levels()), 7 + VebTree::words(universe));
    }
}

#[test]
fn behaves_as_a_set() {
    for universe in UNIVERSES {
        let mut room = Room::new(universe);
        let (tree, memory) = (room.tree, room.memory());
        let mut model = BTreeSet::new();
        for step in 0..6000u32 {
            let dice = hash(step ^ universe << 12);
            // Clusters and outliers, and phases in which the set grows and shrinks.
            let spread = select(dice & 0x300 == 0, universe, least_of(universe, 80));
            let x = hash(dice) % spread;
            let grows = (step / 1000) % 2 == 0;
            match dice % 8 {
                0..=2 if grows => assert_eq!(tree.insert(memory, x), model.insert(x)),
                0..=2 => assert_eq!(tree.remove(memory, x), model.remove(&x)),
                3 => assert_eq!(tree.insert(memory, x), model.insert(x)),
                4 => {
                    let next = model.range(x..).next().copied();
                    assert_eq!(tree.successor(memory, x), next);
                    assert_eq!(tree.scan(memory, x), next);
                }
                5 => {
                    let before = model.range(..=x).next_back().copied();
                    assert_eq!(tree.predecessor(memory, x), before);
                }
                6 => {
                    let first = model.range(x..).next().copied();
                    assert_eq!(tree.claim(memory, x), first);
                    first.map(|first| model.remove(&first));
                }
                _ => assert_eq!(tree.contains(memory, x), model.contains(&x)),
            }
        }
        let mut at = 0;
        for &x in &model {
            assert_eq!(tree.successor(memory, at), Some(x));
            at = x + 1;
        }
        assert_eq!(tree.successor(memory, at), None);
        assert_eq!(tree.successor(memory, universe), None);
        room.check();
    }
}

fn least_of(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

#[test]
fn claims_the_last_run_there_is() {
    for universe in [5, 31, 64, 100, 1000, 1100] {
        let mut room = Room::new(universe);
        let (tree, memory) = (room.tree, room.memory());
        let mut model: BTreeSet<u32> = (0..universe).collect();
        tree.insert_run(memory, 0, universe);
        let mut taken = Vec::new();
        for step in 0..3000u32 {
            let dice = hash(step.wrapping_mul(universe));
            let count = 1 + hash(dice) % [3, 40, universe + 2][(dice >> 8) as usize % 3];
            let align = 1 << ((dice >> 16) % 4);
            let phase = (dice >> 20) % 8;
            if dice % 3 == 0 && !taken.is_empty() {
                let (first, count) = taken.swap_remove(dice as usize / 3 % taken.len());
                tree.insert_run(memory, first, count);
                model.extend(first..first + count);
            } else {
                let expected = last_run(&model, universe, count, align, phase);
                let got = tree.claim_run(memory, count, align, phase);
                assert_eq!(got, expected.ok_or(AllocError::Exhausted));
                if let Some(first) = expected {
                    (first..first + count).for_each(|x| assert!(model.remove(&x)));
                    taken.push((first, count));
                }
            }
        }
        assert_eq!(tree.claim_run(memory, 0, 1, 0), Err(AllocError::Exhausted));
        room.check();
    }
}

#[test]
fn what_was_taken_of_a_run_in_vain_is_back() {
    let mut room = Room::new(200);
    let (tree, memory) = (room.tree, room.memory());
    tree.insert_run(memory, 0, 200);
    assert!(tree.remove(memory, 70));
    assert_eq!(tree.take_run(memory, 40, 180), 70);
    assert_eq!(tree.gap_in(memory, 0, 200), 70);
    assert_eq!(tree.gap_in(memory, 71, 200), NONE);
    assert_eq!(tree.gap_in(memory, 0, 70), NONE);
    room.check();
}
