//! Data: writes, reads, fills, copies, and the memory they need.

use crate::common::streams::Stream;
use crate::common::{kernels, sleep};
use crate::{open, words};
use warpheap_api::host::Work;

#[test]
fn writes_reads_fills_and_copies_touch_their_range_alone() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let stream = Stream::open(&device);
    let (a, b) = (device.alloc(64).unwrap(), device.alloc(64).unwrap());
    stream.fill(&a, 0, 16, 1);
    stream.fill(&a, 8, 2, 2);
    let mut data = [3u8; 8];
    stream.write(&a, 24, &data);
    // The data are the caller's again.
    data.fill(9);
    stream.fill(&b, 0, 16, 4);
    stream.copy((&a, 8), (&b, 12), 24);
    stream.fill(&a, 0, 0, 5);
    stream.write(&a, 0, &[]);
    stream.copy((&a, 0), (&b, 0), 0);
    let three = 0x0303_0303;
    let got = words(&stream.read(a.id(), 0, 64));
    assert_eq!(got[..9], [1, 1, 2, 2, 1, 1, three, three, 1]);
    let got = words(&stream.read(b.id(), 0, 64));
    assert_eq!(got[..10], [4, 4, 4, 2, 2, 1, 1, three, three, 4]);
    assert!(stream.read(a.id(), 64, 0).is_empty());

    let mut bytes = [0; 64];
    // SAFETY: nobody else has this memory.
    unsafe { a.copy(0, &b, 32, 32) }.unwrap();
    b.read(0, &mut bytes).unwrap();
    assert_eq!(words(&bytes)[6..12], [1, three, 1, 1, 2, 2]);
}

#[test]
fn large_copies_go_through_in_parts() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let stream = Stream::open(&device);
    const BYTES: u64 = 150 << 20;
    let buffer = device.alloc(BYTES).unwrap();
    let data: Vec<u8> = (0..BYTES / 4)
        .flat_map(|i| (i as u32).wrapping_mul(2_654_435_761).to_ne_bytes())
        .collect();
    for _ in 0..2 {
        stream.write(&buffer, 0, &data);
        assert!(stream.read(buffer.id(), 0, BYTES) == data);
        stream.fill(&buffer, 0, BYTES / 4, 0);
    }
    // More than may be under way at a time.
    for _ in 0..10 {
        stream.write(&buffer, 0, &data);
    }
    assert!(stream.read(buffer.id(), 4, BYTES - 4) == data[4..]);
}

#[test]
fn many_small_copies_keep_their_data_apart() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
    let stream = Stream::open(&device);
    let buffer = device.alloc(40_000).unwrap();
    stream.launch(&sleep(&module, 50));
    let mut reads = Vec::new();
    for i in 0..2000u32 {
        stream.write(&buffer, i as u64 * 4, &i.to_ne_bytes());
        reads.push(stream.queue(Work::Read {
            buffer: buffer.id(),
            offset: i as u64 * 4,
            bytes: 4,
        }));
    }
    stream.wait(*reads.last().unwrap());
    for (i, read) in reads.into_iter().enumerate() {
        let mut bytes = [0; 4];
        stream.streams.take(read, &mut bytes).unwrap();
        assert_eq!(u32::from_ne_bytes(bytes), i as u32);
    }
}

#[test]
fn a_read_is_taken_once_and_when_it_has_ended() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
    let stream = Stream::open(&device);
    let buffer = device.alloc(16).unwrap();
    stream.fill(&buffer, 0, 4, 6);
    stream.launch(&sleep(&module, 50));
    let read = || {
        stream.queue(Work::Read {
            buffer: buffer.id(),
            offset: 0,
            bytes: 16,
        })
    };
    let (first, second) = (read(), read());
    let mut into = [0; 16];
    assert!(stream.streams.take(first, &mut into).is_err());
    stream.streams.forget(second);
    stream.wait(first);
    assert!(stream.streams.take(first, &mut into[..8]).is_err());
    stream.streams.take(first, &mut into).unwrap();
    assert_eq!(words(&into), [6; 4]);
    for gone in [first, second] {
        assert!(stream.streams.take(gone, &mut into).is_err());
    }
}

#[test]
fn memory_that_is_given_back_while_streams_work_is_there_again() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
    let stream = Stream::open(&device);
    let bytes = device.info().memory_bytes / 4 * 3;
    for _ in 0..3 {
        let Ok(most) = device.alloc(bytes) else {
            eprintln!("SKIPPED: the GPU has no {bytes} bytes free");
            return;
        };
        stream.launch(&sleep(&module, 30));
        drop(most);
    }
}
