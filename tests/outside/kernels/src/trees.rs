//! Search trees of boxes: a node is a block of its own, and its children are handles. Each lane has a tree. There
//! is no recursion on Vulkan, and little stack elsewhere, so everything is a loop.

use crate::numbers::{TRIES, mix};
use warpheap::device::*;

/// Numbers that a lane inserts; some of them are equal.
pub const INSERTED: u32 = 16;
/// Keys are less than this.
pub const KEYS: u32 = 48;
/// What looking for a key that is not there gives.
pub const ABSENT: u32 = u32::MAX;

/// A node: smaller keys hang to the left.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Node {
    key: u32,
    value: u32,
    left: Link,
    right: Link,
}

/// A node, or null.
pub type Link = DevicePtr<Node>;

/// The `n`-th key that a lane inserts.
#[inline(always)]
pub fn key(lane: u32, n: u32) -> u32 {
    mix(lane.wrapping_mul(INSERTED).wrapping_add(n)) % KEYS
}

/// The value that the `n`-th key of a lane gets.
#[inline(always)]
pub fn value(lane: u32, n: u32) -> u32 {
    mix(lane) ^ n
}

/// Whether [`prune`] removes a key.
#[inline(always)]
pub fn removed(key: u32) -> bool {
    key % 3 == 0
}

/// A hash of one more value.
#[inline(always)]
pub fn hash(so_far: u32, value: u32) -> u32 {
    (so_far.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b1)
}

/// Inserts a key, or overwrites its value; the root afterwards.
#[inline]
fn insert<A: DeviceAlloc>(
    heap: Heap<A>,
    root: Link,
    key: u32,
    value: u32,
) -> Result<Link, AllocError> {
    let mut above = Link::NULL;
    let mut at = root;
    let mut found = false;
    while !at.is_null() & !found {
        // SAFETY: links lead to live nodes of this lane's tree.
        let mut node = unsafe { heap.load(at) };
        if node.key == key {
            found = true;
            node.value = value;
            // SAFETY: as above.
            unsafe { heap.store(at, node) };
        } else {
            above = at;
            at = if key < node.key {
                node.left
            } else {
                node.right
            };
        }
    }
    if found {
        return Ok(root);
    }
    let leaf: Link = heap.malloc(layout::of::<Node>())?.cast();
    let node = Node {
        key,
        value,
        left: Link::NULL,
        right: Link::NULL,
    };
    // SAFETY: the block was just got for a node.
    unsafe { heap.store(leaf, node) };
    if above.is_null() {
        return Ok(leaf);
    }
    // SAFETY: it is a node on the way from the root.
    let mut parent = unsafe { heap.load(above) };
    if key < parent.key {
        parent.left = leaf;
    } else {
        parent.right = leaf;
    }
    // SAFETY: as above.
    unsafe { heap.store(above, parent) };
    Ok(root)
}

/// The value of a key, or [`ABSENT`].
#[inline]
fn lookup<A: DeviceAlloc>(heap: Heap<A>, root: Link, key: u32) -> u32 {
    let mut at = root;
    let mut found = ABSENT;
    while !at.is_null() {
        // SAFETY: links lead to live nodes of this lane's tree.
        let node = unsafe { heap.load(at) };
        if node.key == key {
            found = node.value;
            at = Link::NULL;
        } else {
            at = if key < node.key {
                node.left
            } else {
                node.right
            };
        }
    }
    found
}

