//! One job in several processes: which rank this one is, the device it works on, and what the ranks send each other.
//!
//! MPI carries everything, by the crate `mpi` and the feature `mpi`; `mpirun` or a batch system starts the processes. Without the
//! feature, or in a process that nobody started as one of several, a [`World`] has one rank and all calls work: a program is the
//! same on a laptop and on a cluster.
//!
//! ```
//! use warpheap_dist::{DistError, Op, World, run};
//!
//! fn job(world: &World) -> Result<(), DistError> {
//!     let device = world.open_device(None, None)?;
//!     // A part for each rank, of any length: what another rank is to have.
//!     let parts: Vec<Vec<u32>> = (0..world.size()).map(|to| vec![to as u32; to]).collect();
//!     let received = world.exchange(&parts)?;
//!     assert!(received.iter().all(|part| part.len() == world.rank()));
//!     let mut sums = [device.info().warp_width.into(), 1];
//!     world.reduce(Op::Sum, &mut sums)?;
//!     assert_eq!(sums[1], world.size() as u64);
//!     Ok(())
//! }
//!
//! # let code =
//! run(job);
//! # assert_eq!(code, std::process::ExitCode::SUCCESS);
//! ```
//!
//! # Calls of all ranks
//!
//! [`exchange`](World::exchange), [`exchange_vecs`](World::exchange_vecs), [`exchange_ranges`](World::exchange_ranges),
//! [`all_gather`](World::all_gather), [`all_gather_slices`](World::all_gather_slices), [`reduce`](World::reduce), [`gather`](World::gather), [`agree`](World::agree) and
//! [`leave`](World::leave) are made by every rank, in the same order, with elements of the same type.
//!
//! # A rank that fails
//!
//! It ends the job on all ranks, so that none waits for it: by [`World::fail`], by an error that it returns to [`run`], by a panic,
//! and when its world is dropped without [`leave`](World::leave). One line on standard error names the rank and the cause.
//! What MPI itself finds wrong ends the job with MPI's own message.
//!
//! # Building with the feature `mpi`
//!
//! It takes an MPI library with `mpicc`, and libclang. Debian: `apt-get install openmpi-bin libopenmpi-dev libclang-dev`. Without
//! `mpicc` the build script of `mpi-sys` fails *to find an MPI library for various reasons*; without libclang with *Unable to find libclang*.
//!
//! | module | what |
//! |---|---|
//! | `error` | what can fail |
//! | `link`, `launched` | what connects the ranks; whether somebody started several |
//! | `world` | [`World`]: joining, leaving, failing |
//! | `run` | [`run`]: a whole program |
//! | `device` | the device of a rank |
//! | `bytes` | elements as bytes |
//! | `exchange`, `all_gather`, `reduce` | what ranks send each other |
//! | `carrier`, `nccl` | what carries vectors on devices; from GPU to GPU |

mod all_gather;
mod bytes;
mod carrier;
mod device;
mod error;
mod exchange;
mod launched;
mod link;
#[cfg(feature = "mpi")]
mod nccl;
mod reduce;
mod run;
mod world;

pub use carrier::Carrier;
pub use error::DistError;
pub use launched::one_of_several;
pub use reduce::Op;
pub use run::run;
pub use world::World;
