//! Octrees over random points, built and walked depth first. The space is cut into cells, and each lane has the tree of
//! one cell. Most cells have few points and some have hundreds, so the lanes of a warp are never at the same node.
//!
//! A leaf is a vector of points. One that gets too many becomes a node of eight, down to the finest cubes.

use crate::numbers::mix;
use warpheap::device::*;

/// Points of a leaf, unless it is a finest cube.
pub const LEAF: u32 = 8;
/// Depth of the finest cubes.
pub const DEPTH: u32 = 9;
/// The most points of a cell.
pub const MOST: u32 = 512;

/// A cube of the tree.
#[derive(Debug, HeapData)]
#[repr(C)]
pub struct Cube {
    /// Its points, if it is a leaf.
    points: HeapVec<u32>,
    /// The eight cubes that it is cut into; null in a leaf. Those without points are null themselves.
    parts: Parts,
}

/// Eight links to cubes.
type Parts = DevicePtr<Link>;

/// A cube, or null.
pub type Link = DevicePtr<Cube>;

/// Cubes that are still to be walked through: their handles and depths.
pub type Stack = HeapVec<[u32; 2]>;

/// What one walk of a tree adds up: the same in whatever order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Sums {
    /// Points.
    pub points: u32,
    /// Leaves.
    pub leaves: u32,
    /// Cubes that are cut.
    pub cut: u32,
    /// Of each point with its depth.
    pub hash: u32,
}

/// Points of a cell: `n` or more with a probability of about `4 / n`.
#[inline(always)]
pub fn count(cell: u32) -> u32 {
    let count = 4 * 65_536 / ((mix(cell ^ 0x5bd1) >> 16) + 1);
    if count < MOST { count } else { MOST }
}

/// Point `k` of a cell: three bits for each depth, the coarsest first. Points crowd in one corner.
#[inline(always)]
pub fn point(cell: u32, k: u32) -> u32 {
    let place = cell.wrapping_mul(MOST).wrapping_add(k);
    mix(place) & (mix(!place) | 0x0007_ffff) & ((1 << (3 * DEPTH)) - 1)
}

/// Which of the eight parts of a cube at a depth a point lies in.
#[inline(always)]
pub fn part(point: u32, depth: u32) -> u32 {
    point >> (3 * (DEPTH - 1 - depth)) & 7
}

/// What a point adds to the hash.
#[inline(always)]
pub fn weight(point: u32, depth: u32) -> u32 {
    mix(point ^ depth << 27)
}

/// A new leaf.
#[inline(never)]
fn leaf<A: DeviceAlloc>(heap: Heap<A>) -> Result<Link, AllocError> {
    let link: Link = heap.malloc(layout::of::<Cube>())?.cast();
    let cube = Cube {
        points: HeapVec::new(),
        parts: Parts::NULL,
    };
    // SAFETY: the block was just got for a cube.
    unsafe { heap.store(link, cube) };
    Ok(link)
}

/// Appends a point to a leaf.
#[inline(never)]
fn append<A: DeviceAlloc>(heap: Heap<A>, link: Link, point: u32) -> Result<(), AllocError> {
    // SAFETY: the caller has it from a live cube of this lane's tree.
    let mut cube = unsafe { heap.load(link) };
    let pushed = cube.points.push(heap, point);
    // SAFETY: as above.
    unsafe { heap.store(link, cube) };
    pushed
}

/// The part of a cut cube at a depth that a point lies in; a new leaf if it is not there yet.
#[inline]
fn below<A: DeviceAlloc>(
    heap: Heap<A>,
    parts: Parts,
    depth: u32,
    point: u32,
) -> Result<Link, AllocError> {
    let at = part(point, depth);
    // SAFETY: a cut cube has eight links, and each leads to a live cube or is null.
    let mut link = unsafe { heap.load_at(parts, at) };
    if link.is_null() {
        link = leaf(heap)?;
        // SAFETY: as above.
        unsafe { heap.store_at(parts, at, link) };
    }
    Ok(link)
}

