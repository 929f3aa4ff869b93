//! [`ScatterAlloc`] on the host.

mod audit;

use crate::alloc::ScatterAlloc;
use crate::alloc::scatter::{
    CURSOR_STRIDE, CURSOR_WORD, CURSORS, MAX_BLOCKS, MAX_PAGE_GRANULES, MAX_REGIONS, MULTI_HEAD,
    PARAM_BLOCKS, PARAM_DATA, PARAM_FILL, PARAM_FRAG, PARAM_K_MP, PARAM_K_SIZE, PARAM_PAGES,
    PARAM_SHIFTS, Tables, chunk_of, count_of, is_multi, pack_shifts,
};
use std::vec;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    Audit, DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Pool, Region,
    RegionUse, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

/// Settings of [`ScatterAlloc`]; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScatterConfig {
    /// Bytes of a page: a power of two from 1 KiB to 16 KiB. Default 4 KiB.
    pub page_bytes: u32,
    /// Bytes of a super block: a power of two, at least a region. Default 8 MiB.
    pub super_block_bytes: u32,
    /// Pages of a region: a power of two up to 1024. Default 16.
    pub region_pages: u32,
    /// How much larger than a request a chunk may be, in percent of the request: 100 to 6400.
    /// Default 200.
    pub max_frag: u32,
    /// Share of full pages in percent at which a region or super block is passed over: 1 to 100.
    /// Default 90.
    pub fill_level: u32,
    /// Super blocks kept for requests of more than a page; other requests come here last. Default
    /// `None`: a quarter, if there are two or more.
    pub reserved: Option<u32>,
    /// Super blocks that a fresh heap uses; [`ScatterAlloc::add_super_blocks`] adds more between
    /// launches. Default `None`: all that the pool has room for.
    pub super_blocks: Option<u32>,
    /// `k_S` of Eq. 3. Default 38183.
    pub k_size: u32,
    /// `k_mp` of Eq. 3. Default 17497.
    pub k_mp: u32,
}

impl Default for ScatterConfig {
    fn default() -> Self {
        ScatterConfig {
            page_bytes: 4096,
            super_block_bytes: 8 << 20,
            region_pages: 16,
            max_frag: 200,
            fill_level: 90,
            reserved: None,
            super_blocks: None,
            k_size: 38183,
            k_mp: 17497,
        }
    }
}

impl ScatterConfig {
    fn check(&self) -> Result<(), PlanError> {
        let bad = |setting, value: u32, why| {
            Err(PlanError::BadSetting {
                allocator: ScatterAlloc::NAME,
                setting,
                value: value as u64,
                why,
            })
        };
        let most_page = MAX_PAGE_GRANULES * 16;
        if !self.page_bytes.is_power_of_two() || !(1024..=most_page).contains(&self.page_bytes) {
            let why = "give a power of two from 1 KiB to 16 KiB";
            return bad("page_bytes", self.page_bytes, why);
        }
        if !self.region_pages.is_power_of_two() || self.region_pages > 1024 {
            let why = "give a power of two from 1 to 1024";
            return bad("region_pages", self.region_pages, why);
        }
        if !self.super_block_bytes.is_power_of_two()
            || self.super_block_bytes / self.page_bytes < self.region_pages
        {
            let why = "give a power of two that holds at least one region of pages";
            return bad("super_block_bytes", self.super_block_bytes, why);
        }
        if self.super_block_bytes / self.page_bytes / self.region_pages > MAX_REGIONS {
            let why = "it has more than 32767 regions: give a smaller one, or larger regions";
            return bad("super_block_bytes", self.super_block_bytes, why);
        }
        if !(100..=6400).contains(&self.max_frag) {
            return bad("max_frag", self.max_frag, "give 100 to 6400 percent");
        }
        if !(1..=100).contains(&self.fill_level) {
            return bad("fill_level", self.fill_level, "give 1 to 100 percent");
        }
        if self.super_blocks == Some(0) {
            return bad("super_blocks", 0, "give at least 1");
        }
        Ok(())
    }

    fn shifts(&self) -> u32 {
        let page = (self.page_bytes / 16).ilog2();
        let block = (self.super_block_bytes / self.page_bytes).ilog2();
        pack_shifts(page, self.region_pages.ilog2(), block)
    }

    /// The page behind the tables of a heap of so many pages: the data begin there.
    fn first_page(&self, pages: u32) -> u64 {
        let bytes = Tables::new(pages, self.shifts()).end as u64 * 4;
        bytes.div_ceil(self.page_bytes as u64)
    }

