//! The race of the page on finding mistakes is found, with the message that the page shows.

use warpheap::Device;
use warpheap_host::{HostConfig, Mode};

#[test]
fn the_race_is_found() {
    let config = HostConfig {
        races: true,
        mode: Mode::Explore { seed: 1 },
        ..HostConfig::default()
    };
    let device = warpheap_host::open(config).and_then(Device::adopt);
    let device = device.expect("the emulator is always there");
    let error = warpheap_book::debugging::host::race(&device);
    let error = error.expect_err("a race").to_string();
    let page = include_str!("../../../docs/debugging.md").replace('\n', " ");
    for part in [
        "kernel count_lanes_l1, block 0, warp 1, lane 23: data race on word",
        "nothing orders the two: lane 8 of block 0 has not released since",
        "(explored with WARPHEAP_SEED=1, launch 1 of the device",
    ] {
        assert!(error.contains(part), "no `{part}` in: {error}");
        assert!(page.contains(part), "no `{part}` on the page");
    }
}
