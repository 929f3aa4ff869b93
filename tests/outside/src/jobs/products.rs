//! Products of sparse matrices: every row's sum is compared with that of a map of `std`.

use super::{expect, notes};
use crate::report::{Outcome, Verdict};
use crate::stage::{Demand, Stage, full_note, short_note};
use outside_kernels::products::{
    AddUpEntry, Entry, FIRST, MultiplyEntry, Row, column, count, factor, weight,
};
use std::collections::HashMap;
use std::time::Duration;
use warpheap::{DeviceVec, HostAlloc};

/// Bytes of an entry.
const ENTRY: u64 = size_of::<Entry>() as u64;

/// A row of the product as the CPU computes it: how many columns, and their sum.
fn expected(row: u32, rows: u32) -> [u32; 2] {
    let mut columns = HashMap::<u32, u32>::new();
    for k in 0..count(row) {
        let middle = column(row, k, rows);
        for j in 0..count(middle) {
            let value = columns.entry(column(middle, j, rows)).or_default();
            *value = value.wrapping_add(factor(row, k).wrapping_mul(factor(middle, j)));
        }
    }
    let sum = columns
        .iter()
        .map(|(&column, &value)| weight(column, value));
    [columns.len() as u32, sum.fold(0, u32::wrapping_add)]
}

/// Places of the last table of a row with so many columns. It is made larger before a column is looked for, so one that is
/// half full may grow for a column that it has.
fn places(columns: u32) -> u32 {
    let mut places = FIRST;
    while columns * 2 >= places {
        places *= 2;
    }
    places
}

/// Does the job.
///
/// # Errors
/// What is wrong.
pub fn run<A: HostAlloc + MultiplyEntry + AddUpEntry>(stage: &Stage) -> Outcome {
    let rows: Vec<[u32; 2]> = (0..stage.lanes)
        .map(|row| expected(row, stage.lanes))
        .collect();
    let tables = rows.iter().map(|row| u64::from(places(row[0])) * ENTRY);
    let (bytes, largest): (u64, u64) = (tables.clone().sum(), tables.max().unwrap_or(0));
    let lanes = u64::from(stage.lanes);
    // The table, the one before it, and the row.
    let demand = Demand {
        blocks: 3 * lanes,
        bytes: 2 * bytes,
        all_blocks: 8 * lanes,
        all_bytes: 3 * bytes,
        page: largest as u32,
    };
    let heap = match stage.heap::<A>(demand)? {
        Ok(heap) => heap,
        Err(verdict) => return Ok(verdict),
    };
    let (device, kernels, shape) = (&stage.device, &stage.kernels, stage.shape());
    let product = DeviceVec::<Row>::zeroed(device, rows.len())?;
    let found = DeviceVec::<[u32; 2]>::zeroed(device, rows.len())?;
    let mut time = Duration::ZERO;
    let failed = stage.run(
        &mut time,
        kernels.multiply_launch(&heap.pool, shape, &product),
    )?;
    let full = heap.expect_room(failed)?;
    let tied = heap.tied_note()?;
    stage.run(
        &mut time,
        kernels.add_up_launch(&heap.pool, shape, &product, &found),
    )?;
    heap.expect_empty()?;
    let (mut refused, mut partial) = (0, 0);
    for (row, (found, expected)) in found.to_vec()?.into_iter().zip(&rows).enumerate() {
        // A row whose table may have been larger than any block.
        let large = u64::from(places(expected[0])) * ENTRY > heap.largest;
        let empty = found == [0, 0] && *expected != [0, 0];
        refused += u32::from(empty && large);
        partial += u32::from(empty && !large);
        expect(found == *expected || (empty && (large || full)), || {
            format!("row {row} has {found:?}, not {expected:?}")
        })?;
    }
    let errors: u32 = failed.iter().sum();
    expect(refused + partial == errors, || {
        format!("{refused} rows and {partial} are empty, but {errors} lanes say so")
    })?;
    let short = short_note(refused, "rows are missing", heap.largest);
    let note = notes([tied, short, full_note(partial, "rows")]);
    Ok(Verdict::Ok { time, note })
}