    /// Super blocks that hold so many pages.
    fn blocks_for(&self, pages: u32) -> u32 {
        pages.div_ceil(self.super_block_bytes / self.page_bytes)
    }
}

impl HostAlloc for ScatterAlloc {
    const KIND: u32 = kind_of(Self::NAME);
    type Config = ScatterConfig;

    fn plan(bytes: u64, config: &ScatterConfig) -> Result<HeapPlan, PlanError> {
        config.check()?;
        let page_bytes = config.page_bytes as u64;
        let room = bytes / page_bytes;
        // Fewer pages need smaller tables, so this ends.
        let mut pages = room;
        while pages > 0 {
            let needed = config.first_page(pages as u32) + pages;
            if needed <= room {
                break;
            }
            pages = pages.saturating_sub(needed - room);
        }
        if pages == 0 {
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: (config.first_page(1) + 1) * page_bytes,
            });
        }
        let pages = pages as u32;
        let all = config.blocks_for(pages);
        if all > MAX_BLOCKS {
            return Err(PlanError::BadSetting {
                allocator: Self::NAME,
                setting: "super_block_bytes",
                value: config.super_block_bytes as u64,
                why: "the pool has room for more than 65535 super blocks: give a larger size",
            });
        }
        let blocks = config.super_blocks.unwrap_or(all).min(all);
        let reserved = config.reserved.unwrap_or(blocks / 4);
        if reserved >= blocks {
            return Err(PlanError::BadSetting {
                allocator: Self::NAME,
                setting: "reserved",
                value: reserved as u64,
                why: "at least one of the super blocks in use must not be reserved",
            });
        }
        let tables = Tables::new(pages, config.shifts());
        let data = config.first_page(pages) * page_bytes;
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_DATA] = (data / 16) as u32;
        params[PARAM_PAGES] = pages;
        params[PARAM_SHIFTS] = config.shifts();
        params[PARAM_BLOCKS] = reserved | (blocks - reserved) << 16;
        params[PARAM_FRAG] = config.max_frag * 256 / 100;
        params[PARAM_FILL] = config.fill_level * 256 / 100;
        params[PARAM_K_SIZE] = config.k_size;
        params[PARAM_K_MP] = config.k_mp;
        let cursor_words = (CURSORS * CURSOR_STRIDE) as u64;
        let words = tables.end as u64 - CURSOR_WORD as u64;
        let fill = |word, words, value| Fill { word, words, value };
        Ok(HeapPlan {
            params,
            fills: [
                fill(CURSOR_WORD as u64, words, 0),
                fill(CURSOR_WORD as u64, cursor_words, blocks << 16),
            ]
            .into(),
            metadata_bytes: bytes - pages as u64 * page_bytes,
        })
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        look(params, heap, &mut |_| ())
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let unit_bytes = 16 << (params[PARAM_SHIFTS] & 0xff);
        HeapMap::of("page", unit_bytes, HeapMap::add, |show| {
            look(params, heap, show)
        })
    }

    fn audit(
        params: &HeapParams,
        heap: &mut dyn HeapReader,
        found: &mut Audit,
    ) -> Result<(), DeviceError> {
        audit::audit(params, heap, found)
    }
}

/// Goes through all pages, shows each, and sums up.
fn look(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    show: &mut dyn FnMut(Region),
) -> Result<Usage, DeviceError> {
    let (pages, shifts) = (params[PARAM_PAGES], params[PARAM_SHIFTS]);
    let tables = Tables::new(pages, shifts);
    let page_bytes = 16u64 << (shifts & 0xff);
    // Pages of super blocks that are not in use yet serve nobody.
    let mut cursor = [0];
    heap.read(CURSOR_WORD as u64, &mut cursor)?;
    let mut in_use = (cursor[0] as u64 >> 16) << (shifts >> 16);
    let (mut free, mut most_free) = (0, 0);
    let mut usage = Usage {
        live_blocks: Some(0),
        ..Usage::default()
    };
    let mut offset = params[PARAM_DATA] as u64 * 16;
    let mut part = vec![0u32; 1 << 16];
    let mut at = tables.pages;
    while at < tables.second {
        let part = &mut part[..(tables.second - at).min(1 << 16) as usize];
        heap.read(at as u64, part)?;
        for state in part.chunks_exact(2).map(|entry| entry[0]) {
            let region = region_of(offset, page_bytes, state, in_use > 0);
            free = if region.usage.is_free() { free + 1 } else { 0 };
            most_free = most_free.max(free);
            if let Some(block) = region.usage.block() {
                let live = region.live_blocks.unwrap_or(0);
                usage.add(block, live as u64, region.used_bytes, page_bytes);
            }
            show(region);
            offset += page_bytes;
            in_use = in_use.saturating_sub(1);
        }
        at += part.len() as u32;
    }
    usage.largest_free_run = Some(most_free * page_bytes);
    Ok(usage)
}

