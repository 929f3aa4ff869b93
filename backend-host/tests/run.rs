//! Run mode computes what a device computes, at every warp width.

mod common;

use common::{WIDTHS, args, heap, launch, prepare, running, words, words_after_heap};
use std::collections::HashSet;
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{Device, DeviceError, DeviceVec, KernelImage};
use warpheap_api::{HeapMemory, Layout};
use warpheap_rt::alloc::Bump;
use warpheap_rt::sync::{Group, group_sum};
use warpheap_rt::{arch, thread as lane};

/// Every lane notes where it is, and what the collective operations say.
unsafe fn look(args: &ArgBlock) {
    let out = &words(args, 0)[lane::index() as usize * 8..][..8];
    let all = Group::here();
    let odd = all.ballot(lane::lane() % 2 == 1);
    let alike = all.match_any(lane::lane() / 3);
    let last = all.broadcast(100 + lane::lane());
    all.barrier();
    let sum = group_sum(all, lane::lane() + 1);
    let answers = [
        lane::lane(),
        all.count(),
        odd.count(),
        alike.first(),
        alike.count(),
        last,
        sum.before,
        sum.total,
    ];
    for (word, answer) in out.iter().zip(answers) {
        word.store(answer);
    }
}

#[test]
fn collective_operations_cover_the_lanes_of_each_warp_at_every_width() {
    for width in WIDTHS {
        // The last warp of each block is partial except at width 1.
        let (grid, block) = (3, 2 * width + width.div_ceil(2));
        let device = running(width);
        assert_eq!(device.info().warp_width, width);
        let out = DeviceVec::<u32>::zeroed(&device, (grid * block * 8) as usize).expect("room");
        launch(&device, "look", look, (grid, block), args([out.arg()])).expect("it works");
        let out = out.to_vec().expect("readable");
        for (index, got) in out.chunks_exact(8).enumerate() {
            let thread = index as u32 % block;
            let lane = thread % width;
            let count = width.min(block - (thread - lane));
            let alike = (0..count).filter(|other| other / 3 == lane / 3).count() as u32;
            let want = [
                lane,
                count,
                count / 2,
                lane / 3 * 3,
                alike,
                100 + count - 1,
                lane * (lane + 1) / 2,
                count * (count + 1) / 2,
            ];
            assert_eq!(got, want, "width {width}, lane {index}");
        }
    }
}

/// Lanes leave a loop one after the other, and those that stay keep counting themselves.
unsafe fn leave(args: &ArgBlock) {
    let out = &words(args, 0)[lane::index() as usize];
    let mut seen = 0;
    for _ in 0..=lane::lane() {
        seen += Group::here().ballot(true).count();
    }
    out.store(seen);
}

#[test]
fn lanes_that_left_a_loop_take_no_part_in_it() {
    for width in WIDTHS {
        let device = running(width);
        let out = DeviceVec::<u32>::zeroed(&device, width as usize).expect("room");
        launch(&device, "leave", leave, (1, width), args([out.arg()])).expect("it works");
        let want: Vec<u32> = (0..width)
            .map(|lane| (0..=lane).map(|round| width - round).sum())
            .collect();
        assert_eq!(out.to_vec().expect("readable"), want, "width {width}");
    }
}

/// Odd lanes look three times who is here before all do.
unsafe fn meet(args: &ArgBlock) {
    let mut calls = 0;
    if lane::lane() % 2 == 1 {
        while calls < 3 {
            Group::here();
            calls += 1;
        }
    }
    let met = Group::here().count();
    words(args, 0)[lane::index() as usize].store(met);
}

#[test]
fn lanes_that_went_different_ways_meet_again() {
    for width in WIDTHS {
        let device = running(width);
        let out = DeviceVec::<u32>::zeroed(&device, width as usize).expect("room");
        launch(&device, "meet", meet, (1, width), args([out.arg()])).expect("it works");
        let met = out.to_vec().expect("readable");
        assert_eq!(met, vec![width; width as usize], "width {width}");
    }
}

/// Odd lanes go on looking who is here until an even one has come past a later look.
unsafe fn circle(args: &ArgBlock) {
    let flag = &words(args, 0)[0];
    if lane::lane() % 2 == 1 {
        let mut rounds = 0;
        while flag.load() == 0 && rounds < 1_000_000 {
            Group::here();
            rounds += 1;
        }
        words(args, 0)[1].fetch_max(rounds);
    } else {
        Group::here();
        flag.store(1);
    }
}

