//! [`Ouroboros`] on the host.

use crate::alloc::ouroboros::{
    Geometry, HEAD_COUNT, HEAD_FIRST, HEAD_FREE, HEAD_NEWEST, HEAD_ROOM, HEAD_WORDS, HEADER_WORDS,
    HEADS_WORD, MOST_GRANULES, MOST_PAGES, NONE, PARAM_BITS, PARAM_CHUNKS, PARAM_DATA,
    PARAM_HEADERS, PARAM_QUEUE_LOG, PARAM_QUEUES, PARAM_SHAPE, PARAM_TRAIL, QUEUE, Queue, Strategy,
    count_of, pack_shape, tag_of,
};
use crate::alloc::{Ouroboros, OuroborosMixed};
use std::vec;
use std::vec::Vec;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    BlockSize, DeviceError, Fill, HeapPlan, HeapReader, HostAlloc, PlanError, Pool, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

/// Settings of [`Ouroboros`]; the defaults are the paper's where it has such a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuroborosConfig {
    /// Bytes of a chunk of the base instance: a power of two from 1 KiB to 64 KiB. Default 8 KiB.
    pub chunk_bytes: u32,
    /// Page sizes of the base instance, each half of the next, the largest a chunk: 1 to 10, and none
    /// below 16 bytes. Default 10: 16 B to 8192 B.
    pub queues: u32,
    /// Instances, each with chunks 2^[`instance_step`](Self::instance_step) times as large as the one
    /// before and as many doublings of page sizes more. Default `None`: as many as have chunks of no more
    /// than a quarter of the pool.
    pub instances: Option<u32>,
    /// Doublings from an instance to the next: 1 to 9. Default 3.
    pub instance_step: u32,
    /// Entries of each queue: of the standard queues as they are, of the virtualised array-hierarchy
    /// queue as many as its ring of queue chunks reaches. Rounded up to a power of two, and reduced so
    /// that all queues of a heap take no more than a sixteenth of it. Default 2,000,000.
    pub queue_capacity: u32,
    /// Queue chunks of a linked queue that stay behind its front for those who are still on their way
    /// through them. Default `None`: a 1024th of all chunks, at most 64.
    pub trail: Option<u32>,
    /// Bytes for which the metadata are laid out, if more than the pool has:
    /// [`Ouroboros::enlarged`] makes pools of up to so many. Default 0.
    pub grows_to: u64,
}

impl Default for OuroborosConfig {
    fn default() -> Self {
        OuroborosConfig {
            chunk_bytes: 8 << 10,
            queues: 10,
            instances: None,
            instance_step: 3,
            queue_capacity: 2_000_000,
            trail: None,
            grows_to: 0,
        }
    }
}

/// What queues keep beside the chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Entries,
    ChunkNumbers,
    Nothing,
}

/// Where everything begins, in words, for a heap of so many chunks.
struct Tables {
    classes: u32,
    bits: u64,
    queues: u64,
    queue_log: u32,
    headers: u64,
    /// In bytes.
    data: u64,
}

impl OuroborosConfig {
    fn check(&self, allocator: &'static str) -> Result<(), PlanError> {
        let bad = |setting, value: u32, why| {
            Err(PlanError::BadSetting {
                allocator,
                setting,
                value: value as u64,
                why,
            })
        };
        let chunk = self.chunk_bytes;
        if !chunk.is_power_of_two() || !(1 << 10..=64 << 10).contains(&chunk) {
            return bad(
                "chunk_bytes",
                chunk,
                "give a power of two from 1 KiB to 64 KiB",
            );
        }
        let most = MOST_PAGES.ilog2() + 1;
        if !(1..=most).contains(&self.queues) || chunk >> (self.queues - 1) < 16 {
            let why =
                "give 1 to 10, and no more than there are halvings of a chunk down to 16 bytes";
            return bad("queues", self.queues, why);
        }
        if !(1..=9).contains(&self.instance_step) {
            return bad("instance_step", self.instance_step, "give 1 to 9");
        }
        if let Some(instances) = self.instances {
            let log =
                (chunk / 16).ilog2() + instances.saturating_sub(1).min(40) * self.instance_step;
            if instances == 0 || log > MOST_GRANULES.ilog2() {
                let why = "give at least 1, and no more than have chunks of up to 16 GiB";
                return bad("instances", instances, why);
            }
        }
        if self.queue_capacity == 0 {
            return bad("queue_capacity", 0, "give at least 1");
        }
        if let Some(trail) = self.trail
            && trail > 1 << 16
        {
            return bad("trail", trail, "give at most 65536");
        }
        Ok(())
    }

