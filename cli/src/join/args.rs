//! The options of `warpheap join`.

use crate::size;
use clap::Args;
use std::path::PathBuf;
use warpheap_jobs::join::Options;
use warpheap_jobs::join::tables::{Generator, Input, MOST_ROWS_OF_RANKS};

/// Options of `join`.
#[derive(Debug, Args)]
pub struct JoinArgs {
    /// CSV file with the columns key and payload, numbers of 32 bits: the table that is hashed. Both tables
    /// are generated when left out.
    #[arg(requires = "right")]
    pub left: Option<PathBuf>,
    /// CSV file like LEFT: the table whose rows look for theirs.
    pub right: Option<PathBuf>,
    /// Rows of the left table, and of the right one unless --rows-right says otherwise [default: 65536].
    #[arg(long, value_name = "ROWS", value_parser = rows, conflicts_with = "left")]
    pub rows: Option<u32>,
    /// Rows of the right table.
    #[arg(long, value_name = "ROWS", value_parser = rows, conflicts_with = "left")]
    pub rows_right: Option<u32>,
    /// How many rows of the left table have the key of a right row, on average [default: 1].
    #[arg(long, value_name = "COUNT", conflicts_with = "left")]
    pub matches: Option<u32>,
    /// Percent of the right rows that have all the same key [default: 0].
    #[arg(long, value_name = "PERCENT", conflicts_with = "left",
          value_parser = clap::value_parser!(u32).range(0..=100))]
    pub skew: Option<u32>,
    /// Seed of the generated tables.
    #[arg(long, default_value_t = Generator::SEED, conflicts_with = "left")]
    pub seed: u64,
    /// Size of the pages that matches are written to: a power of two from 32 to 2048 bytes.
    #[arg(long, value_name = "SIZE", default_value_t = Options::PAGE, value_parser = page)]
    pub page: u32,
    /// Right rows for each lane of the probe; they share its pages.
    #[arg(long, value_name = "ROWS", default_value_t = Options::PER_LANE,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub per_lane: u32,
    /// How often the probe is done; times are medians.
    #[arg(long, value_name = "COUNT", default_value_t = Options::REPEATS,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: u32,
    /// Allocators, separated by commas, or `all` [default: DirectOutput, RandomWalk, RandomWalkBitmap,
    /// CollaborativeWalk, OuroborosPS, Gallatin, WarpHeap].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allocator: Vec<String>,
    /// Backend: host, cuda or vulkan [default: the best one present, or $WARPHEAP_BACKEND].
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Device: its number or a part of its name, as `warpheap doctor` shows them; `all`: each that can be used joins the rows of a
    /// part of the keys.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Leave out the CPU's join, which takes longer than the device's: only the runs are compared with each other.
    #[arg(long)]
    pub no_check: bool,
    /// Rows of a table that a process sends at a time, where several join together.
    #[arg(long, value_name = "ROWS", default_value_t = Options::BATCH,
          value_parser = clap::value_parser!(u32).range(i64::from(*Options::BATCHES.start())..=i64::from(*Options::BATCHES.end())))]
    pub batch: u32,
    /// Size of the heap, such as 64M or 2GiB [default: what the join needs].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub pool: Option<u64>,
    /// Show what each part of the heap is used for, after each probe: FILE.html has all snapshots, FILE.svg some as a
    /// picture, FILE.txt as text, FILE.json for programs; `-` shows the text here.
    #[arg(long, value_name = "FILE")]
    pub heap_map: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Draw the probe times as SVG.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

impl JoinArgs {
    /// What is joined, and how.
    pub fn options(&self) -> Options {
        let input = match (&self.left, &self.right) {
            (Some(left), Some(right)) => Input::Files {
                left: left.clone(),
                right: right.clone(),
            },
            _ => Input::Generated(self.generator()),
        };
        Options {
            input,
            page: self.page,
            per_lane: self.per_lane,
            repeats: self.repeats,
            pool: self.pool,
            checked: !self.no_check,
            batch: self.batch,
        }
    }

    fn generator(&self) -> Generator {
        let usual = Generator::default();
        let left = self.rows.unwrap_or(usual.left);
        Generator {
            left,
            right: self.rows_right.unwrap_or(left),
            matches: self.matches.unwrap_or(usual.matches),
            skew: self.skew.unwrap_or(usual.skew),
            seed: self.seed,
        }
    }
}

/// Reads the size of a page.
fn page(text: &str) -> Result<u32, String> {
    let bytes = size::parse(text)?;
    match u32::try_from(bytes) {
        Ok(page) if page.is_power_of_two() && Options::PAGES.contains(&page) => Ok(page),
        _ => Err(format!(
            "`{text}` is no size of a page: give a power of two from {} to {} bytes",
            Options::PAGES.start(),
            Options::PAGES.end()
        )),
    }
}

/// Reads a number of rows, which may have a unit: 16K.
fn rows(text: &str) -> Result<u32, String> {
    let wrong = || {
        format!("`{text}` is no number of rows: give 1 to {MOST_ROWS_OF_RANKS}, as in 65536 or 10M")
    };
    let rows = size::parse(text).map_err(|_| wrong())?;
    let rows = u32::try_from(rows).map_err(|_| wrong())?;
    if rows > MOST_ROWS_OF_RANKS {
        return Err(wrong());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_powers_of_two_within_bounds() {
        assert_eq!(page("32"), Ok(32));
        assert_eq!(page("2K"), Ok(2048));
        for text in ["16", "48", "4096", "8GiB", "page"] {
            assert!(page(text).is_err(), "{text}");
        }
        assert!(page("48").is_err_and(|why| why.contains("`48`") && why.contains("2048")));
    }

    #[test]
    fn rows_may_have_a_unit() {
        assert_eq!(rows("16K"), Ok(16 << 10));
        assert_eq!(rows("7"), Ok(7));
        for text in ["0", "many", "3000M", "-1"] {
            assert!(rows(text).is_err_and(|why| why.contains("10M")), "{text}");
        }
    }
}
