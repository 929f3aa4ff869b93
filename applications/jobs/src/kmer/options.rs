//! What is asked for.

use crate::error::{JobError, within};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use warpheap_applications::kmer::LARGEST_K;

/// The most bases: the bits of a base have 32-bit numbers, and the kernel looks a few words ahead.
pub const MOST_BASES: u32 = u32::MAX - 64;

/// Sequences, and how their k-mers are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The sequences.
    pub input: Input,
    /// Bases of a k-mer, one of [`KS`](Self::KS).
    pub k: u32,
    /// Whether a k-mer and its reverse complement are one.
    pub canonical: bool,
    /// Places of the sequences that one launch looks at, one of [`BATCHES`](Self::BATCHES).
    pub batch: u32,
    /// How many of the most frequent k-mers are reported.
    pub top: usize,
    /// Bytes of the pool; what the k-mers need if none are given.
    pub pool: Option<u64>,
    /// Whether the counts are held against the CPU's.
    pub checked: bool,
}

/// Where sequences are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// They are read from a FASTA file; `-` is standard input.
    File(PathBuf),
    /// They are reads of a random genome.
    Reads {
        /// Bases of all, from 1 to [`MOST_BASES`].
        bases: u32,
        /// Reads with different seeds are different.
        seed: u64,
    },
}

impl Input {
    /// Bases that are generated when nobody says how many.
    pub const BASES: u32 = 1 << 20;
    /// The seed when nobody says which.
    pub const SEED: u64 = 1;
}

impl Default for Input {
    fn default() -> Self {
        Input::Reads {
            bases: Self::BASES,
            seed: Self::SEED,
        }
    }
}

impl Options {
    /// How many bases a k-mer may have.
    pub const KS: RangeInclusive<u32> = 1..=LARGEST_K;
    /// How many places a launch may look at.
    pub const BATCHES: RangeInclusive<u32> = 1..=1 << 24;
    /// Bases of a k-mer when nobody says how many.
    pub const K: u32 = 21;
    /// Places of a launch when nobody says how many.
    pub const BATCH: u32 = 1 << 20;
    /// Frequent k-mers that are reported when nobody says how many.
    pub const TOP: usize = 10;

    /// Checks that all is within bounds.
    ///
    /// # Errors
    /// [`JobError::Usage`] for what is not.
    pub(super) fn check(&self) -> Result<(), JobError> {
        within("--k", self.k, Self::KS)?;
        within("--batch", self.batch, Self::BATCHES)?;
        match self.input {
            Input::File(_) => Ok(()),
            Input::Reads { bases, .. } => within("--bases", bases, 1..=MOST_BASES),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            input: Input::default(),
            k: Self::K,
            canonical: false,
            batch: Self::BATCH,
            top: Self::TOP,
            pool: None,
            checked: true,
        }
    }
}