    /// Page sizes of all instances of a heap of so many bytes.
    fn classes(&self, bytes: u64) -> u32 {
        let instances = self.instances.unwrap_or_else(|| {
            let mut instances = 1;
            let chunk = |instances| (self.chunk_bytes as u64) << (instances * self.instance_step);
            while chunk(instances) <= (bytes / 4).min(MOST_GRANULES as u64 * 16) {
                instances += 1;
            }
            instances
        });
        self.queues + (instances - 1) * self.instance_step
    }

    fn tables(&self, bytes: u64, chunks: u64, beside: Beside) -> Tables {
        let classes = self.classes(bytes);
        let bits = HEADS_WORD as u64 + (classes as u64 + 1) * HEAD_WORDS as u64;
        let queues = bits + chunks.div_ceil(32).next_multiple_of(32);
        // A sixteenth of the heap, for all classes.
        let most = (bytes / 64 / classes as u64).max(16).ilog2();
        let slots = self.chunk_bytes / 4;
        let entries = match beside {
            Beside::Entries => self.queue_capacity,
            Beside::ChunkNumbers => self.queue_capacity.div_ceil(slots).max(2),
            Beside::Nothing => 1,
        };
        let queue_log = entries.next_power_of_two().ilog2().min(most).min(28);
        let queue_words = match beside {
            Beside::Nothing => 0,
            _ => (classes as u64) << queue_log,
        };
        let headers = (queues + queue_words).next_multiple_of(HEADER_WORDS as u64);
        let end = (headers + chunks * HEADER_WORDS as u64) * 4;
        Tables {
            classes,
            bits,
            queues,
            queue_log,
            headers,
            // Pages of up to 64 KiB are to be aligned to their size.
            data: end.next_multiple_of(64 << 10),
        }
    }
}

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    fn beside() -> Beside {
        match (Q::VIRTUAL, Q::INDEX) {
            (false, _) => Beside::Entries,
            (true, 1) => Beside::ChunkNumbers,
            _ => Beside::Nothing,
        }
    }

    /// Lays the same heap out in a larger pool (§3.1, §3.2): a new pool of `bytes` bytes with all blocks of
    /// `pool`, under the same handles. `config` is the one that `pool` was made with, whose
    /// [`grows_to`](OuroborosConfig::grows_to) said how large the heap may become. The old pool is left
    /// as it is, and its blocks are no longer to be used through it. No kernel may run on it meanwhile.
    ///
    /// # Errors
    /// [`PlanError::BadSetting`] if the new heap would be smaller, or laid out otherwise: `bytes` is more
    /// than `grows_to`, or the settings differ. Errors of the device.
    pub fn enlarged(
        pool: &Pool<Self>,
        bytes: u64,
        config: &OuroborosConfig,
    ) -> Result<Pool<Self>, DeviceError> {
        let old = pool.raw();
        let plan = Self::plan(bytes & !15, config)?;
        let mut same = plan.params;
        same[PARAM_CHUNKS] = old.params[PARAM_CHUNKS];
        let too_large = bytes > config.grows_to.max(pool.bytes());
        if too_large || same != old.params || plan.params[PARAM_CHUNKS] < old.params[PARAM_CHUNKS] {
            return Err(PlanError::BadSetting {
                allocator: Self::NAME,
                setting: "grows_to",
                value: config.grows_to,
                why: "give the settings of the pool, and no fewer bytes than it has and no more than this",
            }
            .into());
        }
        let new = Pool::new(&old.device, bytes, config)?;
        let (from, to) = (&old.buffer, &new.raw().buffer);
        // Metadata and chunks of the old heap, a few MiB at a time.
        let geometry = Geometry::new(old.params);
        let chunk_bytes = 16u64 << geometry.chunk_log();
        let end = geometry.data as u64 * 16 + geometry.chunks as u64 * chunk_bytes;
        let mut part = vec![0u8; 4 << 20];
        let mut at = 0;
        while at < end {
            let part = &mut part[..(end - at).min(4 << 20) as usize];
            from.read(at, part)?;
            to.write(at, part)?;
            at += part.len() as u64;
        }
        // The chunks that are new are free.
        let (before, chunks) = (geometry.chunks, plan.params[PARAM_CHUNKS]);
        let word = |at: u64| -> Result<u32, DeviceError> {
            let mut bytes = [0; 4];
            to.read(at * 4, &mut bytes)?;
            Ok(u32::from_ne_bytes(bytes))
        };
        let bits = plan.params[PARAM_BITS] as u64;
        if before % 32 != 0 {
            let at = bits + before as u64 / 32;
            let kept = word(at)? & !(u32::MAX << (before % 32));
            to.fill(at * 4, 1, kept)?;
        }
        let last = bits + chunks as u64 / 32;
        if chunks % 32 != 0 {
            let kept = word(last)? | u32::MAX << (chunks % 32);
            to.fill(last * 4, 1, kept)?;
        }
        let free = Geometry::new(plan.params).head(geometry.classes(), HEAD_FREE) as u64;
        let now = word(free)?.wrapping_add(chunks - before);
        to.fill(free * 4, 1, now)?;
        Ok(new)
    }
}

