//! The SIMT emulator: runs device code on CPU threads, lane by lane.
//!
//! A lane is a fiber, a warp is a set of up to 64 of them that switch at collective operations.
//! Two modes: *run* is fast and spreads blocks over OS threads; *explore* runs all lanes on one
//! thread under a seeded scheduler that may switch at every atomic operation, so that a seed which
//! fails replays exactly. In both modes the emulator stops a launch that could not work on a
//! device, with one message that names kernel, block, warp and lanes: a collective that not all of
//! its lanes reach, in a warp or in a block, a deadlock, an access outside a heap, overlapping blocks, a panic.
//!
//! | module | what |
//! |---|---|
//! | `config` | [`HostConfig`], environment variables |
//! | `backend` | [`HostBackend`], [`open`] |
//! | `emulator` | what launches have in common, and how one runs |
//! | `streams`, `opened` | the streams that are open, and how the host calls them |
//! | `stream`, `task` | a queue of work with its thread, and one piece of work |
//! | `kept` | what reads and stamps of streams brought |
//! | `buffers`, `span` | memory of the device, and words of it as the host reads and writes them |
//! | `blocks`, `unwritten` | live blocks of heaps, and what is wrong with a new one; words of them that nobody has written |
//! | `tracked` | what lanes do with blocks, and reads of such words |
//! | `job` | one launch as its workers see it |
//! | `panics` | where a panic came from |
//! | `fiber` | stacks and coroutines |
//! | `collective` | what collective operations compute |
//! | `warp`, `simt`, `describe` | the state of a warp and how its lanes meet, what they call, how it is told |
//! | `workgroup`, `shared` | a block of lanes, what they do all together; memory that they share |
//! | `team` | a warp with its fibers |
//! | `model` | memory that is weaker than the CPU's, and races |
//! | `run`, `explore`, `schedule` | the two modes, and the scheduler of the latter |
//!
//! ```
//! # fn main() -> Result<(), warpheap_api::host::DeviceError> {
//! let device = warpheap_host::open(warpheap_host::HostConfig {
//!     warp_width: 8,
//!     ..Default::default()
//! })?;
//! assert_eq!(device.info().warp_width, 8);
//! # Ok(())
//! # }
//! ```
//!
//! Limits: a lane that loops without any device operation cannot be stopped; a lane that overruns
//! its stack ends the process; programs built with `panic = "abort"` end at the first failure that
//! the emulator finds.

mod backend;
mod blocks;
mod buffers;
mod collective;
mod config;
mod describe;
mod emulator;
mod explore;
mod fiber;
mod job;
mod kept;
mod model;
mod opened;
mod panics;
mod run;
mod schedule;
mod shared;
mod simt;
mod span;
mod stream;
mod streams;
mod task;
mod team;
mod tracked;
mod unwritten;
mod warp;
mod workgroup;

pub use backend::{HostBackend, open};
pub use config::{ConfigError, HostConfig, Mode};
pub use model::{FenceKind, FenceSite};
