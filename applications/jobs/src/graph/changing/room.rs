//! Device memory for a batch, used by all of them.

use super::batch::Batch;
use super::expected::Expected;
use crate::sums::Sums;
use warpheap::device::HeapData;
use warpheap::{Device, DeviceError, DeviceVec, RawBuffer};
use warpheap_applications::graph::Segment;
use warpheap_applications::rows::{Change, TILE};

/// Buffers for the largest batch, of which each batch uses the front.
pub struct Room {
    owners: RawBuffer,
    edges: RawBuffer,
    segments: RawBuffer,
    places: RawBuffer,
    counts: RawBuffer,
    changes: RawBuffer,
    tiles: RawBuffer,
    lifted: RawBuffer,
    /// For prefix sums of any of them.
    pub sums: Sums,
}

/// A batch on the device.
pub struct Loaded {
    /// The vertex of each edge.
    pub owners: DeviceVec<u32>,
    /// Its neighbour.
    pub edges: DeviceVec<u32>,
    /// The vertices.
    pub segments: DeviceVec<Segment>,
    /// Where each edge belongs.
    pub places: DeviceVec<u32>,
    /// One word for each edge and one more.
    pub counts: DeviceVec<u32>,
    /// What becomes of each vertex.
    pub changes: DeviceVec<Change>,
    /// One word for each vertex and one more.
    pub tiles: DeviceVec<u32>,
    /// The rows before.
    pub lifted: DeviceVec<u32>,
}

/// The first `len` elements of a buffer that the caller has for itself.
///
/// # Errors
/// As [`DeviceVec::from_raw_parts`].
pub fn front<T: HeapData>(buffer: &RawBuffer, len: usize) -> Result<DeviceVec<T>, DeviceError> {
    // SAFETY: the caller has the buffer for itself, and any words are elements.
    unsafe { DeviceVec::from_raw_parts(buffer.clone(), 0, len as u32) }
}

impl Room {
    /// For all batches, and for all vertices at once.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(device: &Device, expected: &Expected) -> Result<Self, DeviceError> {
        let batches = &expected.batches;
        let edges = batches
            .iter()
            .map(|batch| batch.edges.len())
            .max()
            .unwrap_or(0) as u64;
        let rows = u64::from(expected.vertices);
        let words = |count: u64| device.alloc((count + 1) * 4);
        Ok(Room {
            owners: words(edges)?,
            edges: words(edges)?,
            segments: words(rows * u64::from(Segment::WORDS))?,
            places: words(edges)?,
            counts: words(edges)?,
            changes: words(rows * u64::from(Change::WORDS))?,
            tiles: words(rows)?,
            lifted: words(expected.most_words(TILE))?,
            sums: Sums::new(device, edges.max(rows) + 1)?,
        })
    }

    /// Copies a batch to the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn load(&self, batch: &Batch) -> Result<Loaded, DeviceError> {
        let (edges, segments) = (batch.edges.len(), batch.segments.len());
        let mut loaded = Loaded {
            owners: front(&self.owners, edges)?,
            edges: front(&self.edges, edges)?,
            segments: front(&self.segments, segments)?,
            places: front(&self.places, edges)?,
            counts: front(&self.counts, edges + 1)?,
            changes: front(&self.changes, segments)?,
            tiles: front(&self.tiles, segments + 1)?,
            lifted: front(&self.lifted, (self.lifted.bytes() / 4) as usize)?,
        };
        loaded.owners.copy_from(&batch.owners)?;
        loaded.edges.copy_from(&batch.edges)?;
        loaded.segments.copy_from(&batch.segments)?;
        Ok(loaded)
    }

    /// A batch without edges that names every vertex.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn everything(&self, vertices: u32) -> Result<Loaded, DeviceError> {
        let segment = |vertex| Segment {
            vertex,
            begin: 0,
            end: 0,
        };
        self.load(&Batch {
            segments: (0..vertices).map(segment).collect(),
            ..Batch::default()
        })
    }
}