#[test]
fn lanes_at_a_later_call_get_a_turn_too() {
    let device = running(8);
    let out = DeviceVec::<u32>::zeroed(&device, 2).expect("room");
    launch(&device, "circle", circle, (1, 8), args([out.arg()])).expect("it ends");
    let rounds = out.to_vec().expect("readable")[1];
    assert!((1..10_000).contains(&rounds), "{rounds} rounds");
}

/// Every lane takes 16 bytes and writes its index there.
unsafe fn take(args: &ArgBlock) {
    let heap = heap(args);
    if let Ok(ptr) = heap.malloc(const { Layout::new::<[u32; 4]>() }) {
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { heap.words() }.write(heap.word_of(ptr), lane::index());
        words_after_heap(args)[lane::index() as usize].store(ptr.granule());
    }
}

#[test]
fn every_lane_gets_a_block_of_its_own() {
    for width in WIDTHS {
        let device = running(width);
        let pool = device.reserve::<Bump>(1 << 20).expect("a pool");
        let lanes = 40 * 250;
        let out = DeviceVec::<u32>::zeroed(&device, lanes).expect("room");
        launch(
            &device,
            "take",
            take,
            (40, 250),
            args([pool.arg(), out.arg()]),
        )
        .expect("it works");
        let got: HashSet<u32> = out.to_vec().expect("readable").into_iter().collect();
        assert_eq!(got.len(), lanes, "width {width}");
        let used = pool.stats().expect("a heap").usage.used_bytes;
        assert_eq!(used, lanes as u64 * 16, "width {width}");
    }
}

static THREADS: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);

unsafe fn where_am_i(_: &ArgBlock) {
    // Long enough for another thread to take its share.
    thread::sleep(std::time::Duration::from_millis(1));
    let mut threads = THREADS.lock().expect("no lane panics");
    threads
        .get_or_insert_default()
        .insert(thread::current().id());
}

#[test]
fn warps_are_spread_over_threads() {
    launch(&running(4), "where_am_i", where_am_i, (64, 4), args([])).expect("it works");
    let threads = THREADS.lock().expect("no lane panics").take();
    assert_eq!(threads.map(|threads| threads.len()), Some(2));
}

/// Adds one to every word.
unsafe fn increase(args: &ArgBlock) {
    let word = &words(args, 0)[lane::index() as usize];
    word.store(word.load() + 1);
}

#[test]
fn launches_of_one_call_run_in_order_with_a_report_each() {
    let device = running(8);
    let out = DeviceVec::<u32>::zeroed(&device, 24).expect("room");
    let step = || prepare(&device, "increase", increase, (3, 8), args([out.arg()]));
    let reports = device
        .run_all(&[step(), step(), step()])
        .expect("they work");
    assert_eq!(reports.len(), 3);
    assert!(
        reports
            .iter()
            .all(|report| !report.device_time.is_zero() && report.words == [0; 8])
    );
    assert_eq!(out.to_vec().expect("readable"), [3; 24]);
}

