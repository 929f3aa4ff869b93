//! [`RandomWalk`](crate::alloc::RandomWalk), [`RandomWalkBitmap`](crate::alloc::RandomWalkBitmap),
//! [`CollaborativeWalk`](crate::alloc::CollaborativeWalk) and [`ClusteredWalk`](crate::alloc::ClusteredWalk)
//! on the host.

use super::steps::CountsSteps;
use crate::alloc::random_walk::{
    CLUSTERED, FIRST_WORD, MOST_PAGE_BYTES, PARAM_COUNTS, PARAM_DATA, PARAM_HINTS, PARAM_MAP,
    PARAM_PAGES, PARAM_SHIFT, PARAM_SLOTS, PARAM_WALK, PageWalk, SINGLE, STEPS_WORD, Tables,
    entries, entry_words,
};
use std::vec;
use std::vec::Vec;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Pool, Region,
    RegionUse, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

/// Settings of the page allocators of the family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomWalkConfig {
    /// Bytes of a page, which every request takes one of: a power of two from 16 bytes to 4 KiB. Default
    /// 4 KiB.
    pub page_bytes: u32,
    /// Pages that a request looks at in random order before its warp goes through all of them in order.
    /// Default 8192.
    pub walk_pages: u32,
    /// Whether steps are counted; see [`WalkSteps`](super::WalkSteps). Default no.
    pub count_steps: bool,
}

impl Default for RandomWalkConfig {
    fn default() -> Self {
        RandomWalkConfig {
            page_bytes: MOST_PAGE_BYTES,
            walk_pages: 8192,
            count_steps: false,
        }
    }
}

/// Most pages of a heap: what is behind them in the tables' arithmetic stays within a word.
const MOST_PAGES: u64 = 1 << 30;

impl<const KIND: u32> PageWalk<KIND> {
    /// Slots of hints in a pool with room for so many pages: one for every two, about.
    fn slots(room: u64) -> u32 {
        match KIND {
            CLUSTERED => 1 << (room.min(MOST_PAGES) / 2).max(1).ilog2(),
            _ => 0,
        }
    }

    /// The page behind the tables: the data begin there.
    fn first_page(pages: u64, slots: u32, page_bytes: u64) -> u64 {
        (Tables::new(KIND, pages as u32, slots).end as u64 * 4).div_ceil(page_bytes)
    }

    /// Tells a heap of [`ClusteredWalk`](crate::alloc::ClusteredWalk) the page that each lane of a launch,
    /// from the first on, is to try first: the one behind its last one (`last_free_page` + 1 of §IV-D). Call
    /// it between launches. Heaps of the other kinds have no such places, and nothing happens.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn set_next_pages(pool: &Pool<Self>, pages: &[u32]) -> Result<(), DeviceError> {
        let params = &pool.raw().params();
        let slots = params[PARAM_SLOTS] as usize;
        let bytes: Vec<u8> = pages
            .iter()
            .take(slots)
            .flat_map(|page| page.to_ne_bytes())
            .collect();
        let place = params[PARAM_HINTS] as u64 * 4;
        // SAFETY: a heap's own counters and settings, which its allocator reads so.
        unsafe { pool.raw().buffer.write(place, &bytes) }
    }

    /// Marks exactly the pages whose bits are set as taken, for measurements that begin with a given share of
    /// free pages: bit `p % 32` of word `p / 32` is page `p`, and there is a word for every 32 pages. Call it
    /// between launches, and on a heap that nobody has blocks of.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn set_taken(pool: &Pool<Self>, taken: &[u32]) -> Result<(), DeviceError> {
        let params = &pool.raw().params();
        let pages = params[PARAM_PAGES];
        let all = pages.div_ceil(32) as usize;
        let mut words = Vec::new();
        for (at, &bits) in taken.iter().take(all).enumerate() {
            let inside = (pages - at as u32 * 32).min(32);
            if KIND == SINGLE {
                words.extend((0..inside).flat_map(|bit| (bits >> bit & 1).to_ne_bytes()));
            } else {
                let none = u32::MAX.checked_shl(inside).unwrap_or(0);
                words.extend((bits | none).to_ne_bytes());
                words.extend(std::iter::repeat_n(0, (entry_words(KIND) as usize - 1) * 4));
            }
        }
        let place = params[PARAM_MAP] as u64 * 4;
        // SAFETY: a heap's own counters and settings, which its allocator reads so.
        unsafe { pool.raw().buffer.write(place, &words) }
    }

    /// Number of pages of a heap.
    pub fn pages(pool: &Pool<Self>) -> u32 {
        pool.raw().params()[PARAM_PAGES]
    }
}

