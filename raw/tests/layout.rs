//! Layouts are what a pool of the library's own is made of.
#![cfg(feature = "host")]

use warpheap_api::host::{Device, DeviceError, HostAlloc, Pool};
use warpheap_host::HostConfig;
use warpheap_raw::host::{Layout, LayoutError, PlanError, Usage, UsageError, WarpHeapConfig};
use warpheap_raw::*;

const BYTES: u64 = 4 << 20;

/// Where a heap may begin.
const PLACE: u64 = 0x7f12_3456_0000;

fn device() -> Device {
    warpheap_host::open(HostConfig::default()).expect("settings are in range")
}

/// The words of a fresh pool, by the library's own host.
fn pool_words<A: HostAlloc<Memory = Words>>(
    device: &Device,
) -> Result<(Vec<u32>, [u32; 8]), DeviceError> {
    let pool = Pool::<A>::new(device, BYTES, &A::Config::default())?;
    let mut bytes = vec![0; BYTES as usize];
    pool.raw().buffer.read(0, &mut bytes)?;
    let words = bytes
        .chunks_exact(4)
        .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
    Ok((words.collect(), pool.raw().params()))
}

fn same_as_a_pool<A: HostAlloc<Memory = Words>>(device: &Device) {
    let (words, params) = pool_words::<A>(device).expect("there is room");
    let layout = Layout::<A>::of(BYTES).expect("there is room");
    // What is the same over two kinds of garbage was set.
    let laid_out = [0x5555_5555, 0xaaaa_aaaa].map(|garbage| {
        let mut memory = vec![garbage; words.len()];
        layout.set(&mut memory);
        memory
    });
    let mut set = 0;
    for (at, word) in words.iter().enumerate() {
        if laid_out[0][at] == laid_out[1][at] {
            assert_eq!(laid_out[0][at], *word, "word {at} of {}", A::NAME);
            set += 1;
        } else {
            assert_eq!(
                laid_out.each_ref().map(|memory| memory[at]),
                [0x5555_5555, 0xaaaa_aaaa]
            );
        }
    }
    assert!(set >= warpheap_api::header::HEADER_WORDS, "{}", A::NAME);
    let heap = layout.heap(PLACE).expect("a good place");
    let mut bytes = Vec::new();
    bytes.extend(PLACE.to_le_bytes());
    bytes.extend((BYTES / 4).to_le_bytes());
    bytes.extend(params.iter().flat_map(|word| word.to_le_bytes()));
    let all = heap.to_bytes();
    let (told, tag) = all.split_at(bytes.len());
    assert_eq!(told, bytes, "{}", A::NAME);
    assert!(tag[..4] != [0; 4] && tag[4..] == [0; 4], "{}", A::NAME);
    let read = |offset: u64, to: &mut [u32]| {
        to.copy_from_slice(&laid_out[0][offset as usize / 4..][..to.len()]);
        Ok::<(), ()>(())
    };
    let usage = layout.usage(read).expect("it is a heap");
    assert_eq!(usage.used_bytes, 0, "{}", A::NAME);
}

#[test]
fn every_allocator_is_laid_out_as_in_a_pool() {
    let device = device();
    macro_rules! each {
        ($($allocator:ident),*) => {
            $(same_as_a_pool::<$allocator>(&device);)*
            same_as_a_pool::<Counted<WarpHeap>>(&device);
            same_as_a_pool::<FdgMalloc<WarpHeap>>(&device);
        };
    }
    warpheap_rt::for_each_allocator!(each);
    // A part of CUDA, so the emulator has no pool of it.
    assert!(Layout::<CudaMalloc>::of(BYTES).is_ok());
}

#[test]
fn bad_sizes_and_places_are_told() {
    let small = Layout::<WarpHeap>::of(100).expect_err("too small");
    assert!(
        matches!(small, LayoutError::Plan(PlanError::TooSmall { .. })),
        "{small}"
    );
    let large = Layout::<WarpHeap>::of(65 << 30).expect_err("too large");
    assert!(
        matches!(large, LayoutError::Plan(PlanError::TooLarge { .. })),
        "{large}"
    );
    let layout = Layout::<WarpHeap>::of(BYTES + 15).expect("room");
    assert_eq!(layout.bytes(), BYTES);
    for address in [0, 16, PLACE + 256] {
        let error = layout.heap(address).expect_err("a bad place").to_string();
        assert!(
            error.contains(&format!("{address:#x}")) && error.contains("65536"),
            "{error}"
        );
    }
    let last = u64::MAX - 0xffff;
    assert_eq!(
        layout.heap(last),
        Err(LayoutError::Beyond {
            address: last,
            bytes: BYTES
        })
    );
}

#[test]
fn pools_refuse_what_layouts_refuse() {
    let device = device();
    for bytes in [0, 15, 100, 5000, 64 << 30, 65 << 30, u64::MAX] {
        let of_layout = Layout::<WarpHeap>::of(bytes).expect_err("a bad size");
        let of_pool = Pool::<WarpHeap>::new(&device, bytes, &WarpHeapConfig::default());
        let of_pool = of_pool.expect_err("a bad size");
        assert_eq!(of_layout.to_string(), of_pool.to_string());
    }
    let of_cuda = Pool::<CudaMalloc>::new(&device, BYTES, &()).expect_err("no CUDA");
    assert!(
        matches!(of_cuda, DeviceError::Plan(PlanError::OnlyOn { .. })),
        "{of_cuda}"
    );
}

#[test]
fn what_cannot_be_read_and_what_is_no_heap_is_told() {
    let layout = Layout::<WarpHeap>::of(BYTES).expect("room");
    let error: Result<Usage, _> = layout.usage(|_, _| Err("no device"));
    assert_eq!(error, Err(UsageError::Read("no device")));
    let zero = |_: u64, words: &mut [u32]| {
        words.fill(0);
        Ok::<(), ()>(())
    };
    assert_eq!(
        layout.usage(zero),
        Err(UsageError::NoHeap {
            allocator: "WarpHeap"
        })
    );
}

#[test]
fn memory_that_is_too_short_is_set_as_far_as_it_goes() {
    let layout = Layout::<WarpHeap>::of(BYTES).expect("room");
    let mut short = [7; 5];
    layout.set(&mut short);
    assert_eq!(short[0], warpheap_api::header::MAGIC);
    layout.set(&mut []);
}