impl<S: Strategy, Q: Queue> HostAlloc for Ouroboros<S, Q> {
    const KIND: u32 = 10 + S::INDEX * 3 + Q::INDEX;
    type Config = OuroborosConfig;

    fn plan(bytes: u64, config: &OuroborosConfig) -> Result<HeapPlan, PlanError> {
        let base = Self::beside();
        config.plan(Self::NAME, bytes, base, base)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        usage(params, heap, S::PAGES, S::PAGES)
    }
}

impl<S1, Q1, S2, Q2> HostAlloc for OuroborosMixed<Ouroboros<S1, Q1>, Ouroboros<S2, Q2>>
where
    S1: Strategy,
    Q1: Queue,
    S2: Strategy,
    Q2: Queue,
{
    const KIND: u32 = 16;
    type Config = OuroborosConfig;

    fn plan(bytes: u64, config: &OuroborosConfig) -> Result<HeapPlan, PlanError> {
        let (small, large) = (Ouroboros::<S1, Q1>::beside(), Ouroboros::<S2, Q2>::beside());
        config.plan(Self::NAME, bytes, small, large)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        usage(params, heap, S1::PAGES, S2::PAGES)
    }
}

impl OuroborosConfig {
    /// Lays a heap out whose base instance keeps one thing beside the chunks, larger ones another.
    fn plan(
        &self,
        allocator: &'static str,
        bytes: u64,
        small: Beside,
        large: Beside,
    ) -> Result<HeapPlan, PlanError> {
        let config = self;
        config.check(allocator)?;
        let chunk_bytes = config.chunk_bytes as u64;
        let beside = match (small, large) {
            (Beside::Entries, _) | (_, Beside::Entries) => Beside::Entries,
            (Beside::ChunkNumbers, _) | (_, Beside::ChunkNumbers) => Beside::ChunkNumbers,
            _ => Beside::Nothing,
        };
        // Tables for all chunks that there could be: a few more than there are, as tables take room too.
        let all = bytes.max(config.grows_to);
        let tables = config.tables(all, all / chunk_bytes, beside);
        let chunks = bytes.saturating_sub(tables.data) / chunk_bytes;
        // For each queue of the base instance a chunk of its pages and one of its entries.
        let needed = 2 * config.queues as u64;
        if chunks < needed {
            let mut least = tables.data + needed * chunk_bytes;
            let room = |least| {
                let tables = config.tables(least, least / chunk_bytes, beside);
                least.saturating_sub(tables.data) / chunk_bytes
            };
            while room(least) < needed {
                least += chunk_bytes;
            }
            return Err(PlanError::TooSmall {
                allocator,
                bytes,
                least,
            });
        }
        let chunk_log = (chunk_bytes / 16).ilog2();
        let least_log = chunk_log - (config.queues - 1);
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_DATA] = (tables.data / 16) as u32;
        params[PARAM_CHUNKS] = chunks as u32;
        params[PARAM_SHAPE] =
            pack_shape(chunk_log, least_log, tables.classes, config.instance_step);
        params[PARAM_HEADERS] = tables.headers as u32;
        params[PARAM_QUEUES] = tables.queues as u32;
        params[PARAM_QUEUE_LOG] = tables.queue_log;
        params[PARAM_BITS] = tables.bits as u32;
        let few = (all / chunk_bytes / 1024).min(64) as u32;
        params[PARAM_TRAIL] = config.trail.unwrap_or(few);
        let geometry = Geometry::new(params);
        let fill = |word: u64, words, value| Fill { word, words, value };
        let mut fills = vec![
            fill(HEADS_WORD as u64, tables.queues - HEADS_WORD as u64, 0),
            fill(tables.queues, tables.headers - tables.queues, NONE),
            fill(tables.headers, tables.data / 4 - tables.headers, 0),
        ];
        let one = |word: usize, value| fill(word as u64, 1, value);
        for class in 0..tables.classes {
            let kind = if class < config.queues { small } else { large };
            let room = if kind == Beside::Entries {
                1 << tables.queue_log
            } else {
                0
            };
            fills.push(one(geometry.head(class, HEAD_ROOM), room));
            fills.push(fill(geometry.head(class, HEAD_FIRST) as u64, 3, NONE));
            fills.push(one(geometry.head(class, HEAD_NEWEST), NONE));
        }
        fills.push(one(geometry.head(tables.classes, HEAD_FREE), chunks as u32));
        if !chunks.is_multiple_of(32) {
            // Nobody takes what is not there.
            let word = tables.bits + chunks / 32;
            fills.push(fill(word, 1, u32::MAX << (chunks % 32)));
        }
        Ok(HeapPlan {
            params,
            fills,
            metadata_bytes: bytes - chunks * chunk_bytes,
        })
    }
}

