//! The race of the page on finding mistakes is found, and the word that nobody has written, with the messages that the page shows.

use warpheap::Device;
use warpheap_host::{HostConfig, Mode};

/// What stops the page's kernel, of which each part stands on the page.
fn tells(config: HostConfig, parts: &[&str]) {
    let device = warpheap_host::open(config).and_then(Device::adopt);
    let device = device.expect("the emulator is always there");
    let error = warpheap_book::debugging::host::race(&device);
    let error = error.expect_err("a mistake").to_string();
    let page = include_str!("../../../docs/debugging.md").replace('\n', " ");
    for part in parts {
        assert!(error.contains(part), "no `{part}` in: {error}");
        assert!(page.contains(part), "no `{part}` on the page");
    }
}

#[test]
fn the_race_is_found() {
    let config = HostConfig {
        races: true,
        mode: Mode::Explore { seed: 1 },
        ..HostConfig::default()
    };
    let parts = [
        "kernel count_lanes_l1, block 0, warp 1, lane 23: data race on word",
        "nothing orders the two: lane 8 of block 0 has not released since",
        "(explored with WARPHEAP_SEED=1, launch 1 of the device",
    ];
    tells(config, &parts);
}

#[test]
fn the_word_that_nobody_has_written_is_found() {
    let config = HostConfig {
        unwritten: true,
        ..HostConfig::default()
    };
    let parts = [
        "kernel count_lanes_l1, block 0, warp 0, lane 0: read of a word that nobody has written: word",
        "it is word 0 of the block of 4 bytes that lane 0 of block 0 of kernel heap_malloc",
        "write it first, or ask for zeros by calloc",
    ];
    tells(config, &parts);
}
