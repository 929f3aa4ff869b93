//! How a heap is laid out.

use super::OuroborosConfig;
use crate::alloc::ouroboros::{
    Geometry, HEAD_FIRST, HEAD_FREE, HEAD_NEWEST, HEAD_ROOM, HEAD_WORDS, HEADER_WORDS, HEADS_WORD,
    MOST_GRANULES, NONE, PARAM_BITS, PARAM_CHUNKS, PARAM_DATA, PARAM_HEADERS, PARAM_QUEUE_LOG,
    PARAM_QUEUES, PARAM_SHAPE, PARAM_TRAIL, pack_shape,
};
use std::vec;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{Fill, HeapPlan, PlanError};

/// What queues keep beside the chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
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

    /// Lays a heap out whose base instance keeps one thing beside the chunks, larger ones another.
    pub(super) fn plan(
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
