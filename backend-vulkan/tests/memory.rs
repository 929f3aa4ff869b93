//! Buffers: allocated, written, read, filled, refused.

mod common;

use common::device;
use std::sync::Arc;
use warpheap_api::host::{BufferId, DeviceError, DeviceVec};

fn bytes(len: usize, seed: u8) -> Vec<u8> {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(31) ^ seed ^ (i >> 8) as u8)
        .collect()
}

#[test]
fn what_is_written_is_read_in_every_size_and_place() {
    let Some(device) = device() else { return };
    // Around the size of a staging buffer, and several of them.
    let stage = common::config().staging_bytes as usize;
    let room = 3 * stage + 64;
    let buffer = device.alloc(room as u64).unwrap();
    for (offset, len) in [
        (0, 4),
        (4, 400),
        (0, stage),
        (8, stage + 4),
        (12, 3 * stage + 4),
    ] {
        let data = bytes(len, offset as u8);
        // SAFETY: nobody else has this memory.
        unsafe { buffer.write(offset, &data) }.unwrap();
        let mut back = vec![0; len];
        buffer.read(offset, &mut back).unwrap();
        assert!(data == back, "{len} bytes at {offset}");
    }
}

#[test]
fn a_write_and_a_fill_change_their_range_alone() {
    let Some(device) = device() else { return };
    let buffer = device.alloc(1 << 20).unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.fill(0, 1 << 18, 0x1122_3344) }.unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.fill(400, 100, 0xaabb_ccdd) }.unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.write(8, &[9; 4]) }.unwrap();
    let mut back = vec![0; 1 << 20];
    buffer.read(0, &mut back).unwrap();
    for (i, word) in back.chunks_exact(4).enumerate() {
        let want = match i {
            2 => [9; 4],
            100..200 => 0xaabb_ccddu32.to_le_bytes(),
            _ => 0x1122_3344u32.to_le_bytes(),
        };
        assert_eq!(word, want, "word {i}");
    }
}

#[test]
fn nothing_to_do_is_no_error() {
    let Some(device) = device() else { return };
    let buffer = device.alloc(64).unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.write(64, &[]) }.unwrap();
    buffer.read(0, &mut []).unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.fill(64, 0, 1) }.unwrap();
}

#[test]
fn ranges_outside_a_buffer_are_refused() {
    let Some(device) = device() else { return };
    let backend: Arc<_> = device.backend().clone();
    let id = backend.alloc(64).unwrap();
    let out = |result: Result<(), DeviceError>| {
        let error = result.unwrap_err();
        assert!(matches!(error, DeviceError::OutOfRange { .. }), "{error}");
    };
    out(backend.write(id, 64, &[0; 4]));
    for refused in [backend.write(id, 2, &[0; 4]), backend.write(id, 0, &[0; 3])] {
        let error = refused.unwrap_err();
        assert!(
            matches!(error, DeviceError::Misaligned { of: 4, .. }),
            "{error}"
        );
    }
    out(backend.read(id, u64::MAX - 3, &mut [0; 4]));
    out(backend.fill(id, 0, u64::MAX, 0));
    backend.dealloc(id);
    out(backend.write(id, 0, &[0; 4]));
    // Unknown by now: ignored.
    backend.dealloc(id);
    backend.dealloc(BufferId(u64::MAX));
}

#[test]
fn a_buffer_beyond_the_limit_is_refused_with_the_limit() {
    let Some(device) = device() else { return };
    let most = device.info().max_buffer_bytes;
    match device.alloc(most + 4).unwrap_err() {
        DeviceError::TooLarge { limit, bytes, .. } => {
            assert_eq!((limit, bytes), (most, most + 4));
        }
        other => panic!("{other}"),
    }
    let absurd = device.alloc(u64::MAX / 2).unwrap_err().to_string();
    assert!(absurd.contains(&device.info().name), "{absurd}");
}

#[test]
fn memory_comes_back() {
    let Some(device) = device() else { return };
    // More in all than a device has.
    let info = device.info();
    let each = info.max_buffer_bytes.min(info.memory_bytes / 8 / 4 * 4);
    for _ in 0..info.memory_bytes / each + 2 {
        device.alloc(each).unwrap();
    }
}

#[test]
fn elements_are_copied_from_device_to_device() {
    let (Some(one), Some(other)) = (device(), device()) else {
        return;
    };
    // More than goes by way of the host at once, and bytes that are no whole words.
    let data = bytes((9 << 20) + 3, 5);
    let here = DeviceVec::from_slice(&one, &data).unwrap();
    let mut there = DeviceVec::filled(&other, data.len() + 2, 1u8).unwrap();
    there.copy_range_from_vec(1, &here, 0..data.len()).unwrap();
    let mut back = DeviceVec::<u8>::zeroed(&one, data.len()).unwrap();
    let range = 1..data.len() + 1;
    back.copy_range_from_vec(0, &there, range.clone()).unwrap();
    assert!(back.to_vec().unwrap() == data);
    let there = there.to_vec().unwrap();
    assert!(there[range] == data && there[0] == 1 && there.last() == Some(&1));
    let stream = other.stream().unwrap();
    let refused = stream.read(&here).map(drop);
    assert!(
        matches!(refused, Err(DeviceError::OtherDevice { .. })),
        "{refused:?}"
    );
}
