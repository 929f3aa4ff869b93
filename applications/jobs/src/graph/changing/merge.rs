//! A batch merged into the rows of a graph, and the rows read back.

use super::batch::Batch;
use super::context::Context;
use super::room::{Loaded, Room, front};
use crate::graph::ranks;
use crate::pool::Failed;
use std::time::Duration;
use warpheap::device::HeapData;
use warpheap::{BackendKind, DeviceError, DeviceVec, LaunchConfig, Pool, Prepared, RawBuffer};
use warpheap_applications::rows::compact::{
    RowsCompactEntry, RowsCompactedEntry, RowsRelocateEntry,
};
use warpheap_applications::rows::components::{RowsHookEntry, RowsParentsEntry};
use warpheap_applications::rows::reach::RowsReachEntry;
use warpheap_applications::rows::triangles::RowsTrianglesEntry;
use warpheap_applications::rows::{
    Row, RowsFindEntry, RowsFreeEntry, RowsLayEntry, RowsLiftEntry, RowsPutEntry, RowsRoomEntry,
    RowsSettleEntry, TILE,
};

/// An allocator with all kernels of the job.
pub trait Kernels:
    ranks::Kernels
    + RowsCompactEntry
    + RowsCompactedEntry
    + RowsFindEntry
    + RowsFreeEntry
    + RowsHookEntry
    + RowsLayEntry
    + RowsLiftEntry
    + RowsParentsEntry
    + RowsPutEntry
    + RowsReachEntry
    + RowsRelocateEntry
    + RowsRoomEntry
    + RowsSettleEntry
    + RowsTrianglesEntry
{
}

impl<A> Kernels for A where
    A: ranks::Kernels
        + RowsCompactEntry
        + RowsCompactedEntry
        + RowsFindEntry
        + RowsFreeEntry
        + RowsHookEntry
        + RowsLayEntry
        + RowsLiftEntry
        + RowsParentsEntry
        + RowsPutEntry
        + RowsReachEntry
        + RowsRelocateEntry
        + RowsRoomEntry
        + RowsSettleEntry
        + RowsTrianglesEntry
{
}

/// Time on the device.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// Of kernels that ask the heap for blocks and give them back.
    pub heap: Duration,
    /// Of all kernels.
    pub all: Duration,
}

impl std::ops::AddAssign for Times {
    fn add_assign(&mut self, other: Self) {
        self.heap += other.heap;
        self.all += other.all;
    }
}

/// What came of a step.
pub struct Merged {
    /// Edges that came or went.
    pub changed: u32,
    /// How long it took.
    pub times: Times,
}

/// Lanes that go through tiles.
pub fn lanes(context: &Context<'_>) -> LaunchConfig {
    LaunchConfig::for_num_elems(match context.device.info().backend {
        BackendKind::Host => 1 << 10,
        _ => 1 << 18,
    })
}

/// The rows of a graph in a heap.
pub struct Rows<'a, A> {
    /// What the run works with.
    pub context: &'a Context<'a>,
    /// The heap.
    pub pool: &'a Pool<A>,
    /// Device memory for a batch.
    pub room: &'a Room,
    /// The rows.
    pub rows: DeviceVec<Row>,
    /// Where they lie.
    pub buffer: RawBuffer,
}

