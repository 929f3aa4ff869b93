//! Several devices in one process: two emulators, which a program finds when the environment says so.

use std::sync::OnceLock;
use warpheap::device::HeapVec;
use warpheap::{BackendKind, Device, DeviceError, DeviceVec, LaunchConfig, Pool, backends};
use warpheap_tests::Site;

/// All devices, opened once.
fn sites() -> &'static [Site] {
    static SITES: OnceLock<Vec<Site>> = OnceLock::new();
    SITES.get_or_init(|| {
        for (name, value) in [("WARPHEAP_HOST_DEVICES", "2"), ("WARPHEAP_BACKEND", "host")] {
            // SAFETY: what the tests of this program do begins here, and nothing in them asks the C library for variables.
            unsafe { std::env::set_var(name, value) };
        }
        let devices = Device::all().expect("emulators are everywhere");
        devices.into_iter().map(Site::new).collect()
    })
}

fn two() -> [&'static Site; 2] {
    match sites() {
        [one, other] => [one, other],
        sites => panic!("{} devices, not 2", sites.len()),
    }
}

/// Checks that something of another device was refused, with what it is.
#[track_caller]
fn refused<T: std::fmt::Debug>(what: &str, done: Result<T, DeviceError>) {
    match done {
        Err(error @ DeviceError::OtherDevice { .. }) => {
            let text = error.to_string();
            assert!(text.starts_with(what), "{text}");
            assert!(text.contains("belongs to another device"), "{text}");
        }
        done => panic!("{what}: {done:?}"),
    }
}

#[test]
fn as_many_are_opened_as_there_are_and_each_has_a_number() {
    two();
    let count = |devices: Result<Vec<Device>, DeviceError>| devices.map(|all| all.len());
    assert_eq!(count(Device::all_of(BackendKind::Host)).ok(), Some(2));
    assert_eq!(count(Device::all_named(Some("host"))).ok(), Some(2));
    assert!(count(Device::all_named(Some("abacus"))).is_err());
    let found = backends::devices(BackendKind::Host).expect("emulators are everywhere");
    let numbers: Vec<usize> = found.iter().map(|found| found.index).collect();
    assert_eq!(numbers, [0, 1]);
    for (number, is_there) in [("0", true), ("1", true), ("2", false)] {
        let opened = Device::open_named(Some("host"), Some(number));
        assert_eq!(opened.is_ok(), is_there, "{number}");
    }
}

/// Lanes push to vectors of a heap again and again; then the vectors are counted and freed. Nothing is left.
fn work(site: &Site, rounds: u32) {
    const LANES: usize = 200;
    let pool: Pool = site.device.reserve(4 << 20).expect("a heap");
    let inners = DeviceVec::<HeapVec<u32>>::zeroed(&site.device, LANES).expect("vectors");
    let mut outers = DeviceVec::zeroed(&site.device, LANES).expect("vectors");
    let shape = LaunchConfig::for_num_elems(LANES as u32);
    for _ in 0..rounds {
        let nested = site.kernels.nest(&pool, shape, &mut outers, &inners, 0);
        nested.expect("there is room");
    }
    assert!(pool.stats().expect("a heap").usage.used_bytes > 0);
    let mut sums = DeviceVec::filled(&site.device, LANES, 7u32).expect("sums");
    let summed = site
        .kernels
        .sum_nested(&pool, shape, &mut outers, &mut sums);
    summed.expect("vectors can be counted");
    assert_eq!(sums.to_vec().expect("sums"), [0; LANES]);
    assert_eq!(pool.stats().expect("a heap").usage.used_bytes, 0);
}

#[test]
fn threads_work_with_a_device_each_at_the_same_time() {
    std::thread::scope(|scope| {
        for site in sites() {
            scope.spawn(|| work(site, 20));
        }
    });
}

