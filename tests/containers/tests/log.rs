//! Lines that lanes leave for the host.

use warpheap_api::host::{DeviceError, DeviceVec, LaunchConfig};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::host::{DeviceLog, LogLine};
use warpheap_rt::log::MOST_BYTES;

const BLOCK: u32 = 40;

/// What `print_lines` leaves, by lane.
fn expected(lanes: u32, lines: u32) -> Vec<LogLine> {
    let line = |lane: u32, line: u32| LogLine {
        block: lane / BLOCK,
        lane: lane % BLOCK,
        text: format!("lane {lane:04}, line {line}: {:x}", lane * line * 0x1_0001),
    };
    let all = (0..lanes).flat_map(|lane| (0..lines).map(move |number| line(lane, number)));
    all.collect()
}

/// Bytes of a log that a line takes.
fn room(line: &LogLine) -> usize {
    12 + line.text.len().next_multiple_of(4)
}

/// Every lane leaves so many lines; how many had room.
fn print(site: &Site, log: &DeviceLog, lanes: u32, lines: u32) -> u32 {
    let mut kept = DeviceVec::<u32>::zeroed(&site.device, lanes as usize).expect("counts");
    let config = LaunchConfig {
        grid_dim: lanes.div_ceil(BLOCK),
        block_dim: BLOCK,
    };
    let launch = site.kernels.print_lines(config, log, lines, &mut kept);
    launch.expect("lines are printed");
    kept.to_vec().expect("counts").iter().sum()
}

/// Where there is room, all lines are there, each as its lane left it, and those of a lane in their order.
fn all_there(site: &Site, lanes: u32, lines: u32) {
    let expected = expected(lanes, lines);
    let bytes = expected.iter().map(room).sum();
    let mut log = DeviceLog::new(&site.device, bytes).expect("a log");
    for _ in 0..2 {
        assert_eq!(print(site, &log, lanes, lines), lanes * lines);
        let read = log.read().expect("lines");
        assert_eq!((read.lost_lines(), read.lost_bytes()), (0, 0));
        assert_eq!(read.by_lane().to_vec(), expected);
        log.clear().expect("cleared");
        assert!(log.read().expect("lines").is_empty());
    }
}

/// Where there is none, lines are there as a whole or not at all, and what is lost is counted.
fn full(site: &Site, lanes: u32, lines: u32) {
    let expected = expected(lanes, lines);
    let all: usize = expected.iter().map(room).sum();
    let text = |lines: &[LogLine]| lines.iter().map(|line| line.text.len() as u64).sum::<u64>();
    let longest = expected.iter().map(room).max().expect("lines");
    for bytes in [0, 1, longest, all / 3, all - 1] {
        let mut log = DeviceLog::new(&site.device, bytes).expect("a log");
        let mut kept = print(site, &log, lanes, lines);
        // And one launch more into the full log.
        kept += print(site, &log, lanes, lines);
        let read = log.read().expect("lines");
        assert_eq!(read.len() as u32, kept);
        assert_eq!(read.lost_lines(), 2 * lanes * lines - kept);
        assert_eq!(read.lost_bytes(), 2 * text(&expected) - text(&read));
        let used: usize = read.iter().map(room).sum();
        let bound = bytes.next_multiple_of(4);
        assert!(used <= bound && used + longest > bound, "{used} of {bytes}");
        // Each line is that of its lane, and none is there more often than it was printed.
        let mut left = [expected.clone(), expected.clone()].concat();
        for line in &*read {
            let at = left.iter().position(|other| other == line);
            left.swap_remove(at.unwrap_or_else(|| panic!("{line:?}")));
        }
        let said = format!(
            "[{} lines of {} bytes were lost]",
            read.lost_lines(),
            read.lost_bytes()
        );
        assert_eq!(read.to_string().lines().last(), Some(&*said));
        log.clear().expect("cleared");
        let read = log.read().expect("lines");
        assert_eq!(
            (read.len(), read.lost_lines(), read.lost_bytes()),
            (0, 0, 0)
        );
    }
}

/// Strings of a heap as lines, and empty lines: only those that are too long are lost, whatever room there is.
fn strings(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(4 << 20);
    let log = DeviceLog::new(&site.device, 1 << 16).expect("a log");
    let lengths = [0, 1, 4, 27, MOST_BYTES, MOST_BYTES + 1, 3 * MOST_BYTES, 5];
    let mut given = DeviceVec::from_slice(&site.device, &lengths).expect("lengths");
    let config = LaunchConfig {
        grid_dim: 1,
        block_dim: lengths.len() as u32,
    };
    let launch = site.kernels.print_strings(&pool, config, &log, &mut given);
    launch.expect("lines are printed");
    let read = log.read().expect("lines").by_lane();
    let mut expected = Vec::new();
    for (lane, length) in lengths.into_iter().enumerate() {
        let text: String = (0..length)
            .map(|i| (b'a' + (i % 26) as u8) as char)
            .collect();
        if length <= MOST_BYTES {
            expected.push((lane as u32, text));
        }
        expected.push((lane as u32, String::new()));
    }
    let found: Vec<_> = read
        .iter()
        .map(|line| (line.lane, line.text.clone()))
        .collect();
    assert_eq!(found, expected);
    let lost = (read.lost_lines(), read.lost_bytes());
    assert_eq!(lost, (2, 4 * MOST_BYTES as u64 + 1));
    assert_empty(&pool);
}

/// Launches of two streams leave lines in one log at the same time; reading it waits for both.
fn two_streams(site: &Site, lanes: u32) {
    let lines = expected(lanes, 2);
    let bytes = 2 * lines.iter().map(room).sum::<usize>();
    let mut log = DeviceLog::new(&site.device, bytes).expect("a log");
    let config = LaunchConfig {
        grid_dim: lanes.div_ceil(BLOCK),
        block_dim: BLOCK,
    };
    let streams = [(); 2].map(|()| site.device.stream().expect("a stream"));
    let mut counts =
        [(); 2].map(|()| DeviceVec::<u32>::zeroed(&site.device, lanes as usize).expect("counts"));
    for (stream, kept) in streams.iter().zip(&mut counts) {
        let launch = site.kernels.print_lines_launch(config, &log, 2, kept);
        launch.on(stream).expect("queued");
    }
    let read = log.read().expect("lines").by_lane();
    assert_eq!((read.len(), read.lost_lines()), (2 * lines.len(), 0));
    for line in &lines {
        let same = read.iter().filter(|other| *other == line);
        assert_eq!(same.count(), 2, "{line:?}");
    }
    log.clear().expect("cleared");
    for stream in &streams {
        stream.wait().expect("no launch failed");
    }
}

/// A log of 4 GiB and more is refused.
fn too_large(site: &Site) {
    let made = DeviceLog::new(&site.device, 4 << 30);
    assert!(
        matches!(made, Err(DeviceError::OutOfRange { .. })),
        "{made:?}"
    );
}

fn everything(site: &Site) {
    let lanes = if site.is_slow() { 200 } else { 10_000 };
    all_there(site, lanes, 3);
    full(site, 200, 3);
    strings(site);
    two_streams(site, 200);
    too_large(site);
}

#[test]
fn host() {
    for width in [1, 4, 8, 32, 64] {
        everything(&Site::host(width));
    }
}

fn few(site: &Site) {
    all_there(site, 6, 2);
    full(site, 6, 2);
}

warpheap_container_tests::explored_few!(few);
warpheap_container_tests::on_gpus!(everything);