/// What is in use; whether the queues of the base instance, and those of larger ones, hold pages.
fn usage(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    small: bool,
    large: bool,
) -> Result<Usage, DeviceError> {
    let geometry = Geometry::new(*params);
    let chunk_bytes = 16u64 << geometry.chunk_log();
    // Of each class: base chunks of pages and of its queue, pages, and free ones.
    let mut classes: Vec<[u64; 4]> = vec![[0; 4]; geometry.classes() as usize];
    let mut headers = vec![0; 256 * HEADER_WORDS];
    let (mut chunk, mut read_to, mut first) = (0, 0, 0);
    while chunk < geometry.chunks {
        if chunk >= read_to {
            let count = (geometry.chunks - chunk).min(256);
            let headers = &mut headers[..count as usize * HEADER_WORDS];
            heap.read(geometry.header(chunk) as u64, headers)?;
            (first, read_to) = (chunk, chunk + count);
        }
        let state = headers[(chunk - first) as usize * HEADER_WORDS];
        let class = (tag_of(state) & !QUEUE).wrapping_sub(1);
        let mut units = 1;
        if let Some([base, queue, pages, free]) = classes.get_mut(class as usize) {
            if tag_of(state) & QUEUE != 0 {
                *queue += 1;
            } else {
                let row = 1 << geometry.units_log(class);
                if chunk % row == 0 && geometry.chunks - chunk >= row {
                    units = row;
                    *base += row as u64;
                    *pages += geometry.pages(class) as u64;
                    *free += count_of(state).min(geometry.pages(class)) as u64;
                }
            }
        }
        chunk += units;
    }
    let mut usage = Usage {
        live_blocks: Some(0),
        ..Usage::default()
    };
    for (class, [base, queue, pages, free]) in classes.into_iter().enumerate() {
        let mut queued = [0];
        let of_base = geometry.units_log(class as u32) == 0;
        let pages_queued = if of_base { small } else { large };
        if pages_queued {
            heap.read(geometry.head(class as u32, HEAD_COUNT) as u64, &mut queued)?;
        }
        let queued = (queued[0] as i32).max(0) as u64;
        let live = pages.saturating_sub(free + queued);
        let page = 16u64 << geometry.page_log(class as u32);
        let committed = (base + queue) * chunk_bytes;
        if committed != 0 {
            usage.add(BlockSize::Bytes(page), live, live * page, committed);
        }
    }
    Ok(usage)
}
