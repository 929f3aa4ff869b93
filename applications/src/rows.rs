//! A graph that changes: each vertex has a row, a sorted array of its neighbours that grows to the next power of two
//! and shrinks back, and batches of edges are inserted into the rows or deleted from them.
//!
//! A batch is sorted by vertex and neighbour, without duplicates. It is merged in steps, each a launch whose lanes have
//! equal work, however long a row is, so that no step needs lanes to work together:
//!
//! 1. [`rows_find`]: where each edge of the batch belongs in its row, and whether it is there; a prefix sum over the
//!    edges that change something then says how far each neighbour moves;
//! 2. [`rows_room`]: one lane for each row of the batch asks the heap for an array where the class of the row changes;
//! 3. [`rows_tiles`], a prefix sum, [`rows_lift`]: rows are copied to a buffer, tile by tile;
//! 4. [`rows_lay`], [`rows_put`]: and from there, with the new edges, to where they belong;
//! 5. [`rows_settle`]: one lane for each row frees the array that was left.
//!
//! Now and then the heap is [compacted](compact). What is asked of such a graph: [`triangles`], [`reach`], [`components`];
//! [`rank`](crate::rank).

pub mod compact;
pub mod components;
pub mod reach;
pub mod triangles;

use crate::graph::Segment;
use crate::search::lower_bound;
use warpheap_rt::device::*;

/// Elements of a tile: what a team of lanes copies.
pub const TILE: u32 = 32;
/// Lanes of a team, which have consecutive indices.
pub const TEAM: u32 = 8;
/// Elements of the smallest array: a granule.
pub const FIRST: u32 = 4;
/// Bit of a place that says that the edge is in the row.
pub const PRESENT: u32 = 1 << 31;

/// The neighbours of a vertex: an array in the heap, in ascending order. Zeroed words are an empty row. It is laid out as
/// a [`HeapVec`], which kernels that only read may take it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Row {
    /// The array; meaningless if the capacity is 0.
    pub array: DevicePtr<u32>,
    /// Neighbours.
    pub len: u32,
    /// Elements of the array.
    pub capacity: u32,
}

/// What a row of a batch becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Change {
    /// The array afterwards.
    pub array: DevicePtr<u32>,
    /// Neighbours afterwards.
    pub len: u32,
    /// Elements of the array afterwards.
    pub capacity: u32,
    /// Neighbours before.
    pub before: u32,
    /// Index of its first edge in the batch.
    pub begin: u32,
    /// Index behind its last edge in the batch.
    pub end: u32,
}

/// Capacity of a row of `len` neighbours: the next power of two, at least [`FIRST`]; none for none.
#[inline(always)]
pub fn capacity(len: u32) -> u32 {
    let mut capacity = FIRST;
    while capacity < len {
        capacity *= 2;
    }
    if len == 0 { 0 } else { capacity }
}

/// The first index of an array of the heap whose element is not less than `value`; `len` if there is none.
#[inline(always)]
fn place_in<A: DeviceAlloc>(heap: Heap<A>, array: DevicePtr<u32>, len: u32, value: u32) -> u32 {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if element(heap, array, middle) < value {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[inline(always)]
fn element<A: DeviceAlloc>(heap: Heap<A>, array: DevicePtr<u32>, index: u32) -> u32 {
    // SAFETY: callers stay within the length of a row, whose array has room for it.
    unsafe { heap.load_at(array, index) }
}

#[inline(always)]
fn set<A: DeviceAlloc>(heap: Heap<A>, array: DevicePtr<u32>, index: u32, value: u32) {
    // SAFETY: callers stay within the capacity of an array that is the row's.
    unsafe { heap.store_at(array, index, value) };
}

/// Lane `j` finds edge `j` of the batch in its row: `places[j]` is its index there, or where it would be, with
/// [`PRESENT`] if it is; `counts[j]` is 1 if the edge changes the row, that is if it is there and is to go
/// (`adding == 0`) or is not there and is to come. `counts` has one element more, which becomes 0.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_find<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &[Row],
    owners: &[u32],
    edges: &[u32],
    places: &mut [u32],
    counts: &mut [u32],
    adding: u32,
) {
    let j = thread::index() as usize;
    if j < edges.len() {
        let row = rows[owners[j] as usize];
        let edge = edges[j];
        let place = place_in(heap, row.array, row.len, edge);
        let mut present = 0;
        if place < row.len && element(heap, row.array, place) == edge {
            present = 1;
        }
        places[j] = place | (present << 31);
        counts[j] = present ^ adding;
    }
    if j == edges.len() {
        counts[j] = 0;
    }
}

/// Lane `i` decides what row `i` of the batch becomes, and asks for an array where its capacity changes. A row that
/// could be smaller, but gets no smaller array, keeps the one it has.
///
/// # Errors
/// As `DeviceAlloc::malloc`, of a row that must grow: then it stays as it is, and `changes[i]` says so.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_room<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &[Row],
    segments: &[Segment],
    sums: &[u32],
    changes: &mut [Change],
    adding: u32,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < segments.len() {
        let segment = segments[i];
        let row = rows[segment.vertex as usize];
        let number = sums[segment.end as usize] - sums[segment.begin as usize];
        let mut change = Change {
            array: row.array,
            len: row.len,
            capacity: row.capacity,
            before: row.len,
            begin: segment.begin,
            end: segment.end,
        };
        let len = if adding == 1 {
            row.len + number
        } else {
            row.len - number
        };
        let wanted = capacity(len);
        let mut result = Ok(());
        if wanted == row.capacity || wanted == 0 {
            change.len = len;
            change.capacity = wanted;
        } else {
            match heap.malloc_array::<u32>(wanted) {
                Ok(array) => {
                    change.array = array;
                    change.len = len;
                    change.capacity = wanted;
                }
                Err(error) => {
                    if wanted < row.capacity {
                        change.len = len;
                    } else {
                        result = Err(error);
                    }
                }
            }
        }
        changes[i] = change;
        return result;
    }
    Ok(())
}

