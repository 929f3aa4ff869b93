//! The backend on a GPU: memory, modules, launches and their reports.

mod common;

use common::{IMAGE, check_that_it_works, launch};
use warpheap_api::host::{Device, DeviceError, DeviceVec, KernelImage, RawBuffer};
use warpheap_cuda::CudaConfig;

fn open() -> Option<Device> {
    common::open(&CudaConfig::default())
}

fn words(buffer: &RawBuffer) -> Vec<u32> {
    let mut bytes = vec![0; buffer.bytes() as usize];
    buffer.read(0, &mut bytes).unwrap();
    let words = bytes.chunks_exact(4);
    words
        .map(|b| u32::from_ne_bytes(b.try_into().unwrap()))
        .collect()
}

#[test]
fn kernels_get_their_arguments_and_write_their_results() {
    let Some(device) = open() else { return };
    check_that_it_works(&device);
    assert_eq!(device.info().warp_width, 32);
}

#[test]
fn fills_and_copies_touch_their_range_alone() {
    let Some(device) = open() else { return };
    let buffer = device.alloc(40).unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.fill(0, 10, 7) }.unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.fill(8, 3, 0xdead_beef) }.unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.write(36, &5u32.to_ne_bytes()) }.unwrap();
    let b = 0xdead_beef;
    assert_eq!(words(&buffer), [7, 7, b, b, b, 7, 7, 7, 7, 5]);
    // SAFETY: nobody else has this memory.
    let refused = unsafe { buffer.fill(2, 1, 0) };
    assert!(
        matches!(refused, Err(DeviceError::Misaligned { got: 2, of: 4, .. })),
        "{refused:?}"
    );
    for (offset, count) in [(0, 11), (40, 1), (u64::MAX - 3, 1)] {
        // SAFETY: nobody else has this memory.
        let refused = unsafe { buffer.fill(offset, count, 0) };
        assert!(
            matches!(refused, Err(DeviceError::OutOfRange { .. })),
            "{offset} {count}: {refused:?}"
        );
    }
}

#[test]
fn buffers_of_any_size_lie_at_multiples_of_64_kib_and_launches_know_their_shape() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let mut kept = Vec::new();
    for len in [3, 100, 20_000, 300_000, 1 << 20] {
        let out = DeviceVec::<u32>::zeroed(&device, len).unwrap();
        launch(&module, "shape_l1", 3, 64, vec![out.arg()])
            .run()
            .unwrap();
        let got = out.to_vec().unwrap();
        assert_eq!((got[0] % (64 << 10), got[1], got[2]), (0, 3, 64), "{len}");
        kept.push(out);
    }
}

/// Large copies go through pinned memory, in parts.
#[test]
fn large_copies_bring_every_byte() {
    let Some(device) = open() else { return };
    for words in [(16 << 20) - 1, 16 << 20, (50 << 20) + 3] {
        let data: Vec<u32> = (0..words as u32)
            .map(|i| i.wrapping_mul(0x9e37_79b1))
            .collect();
        let mut there = DeviceVec::from_slice(&device, &data).unwrap();
        assert!(there.to_vec().unwrap() == data, "{words}");
        // Not from the beginning, and not to the end.
        let part = &data[..words - 9];
        there.copy_range_from(5, part).unwrap();
        let mut back = vec![0; words - 9];
        there.copy_range_to(5, &mut back).unwrap();
        assert!(back == part, "{words}");
        assert_eq!(there.to_vec().unwrap()[..5], data[..5]);
    }
}

#[test]
fn launches_of_a_batch_run_in_order_however_many_they_are() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let one = launch(&module, "increment_l1", 1, 1, vec![count.arg()]);
    let reports = device.run_all(&vec![one; 700]).unwrap();
    assert_eq!(reports.len(), 700);
    assert_eq!(count.to_vec().unwrap(), [700]);
}

#[test]
fn each_launch_has_its_own_report_which_starts_at_zero() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let lanes = |n| launch(&module, "report_l1", 1, n, Vec::new());
    for _ in 0..2 {
        let reports = device.run_all(&[lanes(5), lanes(300), lanes(1)]).unwrap();
        let counts: Vec<_> = reports.iter().map(|report| report.words[0]).collect();
        assert_eq!(counts, [5, 300, 1]);
    }
}

