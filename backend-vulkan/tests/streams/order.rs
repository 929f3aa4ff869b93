//! What runs after what.

use crate::common::device;
use crate::work::{
    MIB, failing, fill, lanes, launch, long, numbers, open, queue, read, setting, streams, take,
    taken, try_queue, wait,
};
use std::thread;
use warpheap_api::host::{Mark, Work};

#[test]
fn work_of_a_stream_runs_in_order() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    const LEN: u32 = 1000;
    const BYTES: u64 = LEN as u64 * 4;
    let both = open::<2>(&device);
    let memory = both.map(|_| {
        let (buffer, add) = numbers(&device, &kernels, LEN);
        (buffer, add, device.alloc(BYTES).unwrap())
    });
    let mut reads = Vec::new();
    for round in 0..20 {
        for (&stream, (buffer, add, copy)) in both.iter().zip(&memory) {
            let data = [round as u8; 8];
            let go = |work| queue(&device, stream, &[], work);
            let base = round * 1000 + stream.0 as u32;
            go(fill(buffer.id(), BYTES / 4, base));
            launch(&device, stream, &[], &[add.clone(), add.clone()]);
            go(Work::Copy {
                from: (buffer.id(), 0),
                to: (copy.id(), 0),
                bytes: BYTES,
            });
            // What comes behind a copy changes nothing in it.
            launch(&device, stream, &[], std::slice::from_ref(add));
            go(Work::Write {
                buffer: copy.id(),
                offset: 40,
                data: &data,
            });
            let copied = go(read(copy.id(), BYTES));
            let added = go(read(buffer.id(), BYTES));
            reads.push((round, base, copied, added));
        }
    }
    for (round, base, copied, added) in reads {
        let copied = taken(&device, copied, BYTES);
        let added = taken(&device, added, BYTES);
        for (i, (copied, added)) in (0..).zip(copied.into_iter().zip(added)) {
            let written = u32::from_ne_bytes([round as u8; 4]);
            let want = match i {
                10 | 11 => written,
                _ => base + 2 * (i + 1),
            };
            assert_eq!((copied, added), (want, base + 3 * (i + 1)), "round {round}");
        }
    }
    both.into_iter()
        .for_each(|stream| streams(&device).close(stream));
}

#[test]
fn marks_order_streams() {
    let Some(device) = device() else { return };
    // Large, so that it takes the device some time: who did not wait would be seen where queues are several.
    let bytes = device.info().max_buffer_bytes.min(64 * MIB);
    let [front, back, idle] = open(&device);
    let [slow, copy] = [(); 2].map(|()| device.alloc(bytes).unwrap());
    let mut reads = Vec::new();
    let mut copied = Mark {
        stream: back,
        at: 0,
    };
    for round in 1..=16 {
        let none = Mark {
            stream: idle,
            at: 0,
        };
        let filled = queue(
            &device,
            front,
            &[copied, none],
            fill(slow.id(), bytes / 4, round),
        );
        // The same mark twice, an older one, and one of the stream itself.
        let older = Mark {
            at: filled.at - 1,
            ..filled
        };
        let after = [filled, older, filled, copied];
        let work = Work::Copy {
            from: (slow.id(), 0),
            to: (copy.id(), 0),
            bytes,
        };
        copied = queue(&device, back, &after, work);
        let ends = Work::Read {
            buffer: copy.id(),
            offset: bytes - 64,
            bytes: 64,
        };
        reads.push((round, queue(&device, back, &[], ends)));
    }
    for (round, read) in reads {
        assert_eq!(taken(&device, read, 64), [round; 16]);
    }
}

#[test]
fn thousands_of_pieces_are_queued_in_one_stream() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    const PIECES: u32 = 3000;
    let [stream] = open(&device);
    let (buffer, add) = numbers(&device, &kernels, 64);
    for piece in 1..=PIECES {
        let mark = launch(&device, stream, &[], std::slice::from_ref(&add));
        assert_eq!(mark.at, u64::from(piece));
    }
    let read = queue(&device, stream, &[], read(buffer.id(), 256));
    let found = taken(&device, read, 256);
    assert!((1..).zip(found).all(|(i, found)| found == i * PIECES));
    assert_eq!(lanes(streams(&device).failure(stream)), None);
}

