//! Worlds of several ranks: each test starts itself under `mpirun`, on the host backend.
#![cfg(feature = "mpi")]

mod started;

use started::{case, ranks};
use std::time::Duration;
use warpheap::{Device, DeviceVec};
use warpheap_dist::{Op, World};

/// The device of a rank: an emulator, unless `WARPHEAP_BACKEND` says otherwise. With `cuda`, on a machine that has a GPU for each rank
/// and NCCL, vectors go by that.
fn device(world: &World) -> Device {
    let backend = std::env::var("WARPHEAP_BACKEND").ok();
    let backend = backend.as_deref().unwrap_or("host");
    let device = world.open_device(Some(backend), None).unwrap();
    let carrier = world.carrier(&device).unwrap();
    match backend {
        "host" => assert!(carrier.to_string().contains("no CUDA device"), "{carrier}"),
        _ => println!("by {carrier}"),
    }
    device
}

/// What rank `from` sends to rank `to`: nothing to the rank behind it and to rank 0, a length of its own to each other.
fn part(from: usize, to: usize, size: usize) -> Vec<u64> {
    let length = match to {
        0 => 0,
        _ if to == (from + 1) % size => 0,
        _ => 1000 * from + 7 * to + 1,
    };
    (0..length)
        .map(|i| (from << 40 | to << 32 | i) as u64)
        .collect()
}

fn all_to_all(world: &World) {
    let size = world.size();
    let parts: Vec<Vec<u64>> = (0..size).map(|to| part(world.rank(), to, size)).collect();
    let expected: Vec<_> = (0..size)
        .map(|from| part(from, world.rank(), size))
        .collect();
    assert_eq!(world.exchange(&parts).unwrap(), expected);
    let bytes = |to: usize| {
        if to == world.rank() {
            0
        } else {
            8 * parts[to].len() as u64
        }
    };
    assert_eq!(world.bytes_sent(), (0..size).map(bytes).sum::<u64>());

    let device = device(world);
    // The vector may be longer than the parts.
    let all = [parts.concat(), vec![7; 3]].concat();
    let all = DeviceVec::from_slice(&device, &all).unwrap();
    let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
    let before = world.bytes_sent();
    let received = world.exchange_ranges(&device, &all, &lengths).unwrap();
    assert_eq!(received.to_vec().unwrap(), expected.concat());
    assert_eq!(world.bytes_sent(), 2 * before);

    let upload = |part: &Vec<u64>| DeviceVec::from_slice(&device, part).unwrap();
    let parts: Vec<_> = parts.iter().map(upload).collect();
    let received = world.exchange_vecs(&device, &parts).unwrap();
    let received: Vec<_> = received.iter().map(|part| part.to_vec().unwrap()).collect();
    assert_eq!(received, expected);
}

/// What a rank has of what all bring together: nothing every third one, a length of its own each other.
fn share(rank: usize) -> Vec<u32> {
    let length = if rank % 3 == 1 { 0 } else { 700 * rank + 13 };
    (0..length).map(|i| (rank << 24 | i) as u32).collect()
}

fn all_on_all(world: &World) {
    let mine = share(world.rank());
    let expected: Vec<u32> = (0..world.size()).flat_map(share).collect();
    let mut all = vec![0; expected.len()];
    world.all_gather_slices(&mine, &mut all).unwrap();
    assert_eq!(all, expected);
    let others = world.size() as u64 - 1;
    assert_eq!(world.bytes_sent(), 4 * mine.len() as u64 * others);

    let device = device(world);
    let part = DeviceVec::from_slice(&device, &mine).unwrap();
    let mut all = DeviceVec::zeroed(&device, expected.len()).unwrap();
    let before = world.bytes_sent();
    world.all_gather(&device, &part, &mut all).unwrap();
    assert_eq!(all.to_vec().unwrap(), expected);
    let sent = before + 4 * mine.len() as u64 * others;
    assert_eq!(world.bytes_sent(), sent);

    // Nobody has anything.
    world.all_gather_slices::<u64>(&[], &mut []).unwrap();

    // One vector is longer than all parts; each rank is told, also those whose vectors fit.
    let length = expected.len() + usize::from(world.rank() == 0);
    let error = world.all_gather_slices(&mine, &mut vec![0; length]);
    let message = error.unwrap_err().to_string();
    let bytes = 4 * expected.len();
    let told = format!(
        "parts of {bytes} bytes together, in vectors of {bytes} to {} bytes",
        bytes + 4
    );
    assert!(message.contains(&told), "{message}");
    let mut all = DeviceVec::zeroed(&device, expected.len() - 1).unwrap();
    assert!(world.all_gather(&device, &part, &mut all).is_err());
    assert_eq!(world.bytes_sent(), sent);
}