impl<const KIND: u32> CountsSteps for PageWalk<KIND> {}

impl<const KIND: u32> HostAlloc for PageWalk<KIND> {
    const KIND: u32 = kind_of(Self::NAME);
    const LEAST_BLOCK: u64 = MOST_PAGE_BYTES as u64;
    type Config = RandomWalkConfig;

    fn config_for(bytes: u32) -> RandomWalkConfig {
        RandomWalkConfig {
            page_bytes: bytes.clamp(16, MOST_PAGE_BYTES).next_power_of_two(),
            ..RandomWalkConfig::default()
        }
    }

    fn largest_block(config: &RandomWalkConfig) -> u64 {
        config.page_bytes.into()
    }

    fn plan(bytes: u64, config: &RandomWalkConfig) -> Result<HeapPlan, PlanError> {
        let bad = |setting, value: u32, why| PlanError::BadSetting {
            allocator: Self::NAME,
            setting,
            value: value as u64,
            why,
        };
        if !config.page_bytes.is_power_of_two()
            || !(16..=MOST_PAGE_BYTES).contains(&config.page_bytes)
        {
            let why = "give a power of two from 16 bytes to 4 KiB";
            return Err(bad("page_bytes", config.page_bytes, why));
        }
        if config.walk_pages == 0 {
            return Err(bad("walk_pages", 0, "give at least 1"));
        }
        let page_bytes = config.page_bytes as u64;
        let room = bytes / page_bytes;
        let slots = Self::slots(room);
        // Fewer pages need smaller tables, so this ends.
        let mut pages = room.min(MOST_PAGES);
        while pages > 0 {
            let needed = Self::first_page(pages, slots, page_bytes) + pages;
            if needed <= room {
                break;
            }
            pages = pages.saturating_sub((needed - room).div_ceil(2));
        }
        if pages == 0 {
            let mut least = room + 1;
            while Self::first_page(1, Self::slots(least), page_bytes) + 1 > least {
                least += 1;
            }
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: least * page_bytes,
            });
        }
        let first = Self::first_page(pages, slots, page_bytes);
        let pages = pages as u32;
        let tables = Tables::new(KIND, pages, slots);
        let each = if KIND == SINGLE { 1 } else { 32 };
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_DATA] = (first * page_bytes / 16) as u32;
        params[PARAM_PAGES] = pages;
        params[PARAM_SHIFT] = (config.page_bytes / 16).ilog2();
        params[PARAM_MAP] = FIRST_WORD as u32;
        params[PARAM_HINTS] = tables.hints;
        params[PARAM_SLOTS] = slots;
        params[PARAM_WALK] = config.walk_pages.div_ceil(each);
        params[PARAM_COUNTS] = config.count_steps as u32;
        let mut fills = vec![Fill {
            word: STEPS_WORD as u64,
            words: tables.end as u64 - STEPS_WORD as u64,
            value: 0,
        }];
        if pages % each != 0 {
            // The bits of the last word that stand for no page are taken.
            fills.push(Fill {
                word: (tables.hints - entry_words(KIND)) as u64,
                words: 1,
                value: u32::MAX << (pages % each),
            });
        }
        Ok(HeapPlan {
            params,
            fills,
            metadata_bytes: bytes - pages as u64 * page_bytes,
        })
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        let pages = params[PARAM_PAGES];
        let (all, step) = (entries(KIND, pages), entry_words(KIND) as usize);
        let mut used = 0u64;
        let mut part = vec![0u32; (1 << 16) * step];
        let mut entry = 0;
        while entry < all {
            let part = &mut part[..(all - entry).min(1 << 16) as usize * step];
            heap.read((params[PARAM_MAP] + entry * step as u32) as u64, part)?;
            for word in part.chunks_exact(step).map(|entry| entry[0]) {
                used += if KIND == SINGLE {
                    (word != 0) as u64
                } else {
                    word.count_ones() as u64
                };
            }
            entry += (part.len() / step) as u32;
        }
        let none = if KIND == SINGLE {
            0
        } else {
            all as u64 * 32 - pages as u64
        };
        let used = used.saturating_sub(none).min(pages as u64);
        let bytes = used * (16u64 << params[PARAM_SHIFT]);
        Ok(Usage {
            used_bytes: bytes,
            committed_bytes: bytes,
            live_blocks: Some(used),
            ..Usage::default()
        })
    }

    /// Every request takes a page, so pages in use that lie side by side are one part.
    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let usage = Self::usage(params, heap)?;
        let pages = params[PARAM_PAGES];
        let (all, step) = (entries(KIND, pages), entry_words(KIND) as usize);
        let page_bytes = 16u64 << params[PARAM_SHIFT];
        let mut regions = Vec::new();
        let mut part = vec![0u32; (1 << 16) * step];
        let (mut entry, mut page) = (0, 0);
        while entry < all {
            let part = &mut part[..(all - entry).min(1 << 16) as usize * step];
            heap.read((params[PARAM_MAP] + entry * step as u32) as u64, part)?;
            for word in part.chunks_exact(step).map(|entry| entry[0]) {
                let (bits, word) = match KIND {
                    SINGLE => (1, (word != 0) as u32),
                    _ => ((pages - page).min(32), word),
                };
                for bit in 0..bits {
                    let live = word >> bit & 1;
                    HeapMap::join(
                        &mut regions,
                        region_of(params, page + bit, live, page_bytes),
                    );
                }
                page += bits;
            }
            entry += (part.len() / step) as u32;
        }
        Ok(HeapMap {
            unit: "page",
            unit_bytes: page_bytes,
            usage,
            regions,
        })
    }
}

