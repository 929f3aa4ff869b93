//! What a pool's header and metadata tell.

use super::{Pool, RawPool};
use crate::host::bytes::bytes_of_mut;
use crate::host::{
    Audit, BudgetUse, DeviceError, HeapReader, HostAlloc, PoolStats, Snapshot, Usage,
};
use crate::{HeapParams, LAYOUT_VERSION, header};
use core::sync::atomic::Ordering;
use std::format;

impl<A: HostAlloc> Pool<A> {
    /// Reads header and metadata.
    ///
    /// Other threads may launch kernels on this heap at the same time: each read falls between launches, and
    /// waits for those of streams. A large heap takes several reads, and launches may
    /// come between them; figures are then of no single moment, but never more than there is, and exact
    /// again once nobody launches.
    ///
    /// # Errors
    /// [`DeviceError::BadHeap`] if the header was overwritten; errors of the device.
    pub fn stats(&self) -> Result<PoolStats, DeviceError> {
        let (mut stats, usage) = self.look(A::usage)?;
        stats.usage = usage;
        Ok(stats)
    }

    /// Reads header and metadata, and tells what each part of the pool is used for: a look at why a heap is full though memory
    /// is free. Blocks are not read. When it is taken and what it shows while others launch is as for [`stats`](Self::stats).
    ///
    /// It takes 72 bytes of the host for each chunk, page or segment that has a size class.
    ///
    /// # Errors
    /// As [`stats`](Self::stats).
    pub fn snapshot(&self) -> Result<Snapshot, DeviceError> {
        let (stats, map) = self.look(A::map)?;
        let sequence = self.snapshots.fetch_add(1, Ordering::Relaxed);
        Ok(Snapshot::new(sequence, map, stats))
    }

    /// Reads all metadata and tells what contradicts itself, for tests and long runs: after a kernel that wrote where it may not, or for
    /// an allocator that is not right. Nothing is found in a heap of an allocator that brings no check.
    ///
    /// No lane may run meanwhile that uses the heap, of this program or of another one: each read waits for streams, but launches
    /// that come between two of them make what is right look wrong.
    ///
    /// # Errors
    /// As [`stats`](Self::stats).
    pub fn audit(&self) -> Result<Audit, DeviceError> {
        let look = |params: &HeapParams, heap: &mut dyn HeapReader| {
            let mut found = Audit::default();
            A::audit(params, heap, &mut found).map(|()| found)
        };
        Ok(self.look(look)?.1)
    }

    /// Reads the header, and by `metadata` the rest; the usage is left out.
    fn look<T>(
        &self,
        metadata: impl FnOnce(&HeapParams, &mut dyn HeapReader) -> Result<T, DeviceError>,
    ) -> Result<(PoolStats, T), DeviceError> {
        let mut head = [0u32; header::HEADER_WORDS];
        let mut reader = Reader { pool: &self.raw };
        reader.read(0, &mut head)?;
        let found = (
            head[header::WORD_MAGIC],
            head[header::WORD_VERSION],
            head[header::WORD_KIND],
        );
        if found != (header::MAGIC, LAYOUT_VERSION, A::KIND) {
            return Err(DeviceError::BadHeap {
                expected: A::NAME,
                version: LAYOUT_VERSION,
                why: format!(
                    "magic {:#x}, version {}, kind {}: a kernel wrote over the header, or another build made it; run it with \
                     WARPHEAP_BACKEND=host to find the access, reset the pool to go on",
                    found.0, found.1, found.2
                ),
            });
        }
        let found = metadata(&self.raw.params(), &mut reader)?;
        let stripes = head[header::WORD_COUNTERS..].chunks_exact(header::STRIPE_WORDS);
        let wide = |words: &[u32], at: usize| words[at] as u64 | (words[at + 1] as u64) << 32;
        let mut stats = PoolStats {
            allocator: A::NAME,
            pool_bytes: self.bytes(),
            metadata_bytes: self.plan.metadata_bytes,
            usage: Usage::default(),
            failures: [1, 2, 3].map(|code| head[header::WORD_FAILURES + code]),
            refused_bytes: wide(&head, header::WORD_REFUSED).saturating_mul(16),
            mallocs: 0,
            frees: 0,
            malloc_bytes: 0,
            free_bytes: 0,
            budget: budget(&head),
        };
        for stripe in stripes {
            stats.mallocs += stripe[header::COUNT_MALLOCS] as u64;
            stats.frees += stripe[header::COUNT_FREES] as u64;
            stats.malloc_bytes += wide(stripe, header::COUNT_MALLOC_BYTES);
            stats.free_bytes += wide(stripe, header::COUNT_FREE_BYTES);
        }
        Ok((stats, found))
    }
}

/// The budget that a header tells of. A granule has 16 bytes.
fn budget(head: &[u32]) -> Option<BudgetUse> {
    let [bytes, used_bytes] =
        [header::WORD_BUDGET, header::WORD_SPENT].map(|word| u64::from(head[word]) * 16);
    (bytes != 0).then_some(BudgetUse { bytes, used_bytes })
}

struct Reader<'a> {
    pool: &'a RawPool,
}

impl HeapReader for Reader<'_> {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        self.pool.buffer.read(first * 4, bytes_of_mut(words))
    }
}