impl<'a, A: Kernels> Rows<'a, A> {
    /// No edges.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(
        context: &'a Context<'a>,
        pool: &'a Pool<A>,
        room: &'a Room,
    ) -> Result<Self, DeviceError> {
        let vertices = context.expected.vertices;
        let words = u64::from(vertices) * u64::from(Row::WORDS);
        let buffer = context.device.alloc(4 * words)?;
        let rows: DeviceVec<Row> = front(&buffer, vertices as usize)?;
        rows.fill_zero()?;
        Ok(Rows {
            context,
            pool,
            room,
            rows,
            buffer,
        })
    }

    /// Inserts or deletes a batch.
    ///
    /// # Errors
    /// [`Failed::Full`] if a row could not grow: then some of it is done. Errors of the device.
    pub fn merge(&self, batch: &Batch, adding: bool) -> Result<Merged, Failed> {
        let (kernels, pool, rows) = (self.context.kernels, self.pool, &self.rows);
        let on = self.room.load(batch)?;
        let flag = u32::from(adding);
        let edges = LaunchConfig::for_num_elems(batch.edges.len() as u32 + 1);
        let segments = LaunchConfig::for_num_elems(batch.segments.len() as u32 + 1);
        let tiles = lanes(self.context);
        let find = kernels.rows_find_launch(
            pool, edges, rows, &on.owners, &on.edges, &on.places, &on.counts, flag,
        );
        let mut first = vec![find];
        first.extend(self.room.sums.launches(kernels, &on.counts)?);
        let room = kernels.rows_room_launch(
            pool,
            segments,
            rows,
            &on.segments,
            &on.counts,
            &on.changes,
            flag,
        );
        let mut copy = self.tiles(&on)?;
        copy.push(kernels.rows_lift_launch(pool, tiles, rows, &on.segments, &on.tiles, &on.lifted));
        copy.push(kernels.rows_lay_launch(
            pool,
            tiles,
            &on.changes,
            &on.edges,
            &on.counts,
            &on.tiles,
            &on.lifted,
        ));
        if adding {
            copy.push(kernels.rows_put_launch(
                pool,
                edges,
                &on.changes,
                &on.edges,
                &on.places,
                &on.counts,
            ));
        }
        let settle = kernels.rows_settle_launch(pool, segments, rows, &on.segments, &on.changes);

        let mut times = Times::default();
        times.all += self.run(&first)?;
        // Alone, so that nothing is done with rows that could not grow.
        times.heap += self.run(&[room])?;
        times.all += self.run(&copy)?;
        times.heap += self.run(&[settle])?;
        times.all += times.heap;
        let (buffer, offset, len) = on.counts.into_raw_parts();
        let mut changed = [0; 4];
        buffer.read(offset + 4 * (u64::from(len) - 1), &mut changed)?;
        Ok(Merged {
            changed: u32::from_ne_bytes(changed),
            times,
        })
    }

    /// The launches that say where the tiles of each row of a batch begin.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn tiles(&self, on: &Loaded) -> Result<Vec<Prepared>, DeviceError> {
        let kernels = self.context.kernels;
        let shape = LaunchConfig::for_num_elems(on.segments.len() as u32 + 1);
        let mut launches =
            vec![kernels.rows_tiles_launch(shape, &self.rows, &on.segments, &on.tiles)];
        launches.extend(self.room.sums.launches(kernels, &on.tiles)?);
        Ok(launches)
    }

    /// Runs launches in order and gives their time on the device.
    pub(super) fn run(&self, launches: &[Prepared]) -> Result<Duration, Failed> {
        run(self.context, launches)
    }

    /// The rows, one after the other, and the length of each.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn read(&self) -> Result<(Vec<u32>, Vec<u32>), Failed> {
        let kernels = self.context.kernels;
        let vertices = self.context.expected.vertices;
        let on = self.room.everything(vertices)?;
        let mut launches = self.tiles(&on)?;
        launches.push(kernels.rows_lift_launch(
            self.pool,
            lanes(self.context),
            &self.rows,
            &on.segments,
            &on.tiles,
            &on.lifted,
        ));
        self.run(&launches)?;
        let (rows, lifted) = (self.rows.to_vec()?, on.lifted.to_vec()?);
        let mut packed = Vec::new();
        let mut at = 0;
        for row in &rows {
            let end = (at + row.len as usize).min(lifted.len());
            packed.extend(&lifted[at.min(end)..end]);
            at += row.len.div_ceil(TILE) as usize * TILE as usize;
        }
        Ok((packed, rows.iter().map(|row| row.len).collect()))
    }

    /// Counts triangles; gives how many there are and how long that took.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn triangles(&self) -> Result<(u64, Duration), Failed> {
        let kernels = self.context.kernels;
        let vertices = self.context.expected.vertices;
        let on = self.room.everything(vertices)?;
        let shape = lanes(self.context);
        let lanes = (shape.grid_dim * shape.block_dim) as usize;
        let found = DeviceVec::<u32>::zeroed(self.context.device, 2 * lanes)?;
        let mut launches = self.tiles(&on)?;
        launches.push(kernels.rows_triangles_launch(
            self.pool,
            shape,
            &self.rows,
            &on.segments,
            &on.tiles,
            &found,
        ));
        let time = self.run(&launches)?;
        let found = found.to_vec()?;
        let (low, high) = found.split_at(lanes);
        let number = |(low, high): (&u32, &u32)| u64::from(*low) | u64::from(*high) << 32;
        Ok((low.iter().zip(high).map(number).sum(), time))
    }

    /// Frees all rows; gives how long that took.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn free(&self) -> Result<Duration, Failed> {
        let all = LaunchConfig::for_num_elems(self.context.expected.vertices);
        let kernels = self.context.kernels;
        self.run(&[kernels.rows_free_launch(self.pool, all, &self.rows)])
    }
}

/// Runs launches in order and gives their time on the device.
///
/// # Errors
/// [`Failed::Full`] for the first launch with lanes that failed; errors of the device.
pub fn run(context: &Context<'_>, launches: &[Prepared]) -> Result<Duration, Failed> {
    let reports = context.device.run_all(launches)?;
    let mut time = Duration::ZERO;
    for (launch, report) in launches.iter().zip(reports) {
        if let Some(failure) = report.failure(launch.entry()) {
            return Err(Failed::Full(Box::new(failure).into(), None));
        }
        time += report.device_time;
    }
    Ok(time)
}