fn numbers(world: &World) {
    let rank = world.rank() as u64;
    // More than go in one call.
    let mine: Vec<u64> = (0..100_000).map(|i| rank * 10 + i).collect();
    let (mut sum, mut least, mut most) = (mine.clone(), mine.clone(), mine.clone());
    world.reduce(Op::Sum, &mut sum).unwrap();
    world.reduce(Op::Min, &mut least).unwrap();
    world.reduce(Op::Max, &mut most).unwrap();
    let size = world.size() as u64;
    for i in [0, 65_535, 65_536, 99_999] {
        let at = i as usize;
        assert_eq!(sum[at], size * (size - 1) / 2 * 10 + size * i);
        assert_eq!((least[at], most[at]), (i, (size - 1) * 10 + i));
    }
    let lengths = world.reduce(Op::Sum, &mut mine[..3 + world.rank()].to_vec());
    let message = lengths.unwrap_err().to_string();
    assert!(message.contains(&format!("3 to {}", size + 2)), "{message}");

    let gathered = world.gather(&vec![rank as u8; world.rank()]).unwrap();
    let expected = (0..world.size()).map(|from| vec![from as u8; from]);
    match rank {
        0 => assert_eq!(gathered, expected.collect::<Vec<_>>()),
        _ => assert!(gathered.is_empty()),
    }
}

/// Rank 1 does what `fails` says, and all others wait for it.
fn one_fails(world: &World, fails: impl FnOnce()) {
    if world.rank() == 1 {
        fails();
    } else {
        let _ = world.reduce(Op::Sum, &mut [1]);
        eprintln!("nobody waited for rank 1");
    }
}

/// What the ranks of each test do.
#[test]
fn of_a_rank() {
    let Some(case) = case() else {
        return;
    };
    let mut world = World::join().unwrap();
    assert!(World::join().is_err(), "there are two worlds");
    match &case[..] {
        "all to all" => all_to_all(&world),
        "in rounds" => {
            // Less than an element, and pieces of them.
            world.set_round_bytes(7 * world.size());
            all_to_all(&world);
        }
        "all on all" => all_on_all(&world),
        "all on all in rounds" => {
            world.set_round_bytes(7 * world.size());
            all_on_all(&world);
        }
        "numbers" => numbers(&world),
        "fails" => one_fails(&world, || world.fail_with(7, &"the disk is full")),
        "panics" => one_fails(&world, || panic!("this was not foreseen")),
        "returns" if world.rank() == 1 => return,
        "returns" => one_fails(&world, || {}),
        "different parts" => {
            let parts = vec![vec![0u8; 3]; world.size()];
            let outcome = match world.rank() {
                1 => world.exchange(&parts).map(drop),
                _ => world.exchange(&vec![[1u32]; world.size()]).map(drop),
            };
            if let Err(error) = outcome {
                world.fail(&error);
            }
        }
        "agree" => {
            assert_eq!(world.agree(Ok::<_, String>(world.rank())), Ok(world.rank()));
            let outcome = match world.rank() {
                0 => Ok(()),
                rank => Err(format!("file {rank} is bad")),
            };
            if let Err(error) = world.agree(outcome) {
                // Slow enough for the other to say something if it could.
                std::thread::sleep(Duration::from_millis(300));
                world.fail_with(2, &error);
            }
        }
        other => panic!("there is no case {other}"),
    }
    println!("rank {} of {} is through", world.rank(), world.size());
    world.leave();
}

/// All ranks of a case end well.
fn ends_well(case: &str, number: usize) {
    let Some(outcome) = ranks(case, number) else {
        return;
    };
    assert_eq!(outcome.code, Some(0), "{outcome}");
    for rank in 0..number {
        let line = format!("rank {rank} of {number} is through");
        assert!(outcome.out.contains(&line), "{outcome}");
    }
}

#[test]
fn parts_of_any_length_arrive() {
    for number in [2, 3, 4] {
        ends_well("all to all", number);
    }
    ends_well("in rounds", 3);
}

#[test]
fn parts_of_any_length_are_brought_together() {
    for number in [2, 3, 4] {
        ends_well("all on all", number);
    }
    ends_well("all on all in rounds", 3);
}

#[test]
fn numbers_are_reduced_and_gathered() {
    for number in [2, 3] {
        ends_well("numbers", number);
    }
}

/// The job ends with this code, and one line says this of rank 1.
fn ends_by_rank_1(case: &str, code: i32, cause: &str) {
    let Some(outcome) = ranks(case, 3) else {
        return;
    };
    assert_eq!(outcome.code, Some(code), "{outcome}");
    let errors: Vec<_> = outcome
        .err
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 1, "{outcome}");
    assert!(
        errors[0].contains("rank 1 of 3") && errors[0].ends_with(cause),
        "{outcome}"
    );
    assert!(!outcome.err.contains("nobody waited"), "{outcome}");
    assert!(!outcome.out.contains("is through"), "{outcome}");
}

#[test]
fn a_rank_that_fails_ends_all() {
    ends_by_rank_1("fails", 7, "the disk is full");
    ends_by_rank_1("panics", 1, "it panicked, with the message above");
    ends_by_rank_1(
        "returns",
        1,
        "it gave up its world before the job was done: an error or an early return",
    );
}

#[test]
fn what_several_find_is_told_by_the_first() {
    ends_by_rank_1("agree", 2, "file 1 is bad");
}

#[test]
fn parts_of_other_types_end_all() {
    let Some(outcome) = ranks("different parts", 2) else {
        return;
    };
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(
        outcome
            .err
            .contains("which are no whole number of elements of 4 bytes"),
        "{outcome}"
    );
}
