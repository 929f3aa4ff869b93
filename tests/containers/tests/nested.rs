//! A map of vectors of strings: built, read and freed by lanes, also where memory runs out.

use warpheap::{DeviceVec, LaunchConfig};
use warpheap_api::host::{HostAlloc, Pool};
use warpheap_container_tests::assert_empty;
use warpheap_container_tests::sets::Site;
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapHashMap;
use warpheap_set_kernels::nested::{Kept, NestEntry, NestedOwnEntry, UnnestEntry, strings_of};

/// What the map is, in a buffer that kernels change.
type Nested = DeviceVec<HeapHashMap<u32, Kept>>;

/// An allocator that all kernels of the test are compiled for.
trait Subject: HostAlloc + NestEntry + NestedOwnEntry + UnnestEntry {}

impl<A: HostAlloc + NestEntry + NestedOwnEntry + UnnestEntry> Subject for A {}

/// What `unnest` finds for a key.
fn sum_of(i: u32) -> u32 {
    let names = (0..strings_of(i)).map(|k| format!("{i}.{k}"));
    let weigh = |name: String| -> u32 {
        let bytes = (1..).zip(name.bytes());
        bytes.map(|(at, byte)| at * u32::from(byte)).sum()
    };
    names.map(weigh).sum()
}

/// Makes the map, or ends it.
fn own<A: Subject>(site: &Site, pool: &Pool<A>, map: &Nested) {
    let one = LaunchConfig::for_num_elems(1);
    site.kernels.nested_own(pool, one, map).expect("nested_own");
}

/// What is found for each key, after which there is none.
fn unnested<A: Subject>(site: &Site, pool: &Pool<A>, map: &Nested, count: u32) -> Vec<u32> {
    let found = DeviceVec::<u32>::zeroed(&site.device, count as usize).expect("answers");
    let lanes = LaunchConfig::for_num_elems(count);
    let of = map.shared(0).expect("the map");
    let launch = site.kernels.unnest(pool, lanes, of, &found);
    launch.expect("unnest");
    found.to_vec().expect("answers")
}

fn built(site: &Site, count: u32, pool_bytes: u64) {
    let pool = site.heap::<RandomWalkMalloc>(pool_bytes);
    let map = Nested::zeroed(&site.device, 1).expect("a map");
    own(site, &pool, &map);
    let lanes = LaunchConfig::for_num_elems(count);
    let of = map.shared(0).expect("the map");
    site.kernels.nest(&pool, lanes, of, count).expect("nest");
    let expected: Vec<u32> = (0..count).map(sum_of).collect();
    assert_eq!(unnested(site, &pool, &map, count), expected);
    let gone = unnested(site, &pool, &map, count);
    assert!(gone.iter().all(|sum| *sum == u32::MAX));
    own(site, &pool, &map);
    assert_empty(&pool);
}

/// The n-th request is refused, for every n: keys are there with all that belongs to them, or not at all.
fn out_of_memory(site: &Site) {
    const KEYS: u32 = 7;
    let lanes = LaunchConfig::for_num_elems(KEYS);
    let mut failures = 0;
    for n in 1.. {
        let pool = site.heap::<Failing<RandomWalkMalloc>>(1 << 20);
        let map = Nested::zeroed(&site.device, 1).expect("a map");
        own(site, &pool, &map);
        let of = map.shared(0).expect("the map");
        Failing::refuse(&pool, n).expect("refuse");
        let failed = site.kernels.nest(&pool, lanes, of, KEYS).is_err();
        Failing::refuse(&pool, 0).expect("refuse");
        let found = unnested(site, &pool, &map, KEYS);
        let missing = found.iter().filter(|sum| **sum == u32::MAX).count();
        assert_eq!(missing, usize::from(failed), "request {n}: {found:?}");
        for (i, sum) in (0..KEYS).zip(&found) {
            assert!([sum_of(i), u32::MAX].contains(sum), "request {n}, key {i}");
        }
        own(site, &pool, &map);
        assert_empty(&pool);
        failures += u32::from(failed);
        if !failed {
            break;
        }
    }
    // Nine strings, five vectors that have some, seven leaves.
    assert!(failures >= 9 + 5 + 7, "{failures} requests were refused");
}

fn everything(site: &Site) {
    built(site, if site.is_slow() { 500 } else { 20_000 }, 16 << 20);
    out_of_memory(site);
}

fn few(site: &Site) {
    built(site, 14, 1 << 20);
}

mod host {
    use super::*;

    #[test]
    fn at_every_width() {
        for width in [1, 4, 8, 32, 64] {
            everything(&Site::host(width));
        }
    }
}

warpheap_container_tests::explored!(everything);
warpheap_container_tests::explored_few!(few);
warpheap_container_tests::on_gpus!(everything);
