//! A map in a heap, and what lanes are made to do with it.

use warpheap::{DeviceVec, LaunchConfig};
use warpheap_api::host::{HostAlloc, Pool, SharedArg};
use warpheap_container_tests::assert_empty;
use warpheap_container_tests::maps::Site;
use warpheap_map_kernels::maps::*;
use warpheap_rt::device::HeapHashMap;

type Map = HeapHashMap<u32, u32>;

/// The allocators that every kernel of maps is compiled for.
pub trait Any:
    MapNewEntry
    + MapInsertEntry
    + MapGetEntry
    + MapRemoveEntry
    + MapAddEntry
    + MapListEntry
    + MapTidyEntry
    + MapClearEntry
    + MapFreeEntry
{
}
impl<A> Any for A where
    A: MapNewEntry
        + MapInsertEntry
        + MapGetEntry
        + MapRemoveEntry
        + MapAddEntry
        + MapListEntry
        + MapTidyEntry
        + MapClearEntry
        + MapFreeEntry
{
}

/// A map in a heap, and what the host knows of it.
pub struct World<'a, A: HostAlloc> {
    pub site: &'a Site,
    pub pool: Pool<A>,
    pub map: DeviceVec<Map>,
}

impl<'a, A: Any> World<'a, A> {
    pub fn new(site: &'a Site, bytes: u64, root_bits: u32) -> Self {
        let world = Self::none(site, bytes);
        let one = LaunchConfig::for_num_elems(1);
        let made = site
            .kernels
            .map_new(&world.pool, one, &world.map, root_bits);
        made.expect("a map is made");
        world
    }

    pub fn none(site: &'a Site, bytes: u64) -> Self {
        World {
            site,
            pool: site.heap::<A>(bytes),
            map: DeviceVec::zeroed(&site.device, 1).expect("a map"),
        }
    }

    pub fn map(&self) -> Map {
        self.map.to_vec().expect("the map")[0]
    }

    /// The map as an argument.
    pub fn shared(&self) -> SharedArg<Map> {
        self.map.shared(0).expect("the map")
    }

    pub fn vec(&self, data: &[u32]) -> DeviceVec<u32> {
        DeviceVec::from_slice(&self.site.device, data).expect("words")
    }

    pub fn each(
        &self,
        keys: &[u32],
        launch: impl Fn(LaunchConfig, &DeviceVec<u32>, &DeviceVec<u32>),
    ) -> Vec<u32> {
        let (keys, results) = (self.vec(keys), self.vec(&vec![77; keys.len()]));
        launch(
            LaunchConfig::for_num_elems(keys.len() as u32),
            &keys,
            &results,
        );
        results.to_vec().expect("results")
    }

    pub fn insert(&self, keys: &[u32], values: &[u32]) -> Vec<u32> {
        let values = self.vec(values);
        self.each(keys, |config, keys, results| {
            let kernels = &self.site.kernels;
            let done =
                kernels.map_insert(&self.pool, config, self.shared(), keys, &values, results);
            done.expect("map_insert");
        })
    }

    pub fn add(&self, keys: &[u32], amounts: &[u32]) -> Vec<u32> {
        let amounts = self.vec(amounts);
        self.each(keys, |config, keys, results| {
            let kernels = &self.site.kernels;
            let done = kernels.map_add(&self.pool, config, self.shared(), keys, &amounts, results);
            done.expect("map_add");
        })
    }

    pub fn get(&self, keys: &[u32]) -> Vec<u32> {
        self.each(keys, |config, keys, results| {
            let done = self
                .site
                .kernels
                .map_get(&self.pool, config, self.shared(), keys, results);
            done.expect("map_get");
        })
    }

    pub fn remove(&self, keys: &[u32]) -> Vec<u32> {
        self.each(keys, |config, keys, results| {
            let done =
                self.site
                    .kernels
                    .map_remove(&self.pool, config, self.shared(), keys, results);
            done.expect("map_remove");
        })
    }

    /// All pairs, by `lanes` lanes, which insert `keys` meanwhile.
    pub fn list_while(&self, lanes: u32, keys: &[u32], room: usize) -> Vec<[u32; 2]> {
        let device = &self.site.device;
        let found = DeviceVec::<u32>::zeroed(device, 1).expect("a counter");
        let pairs = DeviceVec::<[u32; 2]>::zeroed(device, room).expect("pairs");
        let keys = self.vec(keys);
        let config = LaunchConfig {
            grid_dim: lanes.div_ceil(64),
            block_dim: lanes.min(64),
        };
        let done =
            self.site
                .kernels
                .map_list(&self.pool, config, self.shared(), &keys, &found, &pairs);
        done.expect("map_list");
        let mut pairs = pairs.to_vec().expect("pairs");
        pairs.truncate(found.to_vec().expect("the count")[0] as usize);
        pairs
    }

    pub fn list(&self, lanes: u32) -> Vec<[u32; 2]> {
        let mut pairs = self.list_while(lanes, &[], 1 << 16);
        pairs.sort_unstable();
        pairs
    }

    pub fn tidy(&self, lanes: u32) {
        let config = LaunchConfig {
            grid_dim: 1,
            block_dim: lanes,
        };
        self.site
            .kernels
            .map_tidy(&self.pool, config, self.shared())
            .expect("map_tidy");
    }

    pub fn clear(&self, lanes: u32) {
        let config = LaunchConfig {
            grid_dim: 1,
            block_dim: lanes,
        };
        self.site
            .kernels
            .map_clear(&self.pool, config, self.shared())
            .expect("map_clear");
    }

    pub fn used(&self) -> u64 {
        self.pool.stats().expect("stats").usage.used_bytes
    }

    /// Frees everything; nothing is left.
    pub fn free(self) {
        let one = LaunchConfig::for_num_elems(1);
        self.site
            .kernels
            .map_free(&self.pool, one, &self.map)
            .expect("map_free");
        assert!(self.map().is_none());
        assert_empty(&self.pool);
    }
}
