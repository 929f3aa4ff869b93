//! A binomial tree, as benchmarks of unbalanced tree search use it: each task has [`CHILDREN`] tasks below it, or none. Which
//! of the two, its hash decides, so no part of the tree tells how large another one is.

use warpheap::device::*;

/// Tasks below a task that has any.
pub const CHILDREN: u32 = 5;

/// Which tree it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Tree {
    /// Another number, another tree.
    pub seed: u32,
    /// Tasks below the root.
    pub roots: u32,
    /// Tasks whose hash is below this have tasks below them. With a `CHILDREN`th of all hashes the tree is as
    /// deep and uneven as a tree that ends can be.
    pub inner: u32,
}

/// Tasks with one parent that are still to be done: the way in which tasks are kept and handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Family {
    /// The parent's hash.
    pub hash: u32,
    /// More of it, so that no two parents of a large tree are the same.
    pub more: u32,
    /// The level of the tasks: 1 below the root.
    pub level: u32,
    /// The next of them.
    pub next: u32,
}

impl Family {
    /// No tasks.
    pub const DONE: Family = Family {
        hash: 0,
        more: 0,
        level: 0,
        next: CHILDREN,
    };

    /// Whether no task is left.
    #[inline(always)]
    pub const fn is_done(self) -> bool {
        self.next >= CHILDREN
    }

    /// What is below the next task, if anything is: a family with that task's hash.
    #[inline(always)]
    pub fn below(self) -> Family {
        let step = (self.next + 1).wrapping_mul(0x9e37_79b9);
        let hash = mixed(self.hash.wrapping_add(step) ^ self.more.rotate_left(7));
        Family {
            hash,
            more: mixed(self.more ^ hash.wrapping_add(0x7f4a_7c15)),
            level: self.level + 1,
            next: 0,
        }
    }

    /// The family without its next task.
    #[inline(always)]
    pub const fn rest(self) -> Family {
        Family {
            next: self.next + 1,
            ..self
        }
    }
}

impl Tree {
    /// What is below the `n`-th task below the root.
    #[inline(always)]
    pub fn root(self, n: u32) -> Family {
        Family {
            hash: self.seed,
            more: mixed(self.seed),
            level: 1,
            next: n,
        }
        .below()
    }

    /// Whether there are tasks in the family of this task.
    #[inline(always)]
    pub const fn is_inner(self, below: Family) -> bool {
        below.hash < self.inner
    }
}

/// A hash of a word.
#[inline(always)]
fn mixed(word: u32) -> u32 {
    let word = (word ^ word >> 16).wrapping_mul(0x85eb_ca6b);
    let word = (word ^ word >> 13).wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}