/// A page, by its state.
fn region_of(offset: u64, page_bytes: u64, state: u32, in_use: bool) -> Region {
    let chunk = chunk_of(state);
    let (usage, places, live, used_bytes) = if is_multi(state) {
        let head = (chunk == MULTI_HEAD) as u32;
        (RegionUse::Run(page_bytes), 1, head, page_bytes)
    } else if chunk != 0 {
        // For a moment more may be counted than there are.
        let bytes = chunk as u64 * 16;
        let places = (page_bytes / bytes) as u32;
        let live = count_of(state).min(places);
        (RegionUse::Slab(bytes), places, live, live as u64 * bytes)
    } else if in_use {
        (RegionUse::Free, 0, 0, 0)
    } else {
        (RegionUse::Reserved, 0, 0, 0)
    };
    Region {
        offset,
        bytes: page_bytes,
        usage,
        units: 1,
        places,
        live_blocks: Some(live),
        used_bytes,
    }
}

impl ScatterAlloc {
    /// Adds super blocks to a heap that was laid out with fewer than its pool has room for
    /// ([`ScatterConfig::super_blocks`]); call it between launches (§5.1). Returns how many are in
    /// use afterwards: fewer than asked for if the pool has no room for more.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn add_super_blocks(pool: &Pool<ScatterAlloc>, more: u32) -> Result<u32, DeviceError> {
        let raw = pool.raw();
        let shifts = raw.params()[PARAM_SHIFTS];
        let all = raw.params()[PARAM_PAGES].div_ceil(1 << (shifts >> 16));
        let place = CURSOR_WORD as u64 * 4;
        let mut word = [0; 4];
        raw.buffer.read(place, &mut word)?;
        let cursor = u32::from_ne_bytes(word);
        let blocks = (cursor >> 16).saturating_add(more).min(all);
        let words = (CURSORS * CURSOR_STRIDE) as u64;
        // SAFETY: a heap's own counters and settings, which its allocator reads so.
        unsafe {
            raw.buffer
                .fill(place, words, cursor & 0xffff | blocks << 16)
        }?;
        Ok(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_leaves_room_for_tables_and_pages() {
        let config = ScatterConfig::default();
        for bytes in (1..400u64).map(|i| i * 4096 + i % 256 * 16).chain([
            8 << 20,
            (8 << 20) + 4096,
            1 << 30,
            64 << 30,
        ]) {
            let Ok(plan) = ScatterAlloc::plan(bytes, &config) else {
                assert!(bytes < 3 * 4096, "{bytes} bytes are enough");
                continue;
            };
            let (data, pages) = (plan.params[PARAM_DATA] as u64, plan.params[PARAM_PAGES]);
            let tables = Tables::new(pages, plan.params[PARAM_SHIFTS]);
            assert!(tables.end as u64 * 4 <= data * 16);
            assert!(data * 16 + pages as u64 * 4096 <= bytes);
            assert!(data % 256 == 0, "pages are aligned");
            assert!(plan.metadata_bytes <= bytes / 90 + 3 * 4096, "{plan:?}");
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let set = |change: fn(&mut ScatterConfig)| {
            let mut config = ScatterConfig::default();
            change(&mut config);
            ScatterAlloc::plan(1 << 24, &config).map_err(|error| error.to_string())
        };
        for (change, name) in [
            (
                (|c| c.page_bytes = 3000) as fn(&mut ScatterConfig),
                "page_bytes",
            ),
            (|c| c.page_bytes = 32 << 10, "page_bytes"),
            (|c| c.region_pages = 0, "region_pages"),
            (|c| c.super_block_bytes = 4096, "super_block_bytes"),
            (|c| c.max_frag = 99, "max_frag"),
            (|c| c.fill_level = 101, "fill_level"),
            (|c| c.reserved = Some(2), "reserved"),
            (|c| c.super_blocks = Some(0), "super_blocks"),
        ] {
            let error = set(change).expect_err(name);
            assert!(error.contains(name), "{error}");
        }
        assert!(set(|c| c.page_bytes = 16 << 10).is_ok());
    }
}