/// Lane `i` writes how many tiles row `i` of the batch has. `tiles` has one element more, which becomes 0.
#[kernel(unsafe(slices))]
pub fn rows_tiles(rows: &[Row], segments: &[Segment], tiles: &mut [u32]) {
    let i = thread::index() as usize;
    if i < segments.len() {
        tiles[i] = rows[segments[i].vertex as usize].len.div_ceil(TILE);
    }
    if i == segments.len() {
        tiles[i] = 0;
    }
}

/// The row of a batch that a tile belongs to: the last whose first tile is not behind it.
#[inline(always)]
fn row_of(tiles: &[u32], tile: u32) -> u32 {
    // One before the first that begins behind the tile. The last element, the number of all, does.
    lower_bound(tiles, 0, tiles.len() as u32, tile + 1) - 1
}

/// Teams of lanes copy the rows of a batch to `lifted`, tile `t` to where tile `t` of the buffer begins. Any number of
/// lanes.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_lift<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &[Row],
    segments: &[Segment],
    tiles: &[u32],
    lifted: &mut [u32],
) {
    let all = tiles[tiles.len() - 1];
    let teams = thread::count() / TEAM;
    let mut tile = thread::index() / TEAM;
    while tile < all && thread::index() / TEAM < teams {
        let i = row_of(tiles, tile);
        let row = rows[segments[i as usize].vertex as usize];
        let begin = (tile - tiles[i as usize]) * TILE;
        let mut k = thread::index() % TEAM;
        while k < TILE && begin + k < row.len {
            lifted[(tile * TILE + k) as usize] = element(heap, row.array, begin + k);
            k += TEAM;
        }
        tile += teams;
    }
}

/// Teams of lanes write the neighbours that stay from `lifted` to where they belong now. Any number of lanes.
#[kernel(allocators = Counted<all>)]
pub fn rows_lay<A: DeviceAlloc>(
    heap: Heap<A>,
    changes: &[Change],
    edges: &[u32],
    sums: &[u32],
    tiles: &[u32],
    lifted: &[u32],
) {
    let all = tiles[tiles.len() - 1];
    let teams = thread::count() / TEAM;
    let mut tile = thread::index() / TEAM;
    while tile < all && thread::index() / TEAM < teams {
        let i = row_of(tiles, tile);
        let change = changes[i as usize];
        let begin = (tile - tiles[i as usize]) * TILE;
        let mut k = thread::index() % TEAM;
        while k < TILE && begin + k < change.before {
            let value = lifted[(tile * TILE + k) as usize];
            let at = lower_bound(edges, change.begin, change.end, value);
            // How many neighbours came or went before this one.
            let shift = sums[at as usize] - sums[change.begin as usize];
            if change.len > change.before {
                set(heap, change.array, begin + k + shift, value);
            } else if change.len == change.before {
                set(heap, change.array, begin + k, value);
            } else if at == change.end || edges[at as usize] != value {
                set(heap, change.array, begin + k - shift, value);
            }
            k += TEAM;
        }
        tile += teams;
    }
}

/// Lane `j` writes edge `j` of a batch that is inserted to its place, if it was not there.
#[kernel(allocators = Counted<all>)]
pub fn rows_put<A: DeviceAlloc>(
    heap: Heap<A>,
    changes: &[Change],
    edges: &[u32],
    places: &[u32],
    sums: &[u32],
) {
    let j = thread::index();
    if (j as usize) < edges.len() && places[j as usize] & PRESENT == 0 {
        let change = changes[change_of(changes, j) as usize];
        let before = sums[j as usize] - sums[change.begin as usize];
        if change.len > change.before {
            set(
                heap,
                change.array,
                places[j as usize] + before,
                edges[j as usize],
            );
        }
    }
}

/// The row of a batch that its edge `j` belongs to.
#[inline(always)]
fn change_of(changes: &[Change], j: u32) -> u32 {
    let (mut low, mut high) = (0, changes.len() as u32);
    while low < high {
        let middle = low + (high - low) / 2;
        if changes[middle as usize].end <= j {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Lane `i` makes row `i` of a batch what it becomes, and frees the array that it leaves.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_settle<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &mut [Row],
    segments: &[Segment],
    changes: &[Change],
) {
    let i = thread::index() as usize;
    if i < segments.len() {
        let change = changes[i];
        let vertex = segments[i].vertex as usize;
        let row = rows[vertex];
        if row.capacity != 0 && row.capacity != change.capacity {
            // SAFETY: the array is the row's, got with this layout; nobody has it any more.
            unsafe { heap.free(row.array.cast(), layout::array::<u32>(row.capacity)) };
        }
        rows[vertex] = Row {
            array: change.array,
            len: change.len,
            capacity: change.capacity,
        };
    }
}

/// Lane `v` frees row `v` and leaves it empty.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_free<A: DeviceAlloc>(heap: Heap<A>, rows: &mut [Row]) {
    let v = thread::index() as usize;
    if v < rows.len() {
        let row = rows[v];
        if row.capacity != 0 {
            // SAFETY: as in rows_settle.
            unsafe { heap.free(row.array.cast(), layout::array::<u32>(row.capacity)) };
        }
        rows[v] = Row {
            array: DevicePtr::NULL,
            len: 0,
            capacity: 0,
        };
    }
}