#[test]
fn launches_are_checked_before_any_of_them_runs() {
    let device = running(8);
    let out = DeviceVec::<u32>::zeroed(&device, 8).expect("room");
    let good = || prepare(&device, "increase", increase, (1, 8), args([out.arg()]));
    let elsewhere = DeviceVec::<u32>::zeroed(&running(8), 8).expect("room");
    for (shape, arg, part) in [
        ((0, 8), out.arg(), "both must be at least 1"),
        ((1, 1025), out.arg(), "the device allows 1024"),
        ((u32::MAX, 1), out.arg(), "launch several times"),
        (
            (1, 8),
            longer(&out),
            "its argument 1 takes bytes 0 to 36 of a buffer that has 32",
        ),
        (
            (1, 8),
            elsewhere.arg(),
            "argument 1 of bad belongs to another device (",
        ),
    ] {
        let bad = prepare(&device, "bad", increase, shape, args([arg]));
        let error = device.run_all(&[good(), bad]).expect_err(part);
        let is_right = match &error {
            DeviceError::OtherDevice { .. } => part.contains("another device"),
            error => matches!(error, DeviceError::BadLaunch { .. }),
        };
        assert!(is_right, "{error}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(error.to_string().contains("bad"), "{error}");
    }
    assert_eq!(out.to_vec().expect("readable"), [0; 8], "nothing ran");
}

#[test]
fn a_heap_of_another_device_is_not_bound() {
    let (device, other) = (running(8), running(8));
    let image = KernelImage {
        name: "tests",
        ptx: None,
        spirv: None,
    };
    let module = device.load(&image).expect("any image can be loaded");
    let pool = |device: &Device| device.reserve::<Bump>(1 << 16).expect("a heap");
    let bound = module.bind_heap(&pool(&device));
    bound.expect("the emulator does nothing");
    let refused = module.bind_heap(&pool(&other));
    assert!(
        matches!(refused, Err(DeviceError::OtherDevice { .. })),
        "{refused:?}"
    );
}

/// The two names that the refusal of a foreign heap shows.
fn shown(device: &Device, other: &Device) -> [String; 2] {
    let image = KernelImage {
        name: "tests",
        ptx: None,
        spirv: None,
    };
    let module = device.load(&image).expect("any image can be loaded");
    let pool = other.reserve::<Bump>(1 << 16).expect("a heap");
    match module.bind_heap(&pool) {
        Err(DeviceError::OtherDevice { device, other, .. }) => [device, other],
        result => panic!("{result:?}"),
    }
}

#[test]
fn devices_of_one_name_are_told_apart_by_their_numbers() {
    let (first, second, again) = (running(8), running(8), running(8));
    let name = first.info().name.clone();
    first.set_number(0);
    second.set_number(1);
    again.set_number(0);
    // The first number stays.
    second.set_number(7);
    let numbered = |number| format!("{name}, device {number}");
    assert_eq!(shown(&first, &second), [numbered(0), numbered(1)]);
    let twice = format!("{name}, device 0, opened another time");
    assert_eq!(shown(&first, &again), [numbered(0), twice]);
    // Nobody said which they are.
    let twice = format!("{name}, opened another time");
    assert_eq!(shown(&running(8), &running(8)), [name, twice]);
    // Another name says enough.
    let wide = running(16);
    wide.set_number(0);
    let names = [first.info().name.clone(), wide.info().name.clone()];
    assert_ne!(names[0], names[1]);
    assert_eq!(shown(&first, &wide), names);
}

/// The argument of a vector that claims to be longer than it is.
fn longer(vec: &DeviceVec<u32>) -> warpheap_api::host::Arg {
    match vec.arg() {
        warpheap_api::host::Arg::Slice(mut slice) => {
            slice.len += 1;
            warpheap_api::host::Arg::Slice(slice)
        }
        other => other,
    }
}

/// Lane 5 of block 1 gives up.
unsafe fn give_up(args: &ArgBlock) {
    let here = (lane::block_index(), lane::index_in_block());
    let outcome = match here {
        (1, 5) => Err(warpheap_api::AllocError::Contended),
        _ => Ok(()),
    };
    // SAFETY: the emulator passes the report.
    warpheap_rt::entry::finish(unsafe { arch::report(args) }, outcome);
}

#[test]
fn what_lanes_return_is_in_the_report() {
    match launch(&running(4), "give_up", give_up, (2, 8), args([])) {
        Err(DeviceError::Kernel(failure)) => {
            assert_eq!((failure.lanes, failure.by_cause), (1, [0, 1, 0]));
            assert_eq!((failure.block, failure.lane), (1, 5));
        }
        other => panic!("one lane failed: {other:?}"),
    }
}

/// Keeps half a MiB on its stack, as a large kernel does that is not optimised.
unsafe fn keep_much(args: &ArgBlock) {
    let mut kept = [0u32; 128 << 10];
    std::hint::black_box(&mut kept)[lane::index() as usize] = 1;
    words(args, 0)[lane::index() as usize].store(kept[lane::index() as usize]);
}

#[test]
fn kernels_that_are_not_optimised_find_room_on_their_stacks() {
    let device = running(32);
    let out = DeviceVec::<u32>::zeroed(&device, 64).expect("room");
    launch(&device, "keep_much", keep_much, (2, 32), args([out.arg()])).expect("it works");
    assert_eq!(out.to_vec().expect("readable"), [1; 64]);
}