#[test]
fn one_thread_works_with_pools_and_streams_of_both() {
    let [one, other] = two();
    let shape = LaunchConfig::for_num_elems(100);
    let vecs = [one, other].map(|site| DeviceVec::<u32>::zeroed(&site.device, 100).expect("room"));
    let streams = [one, other].map(|site| site.device.stream().expect("a stream"));
    for round in 0..10 {
        for (at, site) in [one, other].into_iter().enumerate() {
            for _ in 0..=at + round % 2 {
                let launch = site.kernels.increment_launch(shape, &vecs[at]);
                launch.on(&streams[at]).expect("it is queued");
            }
        }
    }
    let read = |at: usize| vecs[at].to_vec().expect("it ran");
    assert_eq!((read(0), read(1)), (vec![15; 100], vec![25; 100]));
    work(one, 3);
    work(other, 3);
}

#[test]
fn elements_are_copied_from_device_to_device() {
    let [one, other] = two();
    // More than goes at once by way of the host, twice, and a rest.
    for len in [0u32, 1, 1000, (5 << 20) + 3] {
        let data: Vec<u32> = (0..len).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let here = DeviceVec::from_slice(&one.device, &data).expect("room");
        let mut there = DeviceVec::filled(&other.device, data.len(), 9u32).expect("room");
        there.copy_from_vec(&here).expect("it is copied");
        assert!(there.to_vec().expect("it is there") == data, "{len}");
    }
    let mut short = DeviceVec::<u32>::zeroed(&other.device, 3).expect("room");
    let long = DeviceVec::<u32>::zeroed(&one.device, 4).expect("room");
    let copied = short.copy_from_vec(&long);
    assert!(
        matches!(copied, Err(DeviceError::OutOfRange { .. })),
        "{copied:?}"
    );
}

#[test]
fn parts_of_words_and_blocks_of_heaps_are_copied_too() {
    let [one, other] = two();
    let bytes: Vec<u8> = (0..=255).collect();
    let pools: [Pool; 2] = [one, other].map(|site| site.device.reserve(1 << 20).expect("a heap"));
    let here = DeviceVec::from_slice_in(&pools[0], &bytes).expect("room");
    for (first, range) in [(1, 1..255), (3, 2..255), (0, 5..7), (7, 3..4), (9, 8..8)] {
        let mut there = DeviceVec::from_slice_in(&pools[1], &[9u8; 256]).expect("room");
        let copied = there.copy_range_from_vec(first, &here, range.clone());
        copied.expect("it is copied");
        let mut want = vec![9; 256];
        want[first..first + range.len()].copy_from_slice(&bytes[range]);
        assert_eq!(there.to_vec().expect("bytes"), want);
    }
    let [pool, mut fresh] = pools;
    fresh.reset().expect("nobody has blocks");
    let mut gone = here;
    drop(pool);
    let there = DeviceVec::from_slice_in(&fresh, &bytes).expect("room");
    gone.copy_from_vec(&there)
        .expect("the block is still there");
    fresh.reset().expect("a fresh heap");
    let stale = gone.copy_from_vec(&there);
    assert!(matches!(stale, Err(DeviceError::Stale { .. })), "{stale:?}");
}

#[test]
fn a_copy_waits_for_streams_of_both_devices() {
    let [one, other] = two();
    let shape = LaunchConfig::for_num_elems(1000);
    let here = DeviceVec::<u32>::zeroed(&one.device, 1000).expect("room");
    let mut there = DeviceVec::<u32>::zeroed(&other.device, 1000).expect("room");
    let (left, right) = (one.device.stream(), other.device.stream());
    let (left, right) = (left.expect("a stream"), right.expect("a stream"));
    for round in 1..=20 {
        for _ in 0..5 {
            let up = one.kernels.increment_launch(shape, &here);
            up.on(&left).expect("it is queued");
            // What these leave is written over.
            let up = other.kernels.increment_launch(shape, &there);
            up.on(&right).expect("it is queued");
        }
        there.copy_from_vec(&here).expect("it is copied");
        assert_eq!(there.to_vec().expect("words"), [5 * round; 1000]);
    }
}

