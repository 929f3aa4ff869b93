//! The jobs of the command line, for any program: what each is asked for, how it runs with one allocator or with all, and
//! what is reported. Every answer of a device is held against the CPU's.
//!
//! Their kernels are the crate `warpheap-applications`, beside which this one lies. It compiles for hosts alone, so no
//! change here makes an image stale. It prints nothing and parses no options: the crate `warpheap-cli` does, with types
//! from here, whose defaults are those of the options. Messages call a setting by its option, as in `--pool`.
//!
//! ```
//! use warpheap_jobs::{allocators, device, kmer, progress::Silent};
//!
//! let device = device::open(Some("host"), None)?;
//! let chosen = allocators::named(&[], &kmer::all(), allocators::DEFAULT)?;
//! let asked = kmer::Options {
//!     input: kmer::Input::Reads { bases: 2000, seed: 1 },
//!     ..kmer::Options::default()
//! };
//! let report = kmer::run(&device, &chosen, &asked, &Silent)?;
//! assert_eq!(report.input.bases, 2000);
//! # Ok::<(), warpheap_jobs::error::JobError>(())
//! ```
//!
//! Each module uses only modules of lines above its own.
//!
//! | module | what |
//! |---|---|
//! | [`error`], [`progress`] | what can fail; how a run tells how far it is |
//! | [`allocators`], [`device`], [`pool`] | what users name; the device of a report; how large a heap is |
//! | [`trace`] | files of traces of heaps, and what they tell |
//! | [`graph`] | a graph built inside kernels that allocate, and one that changes |
//! | [`join`] | a hash join that writes its matches into pages of the heap |
//! | [`kmer`] | the k-mers of DNA sequences, counted in a hash map |
//! | [`Exchanged`] | where the time of an exchange between ranks went, in the reports of the three |
//! | [`scale`] | what hundreds of ranks would do: work shared out as the jobs do it, times by a model |

pub mod allocators;
mod clock;
pub mod device;
pub mod error;
pub mod graph;
mod hexadecimal;
pub mod join;
pub mod kmer;
pub mod pool;
pub mod progress;
mod ranks;
mod room;
pub mod scale;
mod seconds;
mod sums;
mod text;
mod threads;
pub mod trace;

pub use ranks::exchanged::Exchanged;
