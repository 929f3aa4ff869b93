//! Products of sparse matrices, row by row. How many columns a row of the product has is not known before: each lane
//! collects its row in a hash table that it makes larger as it fills, and then keeps just the columns that there are.

use crate::numbers::mix;
use warpheap::device::*;

/// Columns of a row of a factor, at most.
pub const MOST: u32 = 48;
/// Places of the first table of a row.
pub const FIRST: u32 = 8;

/// A column of a row, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Entry {
    /// The column, plus one; 0 in a place of a table where there is none.
    pub column: u32,
    /// The value.
    pub value: u32,
}

/// A row of the product: all of its columns, in any order.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Row {
    /// The columns.
    entries: DevicePtr<Entry>,
    /// How many.
    pub len: u32,
}

/// Columns of a row of a factor: `n` or more with a probability of `2 / n`. Columns may be the same twice.
#[inline(always)]
pub fn count(row: u32) -> u32 {
    let count = 2 * 65_536 / ((mix(row ^ 0x7f4a) >> 16) + 1);
    if count < MOST { count } else { MOST }
}

/// The `k`-th column of a row of a factor of so many rows. One in four is among the first few.
#[inline(always)]
pub fn column(row: u32, k: u32, rows: u32) -> u32 {
    let chance = mix(row.wrapping_mul(MOST).wrapping_add(k));
    if chance % 4 == 0 {
        chance / 4 % (rows / 256 + 1)
    } else {
        chance / 4 % rows
    }
}

/// Its value.
#[inline(always)]
pub fn factor(row: u32, k: u32) -> u32 {
    mix(!row ^ k << 24)
}

/// What a column with its value adds to a row's sum.
#[inline(always)]
pub fn weight(column: u32, value: u32) -> u32 {
    mix(column).wrapping_mul(value | 1).wrapping_add(value)
}

/// A table of a row.
#[derive(Clone, Copy)]
struct Table {
    places: DevicePtr<Entry>,
    /// A power of two.
    size: u32,
    len: u32,
}

impl Table {
    /// Adds to the value of a column. The table has room.
    #[inline]
    fn add<A: DeviceAlloc>(&mut self, heap: Heap<A>, entry: Entry) {
        let mut at = mix(entry.column) & (self.size - 1);
        let mut looking = true;
        while looking {
            // SAFETY: the table has as many places, and is this lane's.
            let found = unsafe { heap.load_at(self.places, at) };
            if (found.column == 0) | (found.column == entry.column) {
                let value = found.value.wrapping_add(entry.value);
                self.len += (found.column == 0) as u32;
                // SAFETY: as above.
                unsafe { heap.store_at(self.places, at, Entry { value, ..entry }) };
                looking = false;
            }
            at = (at + 1) & (self.size - 1);
        }
    }

    /// Adds all of another one's, and frees that.
    #[inline]
    fn take_over<A: DeviceAlloc>(&mut self, heap: Heap<A>, other: Table) {
        for at in 0..other.size {
            // SAFETY: the table has as many places, and is this lane's.
            let entry = unsafe { heap.load_at(other.places, at) };
            if entry.column != 0 {
                self.add(heap, entry);
            }
        }
        other.free(heap);
    }

    #[inline]
    fn free<A: DeviceAlloc>(self, heap: Heap<A>) {
        // SAFETY: it was got with this layout, and nobody uses it any more.
        unsafe { heap.free(self.places.cast(), layout::array::<Entry>(self.size)) };
    }
}

/// Places of an empty table.
#[inline(never)]
fn empty<A: DeviceAlloc>(heap: Heap<A>, size: u32) -> Result<DevicePtr<Entry>, AllocError> {
    Ok(heap.calloc(layout::array::<Entry>(size))?.cast())
}

/// Lane `i` computes row `i` of the square of a matrix.
///
/// # Errors
/// As `malloc`: the row is empty then.
#[kernel(allocators = all, unsafe(slices))]
pub fn multiply<A: DeviceAlloc>(heap: Heap<A>, rows: &mut [Row]) -> Result<(), AllocError> {
    let row = thread::index();
    let i = row as usize;
    let mut result = Ok(());
    if i < rows.len() {
        let all = rows.len() as u32;
        rows[i] = Row {
            entries: DevicePtr::NULL,
            len: 0,
        };
        match empty(heap, FIRST) {
            Ok(places) => {
                let mut table = Table {
                    places,
                    size: FIRST,
                    len: 0,
                };
                let mut k = 0;
                while (k < count(row)) & result.is_ok() {
                    let middle = column(row, k, all);
                    let mut j = 0;
                    while (j < count(middle)) & result.is_ok() {
                        if table.len * 2 == table.size {
                            match empty(heap, table.size * 2) {
                                Ok(places) => {
                                    let mut larger = Table {
                                        places,
                                        size: table.size * 2,
                                        len: 0,
                                    };
                                    larger.take_over(heap, table);
                                    table = larger;
                                }
                                Err(error) => result = Err(error),
                            }
                        }
                        if result.is_ok() {
                            let entry = Entry {
                                column: column(middle, j, all) + 1,
                                value: factor(row, k).wrapping_mul(factor(middle, j)),
                            };
                            table.add(heap, entry);
                        }
                        j += 1;
                    }
                    k += 1;
                }
                if result.is_ok() {
                    match heap.malloc_array::<Entry>(table.len) {
                        Ok(entries) => {
                            rows[i] = Row {
                                entries,
                                len: table.len,
                            };
                            let mut to = 0;
                            for at in 0..table.size {
                                // SAFETY: the table has as many places, and the row as many as are not empty.
                                let entry = unsafe { heap.load_at(table.places, at) };
                                if entry.column != 0 {
                                    // SAFETY: as above.
                                    unsafe { heap.store_at(entries, to, entry) };
                                    to += 1;
                                }
                            }
                        }
                        Err(error) => result = Err(error),
                    }
                }
                table.free(heap);
            }
            Err(error) => result = Err(error),
        }
    }
    result
}

/// Lane `i` adds up row `i` and frees it.
#[kernel(allocators = all, unsafe(slices))]
pub fn add_up<A: DeviceAlloc>(heap: Heap<A>, rows: &mut [Row], sums: &mut [[u32; 2]]) {
    let i = thread::index() as usize;
    if (i < rows.len()) & (i < sums.len()) {
        let row = rows[i];
        let mut sum = 0u32;
        for k in 0..row.len {
            // SAFETY: a row has as many entries.
            let entry = unsafe { heap.load_at(row.entries, k) };
            sum = sum.wrapping_add(weight(entry.column - 1, entry.value));
        }
        if !row.entries.is_null() {
            // SAFETY: it was got with this layout, and the row forgets it.
            unsafe { heap.free(row.entries.cast(), layout::array::<Entry>(row.len)) };
        }
        sums[i] = [row.len, sum];
        rows[i] = Row {
            entries: DevicePtr::NULL,
            len: 0,
        };
    }
}