/// Cuts a leaf at a depth into parts.
#[inline(never)]
fn cut<A: DeviceAlloc>(heap: Heap<A>, link: Link, depth: u32) -> Result<(), AllocError> {
    // SAFETY: the caller has it from a live cube.
    let mut cube = unsafe { heap.load(link) };
    let parts: Parts = heap.malloc_array::<Link>(8)?;
    for at in 0..8 {
        // SAFETY: there are eight.
        unsafe { heap.store_at(parts, at, Link::NULL) };
    }
    let mut result = Ok(());
    let mut k = 0;
    while (k < cube.points.len()) & result.is_ok() {
        let point = cube.points.get_or(heap, k, 0);
        // Each gets at most as many as the leaf had.
        result = match below(heap, parts, depth, point) {
            Ok(link) => append(heap, link, point),
            Err(error) => Err(error),
        };
        k += 1;
    }
    // Without memory some points are in no part, which the lane says by its error.
    cube.points.free(heap);
    cube.parts = parts;
    // SAFETY: as above.
    unsafe { heap.store(link, cube) };
    result
}

/// Inserts a point.
#[inline(never)]
fn insert<A: DeviceAlloc>(heap: Heap<A>, root: Link, point: u32) -> Result<(), AllocError> {
    let mut link = root;
    let mut depth = 0;
    let mut result = Ok(());
    let mut goes_on = true;
    while goes_on & result.is_ok() {
        // SAFETY: links lead to live cubes of this lane's tree.
        let cube = unsafe { heap.load(link) };
        if cube.parts.is_null() {
            if (cube.points.len() < LEAF) | (depth == DEPTH) {
                result = append(heap, link, point);
                goes_on = false;
            } else {
                result = cut(heap, link, depth);
            }
        } else {
            match below(heap, cube.parts, depth, point) {
                Ok(next) => link = next,
                Err(error) => result = Err(error),
            }
            depth += 1;
        }
    }
    result
}

/// Lane `i` makes a stack that is large enough for the walks, and builds the tree of cell `i`.
///
/// # Errors
/// As `malloc`: the tree has only some of the points.
#[kernel(allocators = all)]
pub fn raise<A: DeviceAlloc>(
    heap: Heap<A>,
    root: &mut Link,
    stack: &mut Stack,
) -> Result<(), AllocError> {
    let cell = thread::index();
    *root = Link::NULL;
    // The deepest way down leaves seven cubes at each depth.
    stack.reserve(heap, 7 * DEPTH)?;
    *root = leaf(heap)?;
    let mut result = Ok(());
    let count = count(cell);
    let mut k = 0;
    while (k < count) & result.is_ok() {
        result = insert(heap, *root, point(cell, k));
        k += 1;
    }
    result
}

/// Lane `i` walks tree `i` depth first and adds up what it finds; if `fell` it frees every cube on the way, and its
/// stack.
///
/// # Errors
/// None: there is room in the stack.
#[kernel(allocators = all)]
pub fn walk<A: DeviceAlloc>(
    heap: Heap<A>,
    root: &mut Link,
    stack: &mut Stack,
    found: &mut Sums,
    fell: bool,
) -> Result<(), AllocError> {
    let mut result = Ok(());
    *found = Sums::default();
    let (mut link, mut depth) = (*root, 0);
    while !link.is_null() & result.is_ok() {
        // SAFETY: links lead to live cubes of this lane's tree.
        let mut cube = unsafe { heap.load(link) };
        let mut next = [Link::NULL.granule(), 0];
        if cube.parts.is_null() {
            found.leaves += 1;
            for k in 0..cube.points.len() {
                found.points += 1;
                let point = cube.points.get_or(heap, k, 0);
                found.hash = found.hash.wrapping_add(weight(point, depth));
            }
        } else {
            found.cut += 1;
            for at in 0..8 {
                // SAFETY: a cut cube has eight links.
                let part = unsafe { heap.load_at(cube.parts, at) };
                if !part.is_null() {
                    if next[0] != Link::NULL.granule() {
                        result = stack.push(heap, next);
                    }
                    next = [part.granule(), depth + 1];
                }
            }
        }
        if fell {
            cube.points.free(heap);
            if !cube.parts.is_null() {
                // SAFETY: the links were read, and no lane has others.
                unsafe { heap.free(cube.parts.cast(), layout::array::<Link>(8)) };
            }
            // SAFETY: the same.
            unsafe { heap.free(link.cast(), layout::of::<Cube>()) };
        }
        if next[0] == Link::NULL.granule() {
            next = stack.pop_or(heap, next);
        }
        link = Link::from_granule(next[0]);
        depth = next[1];
    }
    if fell {
        *root = Link::NULL;
        stack.free(heap);
    }
    result
}