/// Removes a key and frees a node, if it is there; the root afterwards.
#[inline]
fn remove<A: DeviceAlloc>(heap: Heap<A>, root: Link, key: u32) -> Link {
    let mut above = Link::NULL;
    let mut at = root;
    let mut looking = true;
    while looking & !at.is_null() {
        // SAFETY: links lead to live nodes of this lane's tree.
        let node = unsafe { heap.load(at) };
        if node.key == key {
            looking = false;
        } else {
            above = at;
            at = if key < node.key {
                node.left
            } else {
                node.right
            };
        }
    }
    if at.is_null() {
        return root;
    }
    // SAFETY: as above.
    let mut node = unsafe { heap.load(at) };
    if !node.left.is_null() & !node.right.is_null() {
        // The next larger key takes the place, and its node goes.
        let mut next = node.right;
        let mut over = at;
        // SAFETY: as above.
        let mut smallest = unsafe { heap.load(next) };
        while !smallest.left.is_null() {
            over = next;
            next = smallest.left;
            // SAFETY: as above.
            smallest = unsafe { heap.load(next) };
        }
        node.key = smallest.key;
        node.value = smallest.value;
        // SAFETY: as above.
        unsafe { heap.store(at, node) };
        above = over;
        at = next;
        node = smallest;
    }
    let below = if node.left.is_null() {
        node.right
    } else {
        node.left
    };
    // SAFETY: the node was made by `insert`, and no link leads to it any more when this lane is done here.
    unsafe { heap.free(at.cast(), layout::of::<Node>()) };
    if above.is_null() {
        return below;
    }
    // SAFETY: links lead to live nodes; this one lies above the one that went.
    let mut parent = unsafe { heap.load(above) };
    if parent.left == at {
        parent.left = below;
    } else {
        parent.right = below;
    }
    // SAFETY: as above.
    unsafe { heap.store(above, parent) };
    root
}

/// Lane `i` inserts its keys into tree `i`.
///
/// # Errors
/// As `malloc`: the tree has what was inserted before.
#[kernel(allocators = all, unsafe(slices))]
pub fn plant<A: DeviceAlloc>(heap: Heap<A>, roots: &mut [Link]) -> Result<(), AllocError> {
    let lane = thread::index();
    let mut result = Ok(());
    if (lane as usize) < roots.len() {
        let mut root = roots[lane as usize];
        let (mut n, mut tries) = (0, 0);
        while (n < INSERTED) & result.is_ok() {
            match insert(heap, root, key(lane, n), value(lane, n)) {
                Ok(now) => {
                    root = now;
                    n += 1;
                }
                Err(AllocError::Contended) if tries < TRIES => tries += 1,
                Err(error) => result = Err(error),
            }
        }
        roots[lane as usize] = root;
    }
    result
}

/// Lane `i` looks for all keys in tree `i`, leaves a hash of their values, and removes every third one.
#[kernel(allocators = all, unsafe(slices))]
pub fn prune<A: DeviceAlloc>(heap: Heap<A>, roots: &mut [Link], hashes: &mut [u32]) {
    let i = thread::index() as usize;
    if (i < roots.len()) & (i < hashes.len()) {
        let mut root = roots[i];
        let mut seen = 0;
        for key in 0..KEYS {
            seen = hash(seen, lookup(heap, root, key));
            if removed(key) {
                root = remove(heap, root, key);
            }
        }
        roots[i] = root;
        hashes[i] = seen;
    }
}

/// Lane `i` takes tree `i` apart, the smallest key first: it writes keys and values to `pairs`, from `i` times
/// [`INSERTED`] on, and their number to `counts[i]`.
#[kernel(allocators = all, unsafe(slices))]
pub fn fell<A: DeviceAlloc>(
    heap: Heap<A>,
    roots: &mut [Link],
    pairs: &mut [[u32; 2]],
    counts: &mut [u32],
) {
    let i = thread::index() as usize;
    if (i < roots.len()) & (i < counts.len()) {
        let mut root = roots[i];
        let mut count = 0;
        while !root.is_null() {
            // SAFETY: links lead to live nodes of this lane's tree.
            let mut node = unsafe { heap.load(root) };
            if node.left.is_null() {
                if count < INSERTED {
                    pairs[i * INSERTED as usize + count as usize] = [node.key, node.value];
                }
                count += 1;
                // SAFETY: the node was made by `insert`, and is the root no more.
                unsafe { heap.free(root.cast(), layout::of::<Node>()) };
                root = node.right;
            } else {
                // What hangs to the left of the root is turned above it until nothing does.
                let turned = node.left;
                // SAFETY: as above.
                let mut left = unsafe { heap.load(turned) };
                node.left = left.right;
                left.right = root;
                // SAFETY: as above.
                unsafe { heap.store(root, node) };
                // SAFETY: as above.
                unsafe { heap.store(turned, left) };
                root = turned;
            }
        }
        roots[i] = root;
        counts[i] = count;
    }
}
