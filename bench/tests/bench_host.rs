//! The lab on the emulator: every allocator, every scenario, and what it says of heaps that are wrong.

use std::time::Duration;
use warpheap_api::DevicePtr;
use warpheap_api::host::{Device, DeviceVec, Pool};
use warpheap_bench::contents::{self, Wrong};
use warpheap_bench::lab::Lab;
use warpheap_bench::options::Options;
use warpheap_bench::plan::{Cell, Scenario};
use warpheap_bench::report::Report;
use warpheap_bench::{allocators, cell, table};
use warpheap_host::HostConfig;
use warpheap_rt::alloc::Bump;

fn host(warp_width: u32) -> Device {
    warpheap_host::open(HostConfig {
        warp_width,
        ..HostConfig::default()
    })
    .unwrap()
}

fn run(device: &Device, line: &str) -> Report {
    let words = ["bench"].into_iter().chain(line.split_whitespace());
    let options: Options = clap::Parser::parse_from(words);
    warpheap_bench::run(device, &options, |_| {}).unwrap()
}

#[test]
fn every_allocator_runs_every_scenario_and_is_right() {
    for (width, call) in [(8, ""), (32, "--warp")] {
        let report = run(&host(width), &format!("--quick --n 512 {call}"));
        assert!(report.is_right());
        for entry in allocators::ALL {
            for scenario in [Scenario::S1, Scenario::S3] {
                let rows = report.rows.iter();
                let rows =
                    rows.filter(|row| (row.allocator, row.scenario) == (entry.name, scenario));
                let rows: Vec<_> = rows.collect();
                // Three sizes; S3 with 1 and 256 lanes.
                assert_eq!(rows.len(), if scenario.is_fresh() { 3 } else { 6 });
                for row in rows {
                    assert_eq!(row.status, "ok", "{row:?}");
                    assert!(row.floors.empty.median > 0.0, "{row:?}");
                    assert!(row.ratio(row.malloc).unwrap() > 0.0, "{row:?}");
                    assert_eq!(row.free.is_some(), entry.name != "Bump", "{row:?}");
                }
            }
        }
        let text = table::table(&report.rows);
        assert_eq!(text.lines().count(), 1 + report.rows.len());
    }
}

#[test]
fn a_heap_that_is_full_makes_a_row_without_times() {
    let device = host(4);
    let mut lab = Lab::new(&device, 1).unwrap();
    // With the header, room for less than 100 granules.
    let mut pool: Pool<Bump> = device.reserve(1536).unwrap();
    let full = Cell {
        scenario: Scenario::S1,
        size: 16,
        n: 100,
    };
    let row = cell::measure(&mut lab, &mut pool, full, false).unwrap();
    assert!(row.malloc.is_none() && row.right, "{row:?}");
    assert!(row.status.contains("of 100 failed"), "{row:?}");
}

#[test]
fn blocks_that_overlap_or_lie_outside_are_found() {
    let device = host(4);
    let lab = Lab::new(&device, 1).unwrap();
    let pool: Pool<Bump> = device.reserve(1 << 20).unwrap();
    let last = (1 << 20) / 16 - 1;
    let check = |granules: &[u32], size| {
        let blocks: Vec<_> = granules
            .iter()
            .map(|&g| DevicePtr::from_granule(g))
            .collect();
        let blocks = DeviceVec::<DevicePtr<u8>>::from_slice(&device, &blocks).unwrap();
        contents::check(&lab, &pool, &blocks, size, 7).unwrap()
    };
    let wrong = |missing, outside, overwritten| Wrong {
        missing,
        outside,
        overwritten,
    };
    assert!(check(&[1000, 1002, 1004, last - 1], 32).is_nothing());
    // The second begins in the last granule of the first, which 33 bytes reach.
    assert_eq!(check(&[1000, 1002, 2000], 33), wrong(0, 0, 1));
    assert_eq!(check(&[1000, 2000, 1000], 16), wrong(0, 0, 1));
    assert_eq!(check(&[last, 3, 1000], 32), wrong(0, 2, 0));
    assert_eq!(check(&[u32::MAX, 1000], 16), wrong(1, 0, 0));
}

/// A million blocks of 16 bytes, which the emulator hands out in less than two seconds on two cores.
/// Without optimisation only that it works is looked at, with fewer blocks.
#[test]
fn a_million_mallocs_take_less_than_two_seconds() {
    let optimised = !cfg!(debug_assertions);
    let n: u32 = if optimised { 1 << 20 } else { 1 << 12 };
    let line = format!("--scenario S1 --sizes 16 --n {n} --pool 128M --repeats 2");
    let report = run(&host(32), &line);
    assert_eq!(report.rows.len(), allocators::ALL.len());
    for row in &report.rows {
        assert_eq!(row.status, "ok", "{row:?}");
        // The best of the repeats: other programs may run meanwhile.
        let best = Duration::from_secs_f64(row.malloc.unwrap().p10 / 1e3);
        println!("{}: {n} mallocs in {best:?}", row.allocator);
        assert!(best < Duration::from_secs(2), "{row:?}");
    }
}