#[test]
fn copies_there_and_back_at_once_end() {
    let [one, other] = two();
    let vec = |site: &Site| {
        let buffer = site.device.alloc(4).expect("room");
        // SAFETY: two vectors share the memory, in which there is nothing but a zero.
        let part = || unsafe { DeviceVec::<u32>::from_raw_parts(buffer.clone(), 0, 1) };
        [part().expect("it fits"), part().expect("it fits")]
    };
    let ([from_one, mut to_one], [from_other, mut to_other]) = (vec(one), vec(other));
    from_one.fill_zero().expect("zeros");
    from_other.fill_zero().expect("zeros");
    // So often that two meet now and then.
    let again = |to: &mut DeviceVec<u32>, from| {
        let mut copies = (0..100_000).map(|_| to.copy_from_vec(from));
        copies.all(|copied| copied.is_ok())
    };
    std::thread::scope(|scope| {
        let there = scope.spawn(|| again(&mut to_other, &from_one));
        let back = scope.spawn(|| again(&mut to_one, &from_other));
        assert!(there.join().expect("no panic") && back.join().expect("no panic"));
    });
}

#[test]
fn memory_is_lent_to_libraries_that_know_its_addresses() {
    let [one, other] = two();
    let here = DeviceVec::from_slice(&one.device, &[1u32; 8]).expect("a vector");
    let there = DeviceVec::from_slice(&other.device, &[1u32; 8]).expect("a vector");
    let lend = |args: &[_]| {
        // SAFETY: nothing is queued.
        unsafe {
            one.device
                .lend(args, |_| panic!("an emulator has no addresses"))
        }
    };
    assert!(matches!(lend(&[here.arg_mut()]), Ok(false)));
    refused("argument 2", lend(&[here.arg(), there.arg()]));
    match lend(&[here.arg(), here.arg_mut()]) {
        Err(error @ DeviceError::BadLaunch { .. }) => {
            let text = error.to_string();
            assert!(text.contains("another library"), "{text}");
        }
        twice => panic!("{twice:?}"),
    }
}

#[test]
fn what_is_of_another_device_is_refused() {
    let [one, other] = two();
    let shape = LaunchConfig::for_num_elems(4);
    let pool: Pool = one.device.reserve(1 << 20).expect("a heap");
    let here = DeviceVec::<u32>::zeroed(&one.device, 4).expect("room");
    let mut there = DeviceVec::<u32>::zeroed(&other.device, 4).expect("room");
    let stream = other.device.stream().expect("a stream");
    let own = one.device.stream().expect("a stream");
    let event = stream.event().expect("an event");
    let mine = own.event().expect("an event");

    // A vector, a heap and a vector in a heap; a kernel; what is queued; events.
    refused(
        "argument 1 of increment",
        other.kernels.increment(shape, &here),
    );
    let up = one.kernels.increment_launch(shape, &here);
    refused(
        "kernel increment",
        other.device.run_all(std::slice::from_ref(&up)),
    );
    refused("kernel increment", up.on(&stream));
    let mut outers = DeviceVec::<HeapVec<HeapVec<u32>>>::zeroed(&other.device, 4).expect("room");
    let summed = other
        .kernels
        .sum_nested(&pool, shape, &mut outers, &mut there);
    refused("argument 1 of sum_nested", summed);
    let in_heap = DeviceVec::<u32>::zeroed_in(&pool, 4).expect("room");
    refused(
        "argument 1 of increment",
        other.kernels.increment(shape, &in_heap),
    );
    refused("a vector", stream.read(&here));
    refused("a vector", stream.copy(&here, &mut there));
    refused("a vector", own.copy(&here, &mut there));
    refused("the event", own.wait_for(&event));
    refused("the earlier event", mine.since(&event));

    // Nothing happened, and all goes on.
    own.wait().expect("nothing was queued");
    stream.wait().expect("nothing was queued");
    assert_eq!(here.to_vec().expect("words"), [0; 4]);
    assert_eq!(there.to_vec().expect("words"), [0; 4]);
    other.kernels.increment(shape, &there).expect("its own");
}