#[test]
fn batches_may_have_any_number_of_launches() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [stream] = open(&device);
    let (buffer, add) = numbers(&device, &kernels, 64);
    let mut sum = 0;
    // None, those of small and large command buffers, and more than a stream has under way.
    for launches in [0, 1, 16, 17, 256, 257, 600, 9000] {
        let batch = vec![add.clone(); launches as usize];
        launch(&device, stream, &[], &batch);
        sum += launches;
        let read = queue(&device, stream, &[], read(buffer.id(), 256));
        let found = taken(&device, read, 256);
        assert!(
            (1..).zip(found).all(|(i, found)| found == i * sum),
            "{launches}"
        );
    }
    // The reports of each command buffer are looked at, in order.
    let mut batch = vec![add; 600];
    batch[300] = failing(&kernels, 3);
    batch[599] = failing(&kernels, 2);
    wait(&device, launch(&device, stream, &[], &batch));
    assert_eq!(lanes(streams(&device).failure(stream)), Some(40));
}

#[test]
fn threads_have_streams_of_their_own_and_share_one() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    const ROUNDS: u32 = 200;
    let [shared] = open(&device);
    let (counted, count) = numbers(&device, &kernels, 64);
    let work = |seed: u32| {
        let [own] = open(&device);
        let (buffer, add) = numbers(&device, &kernels, 64);
        for round in 0..ROUNDS {
            let base = seed + round;
            queue(&device, own, &[], fill(buffer.id(), 64, base));
            let added = launch(&device, own, &[], std::slice::from_ref(&add));
            launch(&device, shared, &[added], std::slice::from_ref(&count));
            let read = queue(&device, own, &[], read(buffer.id(), 256));
            let found = taken(&device, read, 256);
            assert!((1..).zip(found).all(|(i, found)| found == base + i));
        }
        streams(&device).close(own);
    };
    thread::scope(|scope| {
        scope.spawn(|| work(0));
        scope.spawn(|| work(1_000_000));
    });
    let read = queue(&device, shared, &[], read(counted.id(), 256));
    let found = taken(&device, read, 256);
    assert!((1..).zip(found).all(|(i, found)| found == 2 * ROUNDS * i));
}

#[test]
fn launches_that_keep_pace_run_all_the_same() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [stream] = open(&device);
    let (buffer, add) = numbers(&device, &kernels, 64);
    device.keep_pace(true);
    for _ in 0..3 {
        launch(&device, stream, &[], std::slice::from_ref(&add));
    }
    let read = queue(&device, stream, &[], read(buffer.id(), 256));
    let found = taken(&device, read, 256);
    assert!((1..).zip(found).all(|(i, found)| found == 3 * i));
}

#[test]
fn streams_that_are_gone_have_done_all() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let all = streams(&device);
    let (buffer, add) = numbers(&device, &kernels, 64);
    let [behind] = open(&device);
    for round in 0..100 {
        let [stream] = open(&device);
        let mark = launch(&device, stream, &[], std::slice::from_ref(&add));
        // Behind work that takes longer than the stream is there.
        if round % 10 == 0 {
            launch(&device, behind, &[], &[long(&device, &kernels)]);
        }
        let after = queue(&device, behind, &[mark], Work::Stamp);
        all.forget(after);
        // Nobody takes it.
        let read = queue(&device, stream, &[], read(buffer.id(), 256));
        wait(&device, read);
        all.close(stream);
        all.close(stream);
        all.wait(read).unwrap();
        assert_eq!(all.reached(stream).unwrap(), u64::MAX);
        assert!(all.failure(stream).is_none());
        assert!(take(&device, read, 256).is_err());
        assert!(try_queue(&device, stream, &[], Work::Stamp).is_err());
        queue(&device, behind, &[mark, read], fill(buffer.id(), 0, 0));
    }
    let read = queue(&device, behind, &[], read(buffer.id(), 256));
    assert!(
        (1..)
            .zip(taken(&device, read, 256))
            .all(|(i, found)| found == 100 * i)
    );
}

#[test]
fn a_stream_that_is_closed_too_early_runs_on() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let (buffer, add) = numbers(&device, &kernels, 64);
    let [stream, next] = open(&device);
    launch(&device, stream, &[], &[long(&device, &kernels)]);
    launch(&device, stream, &[], &[add]);
    let mark = queue(&device, stream, &[], Work::Stamp);
    let last = queue(&device, next, &[mark], fill(buffer.id(), 0, 0));
    streams(&device).close(stream);
    wait(&device, last);
    let mut back = vec![0; 4];
    buffer.read(0, &mut back).unwrap();
    assert_eq!(back, 1u32.to_ne_bytes());
    // Its device ends while another one runs.
    let [stream] = open(&device);
    launch(&device, stream, &[], &[long(&device, &kernels)]);
    streams(&device).close(stream);
}
