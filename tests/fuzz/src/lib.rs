//! What targets of fuzzing do with their bytes: they call what reads such bytes, and hold what comes of it against what has to come of
//! it. libFuzzer calls them with bytes of its own (`fuzz_targets`), a test of the jobs with those that it found (`corpus`).
//!
//! | module | the bytes are |
//! |---|---|
//! | [`graphs`] | a graph file, whole and in parts |
//! | [`tables`] | a CSV table of the join, whole and in parts |
//! | [`sequences`] | a FASTA file, whole and in parts |
//! | [`traces`] | a trace file, or the events of one: its tables, its time line, its replay |
//! | [`manifests`] | a manifest of prebuilt images |
//! | [`spirv`] | a stored SPIR-V module, or the words of one |
//! | [`ptx`] | PTX text |
//! | [`sizes`] | a size on the command line |
//! | [`results`] | results of the lab, figures of other allocators |
//! | [`heaps`] | a program of heap operations for the emulator |
//! | `file`, `dice` | bytes as a file; bytes as small numbers |

mod dice;
mod file;
pub mod graphs;
pub mod heaps;
pub mod manifests;
pub mod ptx;
pub mod results;
pub mod sequences;
pub mod sizes;
pub mod spirv;
pub mod tables;
pub mod traces;

/// What a target does with bytes. It panics if something is wrong.
pub type Target = fn(&[u8]);

/// The targets by name, which is that of their corpus, too.
pub const TARGETS: [(&str, Target); 10] = [
    ("graphs", graphs::run),
    ("tables", tables::run),
    ("sequences", sequences::run),
    ("traces", traces::run),
    ("manifests", manifests::run),
    ("spirv", spirv::run),
    ("ptx", ptx::run),
    ("sizes", sizes::run),
    ("results", results::run),
    ("heaps", heaps::run),
];
