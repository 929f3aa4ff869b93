//! What a process is that nobody started as one of several, with MPI and without.

use warpheap::DeviceVec;
use warpheap_dist::{DistError, Op, World};

#[test]
fn a_world_of_one_has_all_calls() {
    let world = World::join().unwrap();
    assert_eq!((world.rank(), world.local_rank(), world.size()), (0, 0, 1));
    assert_eq!(world.exchange(&[[3u8, 1]]).unwrap(), [[3, 1]]);
    assert_eq!(world.gather(&[7u64]).unwrap(), [[7]]);
    let mut numbers = [5, 9];
    world.reduce(Op::Sum, &mut numbers).unwrap();
    assert_eq!(numbers, [5, 9]);
    assert_eq!(world.agree(Err::<(), _>("no")), Err("no"));

    let device = world.open_device(Some("host"), None).unwrap();
    let part = DeviceVec::from_slice(&device, &[1u32, 2, 3]).unwrap();
    let parts = world.exchange_vecs(&device, &[part]).unwrap();
    assert_eq!(parts[0].to_vec().unwrap(), [1, 2, 3]);
    let [part] = <[_; 1]>::try_from(parts).unwrap();
    let some = world.exchange_ranges(&device, &part, &[2]).unwrap();
    assert_eq!(some.to_vec().unwrap(), [1, 2]);
    let more = world.exchange_ranges(&device, &part, &[4]);
    let message = more.unwrap_err().to_string();
    assert!(message.contains("4 elements") && message.contains("of 3"));
    let mine = DeviceVec::from_slice(&device, &[4u32, 5]).unwrap();
    let mut all = DeviceVec::zeroed(&device, 2).unwrap();
    world.all_gather(&device, &mine, &mut all).unwrap();
    assert_eq!(all.to_vec().unwrap(), [4, 5]);
    let mut all = [0u64; 3];
    let short = world.all_gather_slices(&[1], &mut all);
    assert!(matches!(
        short,
        Err(DistError::Gathered {
            parts: 8,
            most: 24,
            ..
        })
    ));
    world.all_gather_slices(&[1, 2, 3], &mut all).unwrap();
    assert_eq!((all, world.bytes_sent()), ([1, 2, 3], 0));

    let two = world.exchange(&[[1u32], [2]]);
    assert!(matches!(two, Err(DistError::Parts { got: 2, size: 1 })));
    world.leave();
}

/// Started as one of several, by the next test.
#[cfg(not(feature = "mpi"))]
#[test]
fn started_by_a_launcher() {
    if std::env::var_os("OMPI_COMM_WORLD_RANK").is_some() {
        let code = warpheap_dist::run(|_| Ok::<(), DistError>(()));
        assert_eq!(code, std::process::ExitCode::SUCCESS);
    }
}

#[cfg(not(feature = "mpi"))]
#[test]
fn one_of_several_without_mpi_says_what_it_lacks() {
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "started_by_a_launcher", "--nocapture"]);
    program.envs([("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "3")]);
    let output = program.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let message = "error: this is process 1 of 3, and the program was built without MPI";
    assert!(!output.status.success() && said.contains(message), "{said}");
}
