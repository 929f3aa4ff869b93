//! The options of `kmer`.

use crate::size;
use clap::Args;
use std::path::PathBuf;
use warpheap_jobs::kmer::{Input, MOST_BASES, Options};

/// Options of `kmer`.
#[derive(Debug, Args)]
pub struct KmerArgs {
    /// FASTA file (`-`: standard input); reads of a random genome when left out.
    ///
    /// Small letters are as good as capital ones, U is T, and no k-mer goes across a letter that stands for
    /// several bases.
    pub file: Option<PathBuf>,
    /// Bases of a k-mer.
    #[arg(long, short, value_name = "BASES", default_value_t = Options::K,
          value_parser = clap::value_parser!(u32).range(i64::from(*Options::KS.start())..=i64::from(*Options::KS.end())))]
    pub k: u32,
    /// Count a k-mer and its reverse complement as one: the first of them in the alphabet.
    #[arg(long)]
    pub canonical: bool,
    /// Generate this many bases [default: 1048576].
    #[arg(long, value_name = "COUNT", conflicts_with = "file",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_BASES)))]
    pub bases: Option<u32>,
    /// Seed of the generated sequences [default: 1].
    #[arg(long, conflicts_with = "file")]
    pub seed: Option<u64>,
    /// Backend: host, cuda or vulkan [default: the best one present, or $WARPHEAP_BACKEND].
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Device: its number or a part of its name, as `warpheap doctor` shows them; `all`: each that can be used counts a part.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Allocators, separated by commas, or `all` [default: WarpHeap].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allocator: Vec<String>,
    /// Size of the heap of each device, such as 64M or 2GiB [default: what the k-mers need].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub pool: Option<u64>,
    /// Leave out the CPU's counts, which take longer than the device's: only totals are compared, and the runs with each other.
    #[arg(long)]
    pub no_check: bool,
    /// Places of the sequences that one launch looks at.
    #[arg(long, value_name = "BASES", default_value_t = Options::BATCH,
          value_parser = clap::value_parser!(u32).range(i64::from(*Options::BATCHES.start())..=i64::from(*Options::BATCHES.end())))]
    pub batch: u32,
    /// Show this many of the most frequent k-mers.
    #[arg(long, value_name = "COUNT", default_value_t = Options::TOP)]
    pub top: usize,
    /// Draw how many k-mers there are of each frequency, as SVG.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Show what each part of the heap is used for, after each batch: FILE.html has all snapshots, FILE.svg some as a
    /// picture, FILE.txt as text, FILE.json for programs; `-` shows the text here.
    #[arg(long, value_name = "FILE")]
    pub heap_map: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl KmerArgs {
    /// What is counted, and how.
    pub fn options(&self) -> Options {
        let input = match &self.file {
            Some(path) => Input::File(path.clone()),
            None => Input::Reads {
                bases: self.bases.unwrap_or(Input::BASES),
                seed: self.seed.unwrap_or(Input::SEED),
            },
        };
        Options {
            input,
            k: self.k,
            canonical: self.canonical,
            batch: self.batch,
            top: self.top,
            pool: self.pool,
            checked: !self.no_check,
        }
    }
}