#[test]
fn impossible_shapes_and_sizes_are_refused_and_nothing_runs() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let good = || launch(&module, "increment_l1", 1, 1, vec![count.arg()]);
    for (blocks, lanes) in [(0, 1), (1, 0), (1, 1025), (u32::MAX, 1), (1 << 26, 256)] {
        let bad = launch(&module, "increment_l1", blocks, lanes, vec![count.arg()]);
        let refused = device.run_all(&[good(), bad]);
        assert!(
            matches!(refused, Err(DeviceError::BadLaunch { .. })),
            "{blocks} {lanes}: {refused:?}"
        );
    }
    assert_eq!(count.to_vec().unwrap(), [0]);

    let all = device.info().memory_bytes;
    assert!(matches!(
        device.alloc(all + 4),
        Err(DeviceError::TooLarge { .. })
    ));
    let _most = device.alloc(all / 4 * 3).unwrap();
    match device.alloc(all / 4 * 3) {
        Err(DeviceError::OutOfMemory { why, .. }) => assert!(why.contains("are free"), "{why}"),
        other => panic!("{other:?}"),
    }
    good().run().unwrap();
    assert_eq!(count.to_vec().unwrap(), [1]);
}

#[test]
fn kernels_of_another_layout_version_are_refused_by_name() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let refused = launch(&module, "stale_l1", 1, 1, Vec::new()).run();
    assert!(
        matches!(refused, Err(DeviceError::LayoutMismatch { .. })),
        "{refused:?}"
    );
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("`stale_l0`") && text.contains("build the kernels again"),
        "{text}"
    );
}

#[test]
fn texts_that_do_not_compile_say_why() {
    let Some(device) = open() else { return };
    let refusal = |ptx| {
        let image = KernelImage {
            name: "broken",
            ptx,
            spirv: None,
        };
        device.load(&image).unwrap_err().to_string()
    };
    let cases = [
        (
            ".version 6.3\n.target sm_70\n.address_size 64\n.entry a_l1() { nonsense; }\n",
            "compiler says",
        ),
        (
            ".version 6.3\n.target sm_999\n.address_size 64\n",
            "compute capability 99.9",
        ),
        (
            ".version 99.9\n.target sm_70\n.address_size 64\n",
            "PTX version 99.9",
        ),
    ];
    for (ptx, want) in cases {
        let text = refusal(Some(ptx));
        assert!(text.contains("`broken`") && text.contains(want), "{text}");
    }
    let text = refusal(None);
    assert!(text.contains("the feature `cuda`"), "{text}");
    check_that_it_works(&device);
}

#[test]
fn a_kernel_is_compiled_when_it_is_first_needed() {
    let Some(device) = open() else { return };
    // Of the second one nobody knows that it is wrong, until it is needed.
    let text = common::IMAGE.ptx.unwrap().to_owned() + "\n.entry broken_l1() { nonsense; }\n";
    let image = KernelImage {
        name: "half-broken",
        ptx: Some(&text),
        spirv: None,
    };
    let module = device.load(&image).unwrap();
    let loaded = device.load_time();
    let run = || launch(&module, "empty_l1", 1, 1, Vec::new()).run().unwrap();
    run();
    let with_one = device.load_time();
    assert!(with_one > loaded, "{loaded:?} {with_one:?}");
    run();
    module.load_kernel("empty_l1", 1).unwrap();
    assert_eq!(device.load_time(), with_one);
    launch(&module, "increment_l1", 1, 1, Vec::new())
        .load()
        .unwrap();
    assert!(device.load_time() > with_one);
    let refused = module.load_kernel("broken_l1", 1).unwrap_err().to_string();
    assert!(
        refused.contains("`half-broken`") && refused.contains("compiler says"),
        "{refused}"
    );
    let launched = launch(&module, "broken_l1", 1, 1, Vec::new()).run();
    assert_eq!(launched.unwrap_err().to_string(), refused);
    let unknown = module.load_kernel("nobodys_l1", 1).unwrap_err();
    assert!(
        matches!(unknown, DeviceError::LayoutMismatch { .. }),
        "{unknown:?}"
    );
    run();
    check_that_it_works(&device);
}

#[test]
fn a_gpu_that_is_not_there_is_named() {
    let config = CudaConfig {
        device: 99,
        ..CudaConfig::default()
    };
    let text = warpheap_cuda::open_unchecked(&config)
        .unwrap_err()
        .to_string();
    if open().is_some() {
        assert!(text.contains("GPU 99 was asked for"), "{text}");
    }
}
