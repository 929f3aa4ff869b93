//! What is asked for on the command line.

use std::time::Duration;
use warpheap_api::host::{BackendKind, DeviceInfo};

/// How long, with what, how.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// How long in all, in seconds; allocators share it [default: 60]
    #[arg(long, value_name = "S", group = "time", value_parser = above_zero)]
    pub seconds: Option<f64>,
    /// The same in minutes
    #[arg(long, value_name = "M", group = "time", value_parser = above_zero)]
    pub minutes: Option<f64>,
    /// The same in hours
    #[arg(long, value_name = "H", group = "time", value_parser = above_zero)]
    pub hours: Option<f64>,
    /// End each allocator's turn after so many rounds, whatever the time: to come to the same place again
    #[arg(long, value_name = "COUNT", group = "time", value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    /// Allocators, separated by commas, or `all` [default: WarpHeap]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allocator: Vec<String>,
    /// Seed of all that is left to chance
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Size of the pool, such as 512M or 8G; two more have an eighth each [default: 1G, Vulkan 128M, host 32M]
    #[arg(long, value_name = "SIZE", value_parser = pool)]
    pub pool: Option<u64>,
    /// Lanes of a launch [default: 2^14, Vulkan 2^11, host 256]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub lanes: Option<u32>,
    /// How full the heap is for the most part, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub fill: u32,
    /// Never run two launches at the same time; on the host with WARPHEAP_THREADS=1 a seed then repeats its run
    #[arg(long)]
    pub one_launch: bool,
}

/// The least pool: an eighth of it has room for every allocator's metadata.
const LEAST_POOL: u64 = 16 << 20;

impl Options {
    /// How long in all.
    pub(super) fn time(&self) -> Duration {
        let seconds = self
            .seconds
            .or(self.minutes.map(|minutes| minutes * 60.0))
            .or(self.hours.map(|hours| hours * 3600.0));
        match (seconds, self.rounds) {
            (Some(seconds), _) => Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
            (None, Some(_)) => Duration::MAX,
            (None, None) => Duration::from_secs(60),
        }
    }

    /// Bytes of the pool, and lanes, on a device.
    pub(super) fn shape(&self, info: &DeviceInfo) -> (u64, u32) {
        let (pool, lanes) = match info.backend {
            BackendKind::Host => (32 << 20, 1 << 8),
            BackendKind::Vulkan => (128 << 20, 1 << 11),
            BackendKind::Cuda => (1 << 30, 1 << 14),
        };
        (self.pool.unwrap_or(pool), self.lanes.unwrap_or(lanes))
    }
}

fn above_zero(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err(format!("`{text}` is no time: write a number above 0")),
    }
}

fn pool(text: &str) -> Result<u64, String> {
    let bytes = crate::options::pool_size(text)?;
    match bytes >= LEAST_POOL {
        true => Ok(bytes),
        false => Err(format!("`{text}` is too small: give at least 16M")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn definition_is_sound() {
        Program::command().debug_assert();
    }

    #[test]
    fn times_are_read() {
        let time = |line: &str| Program::parse_from(line.split(' ')).options.time();
        assert_eq!(time("soak"), Duration::from_secs(60));
        assert_eq!(time("soak --seconds 0.25"), Duration::from_millis(250));
        assert_eq!(time("soak --minutes 2"), Duration::from_secs(120));
        assert_eq!(time("soak --hours 8"), Duration::from_secs(8 * 3600));
        assert_eq!(time("soak --rounds 3"), Duration::MAX);
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "soak --seconds 0",
            "soak --seconds soon",
            "soak --hours inf",
            "soak --seconds 1 --hours 1",
            "soak --seconds 1 --rounds 1",
            "soak --rounds 0",
            "soak --pool 1M",
            "soak --pool much",
            "soak --lanes 0",
            "soak --fill 0",
            "soak --fill 101",
            "soak --seed -1",
        ] {
            assert!(Program::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