/// A page, which holds one block or none.
fn region_of(params: &HeapParams, page: u32, live: u32, page_bytes: u64) -> Region {
    let run = RegionUse::Run(page_bytes);
    Region {
        offset: params[PARAM_DATA] as u64 * 16 + page as u64 * page_bytes,
        bytes: page_bytes,
        usage: if live == 1 { run } else { RegionUse::Free },
        units: 1,
        places: live,
        live_blocks: Some(live),
        used_bytes: live as u64 * page_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::{ClusteredWalk, CollaborativeWalk, RandomWalk, RandomWalkBitmap};

    fn planned<const KIND: u32>(bytes: u64, config: &RandomWalkConfig) {
        let page = config.page_bytes as u64;
        let Ok(plan) = PageWalk::<KIND>::plan(bytes, config) else {
            assert!(bytes < 6144 + 4 * page, "{bytes} bytes are enough");
            return;
        };
        let (data, pages) = (
            plan.params[PARAM_DATA] as u64 * 16,
            plan.params[PARAM_PAGES],
        );
        let tables = Tables::new(KIND, pages, plan.params[PARAM_SLOTS]);
        assert!(tables.end as u64 * 4 <= data && data % page == 0);
        assert!(data + pages as u64 * page <= bytes);
        let wasted = bytes - pages as u64 * page - tables.end as u64 * 4;
        assert!(
            wasted <= 4 * page + 64 || pages as u64 == MOST_PAGES,
            "{bytes}: {plan:?}"
        );
    }

    #[test]
    fn every_size_leaves_room_for_tables_and_pages() {
        for page_bytes in [16, 256, 4096] {
            let config = RandomWalkConfig {
                page_bytes,
                ..RandomWalkConfig::default()
            };
            let sizes = (1..300u64).map(|i| i * 4096 + i % 256 * 16);
            for bytes in sizes.chain([8 << 20, 1 << 30, 8 << 30]) {
                planned::<0>(bytes, &config);
                planned::<1>(bytes, &config);
                planned::<2>(bytes, &config);
                planned::<3>(bytes, &config);
            }
        }
    }

    #[test]
    fn kinds_have_names_and_numbers_of_their_own() {
        let names = [
            RandomWalk::NAME,
            RandomWalkBitmap::NAME,
            CollaborativeWalk::NAME,
            ClusteredWalk::NAME,
        ];
        let kinds = [
            RandomWalk::KIND,
            RandomWalkBitmap::KIND,
            CollaborativeWalk::KIND,
            ClusteredWalk::KIND,
        ];
        assert_eq!(kinds, [30, 31, 32, 33]);
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name}");
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        for (config, name) in [
            (
                RandomWalkConfig {
                    page_bytes: 3000,
                    ..Default::default()
                },
                "page_bytes",
            ),
            (
                RandomWalkConfig {
                    page_bytes: 8192,
                    ..Default::default()
                },
                "page_bytes",
            ),
            (
                RandomWalkConfig {
                    walk_pages: 0,
                    ..Default::default()
                },
                "walk_pages",
            ),
        ] {
            let error = RandomWalk::plan(1 << 20, &config).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
