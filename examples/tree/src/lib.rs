//! A kernel with search trees made of `Box`: compiled to PTX and for the host.
#![cfg_attr(target_arch = "nvptx64", no_std)]

extern crate alloc;

use alloc::boxed::Box;
use warpheap::device::*;

warpheap::device_module!();
warpheap::global_heap!(WarpHeap);

/// A node: what is smaller hangs to the left, the rest to the right.
struct Node {
    key: u32,
    left: Link,
    right: Link,
}

type Link = Option<Box<Node>>;

/// A binary search tree.
#[derive(Default)]
struct Tree {
    root: Link,
}

impl Tree {
    /// Hangs a key in as a leaf; how deep it hangs.
    fn insert(&mut self, key: u32) -> u32 {
        let mut at = &mut self.root;
        let mut depth = 1;
        while let Some(node) = at {
            at = if key < node.key {
                &mut node.left
            } else {
                &mut node.right
            };
            depth += 1;
        }
        let (left, right) = (None, None);
        *at = Some(Box::new(Node { key, left, right }));
        depth
    }

    /// Takes the smallest key out and drops its node. What hangs to the left of the root is turned above it until
    /// nothing does: that needs no stack, however deep the tree is.
    fn take_smallest(&mut self) -> Option<u32> {
        loop {
            let mut node = self.root.take()?;
            match node.left.take() {
                Some(mut left) => {
                    node.left = left.right.take();
                    left.right = Some(node);
                    self.root = Some(left);
                }
                None => {
                    self.root = node.right.take();
                    return Some(node.key);
                }
            }
        }
    }
}

/// The drop that the compiler makes calls itself for each node below, and a lane's stack is small.
impl Drop for Tree {
    fn drop(&mut self) {
        while self.take_smallest().is_some() {}
    }
}

/// What a lane found in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Found {
    /// Nodes on the longest way from the root.
    pub depth: u32,
    /// Hash of the smaller half of the keys, in their order.
    pub hash: u32,
}

impl Found {
    /// Before the first key.
    pub const NONE: Found = Found { depth: 0, hash: 0 };

    /// After one more key.
    #[inline(always)]
    pub fn with_key(self, key: u32) -> Found {
        let hash = (self.hash.rotate_left(5) ^ key).wrapping_mul(0x9e37_79b1);
        Found { hash, ..self }
    }
}

/// Number `n` of lane `lane`.
#[inline(always)]
pub fn number(lane: u32, n: u32) -> u32 {
    let mixed = (lane ^ n.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35);
    mixed ^ mixed >> 15
}

/// Each lane builds a tree of `count` numbers, takes the smaller half out in order, and drops the rest.
#[kernel]
pub fn build(found: &mut Found, count: u32) {
    let lane = thread::index();
    let mut tree = Tree::default();
    let mut depth = 0;
    for n in 0..count {
        depth = depth.max(tree.insert(number(lane, n)));
    }
    let mut seen = Found { depth, hash: 0 };
    for _ in 0..count / 2 {
        if let Some(key) = tree.take_smallest() {
            seen = seen.with_key(key);
        }
    }
    *found = seen;
}
