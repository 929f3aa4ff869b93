//! What is asked for on the command line.

use crate::replay::Script;
use crate::scenario::Scenario;

/// What to measure; what is not said is chosen for the device.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Allocators, separated by commas, or `all`; `Bump` runs always, as a floor
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allocator: Vec<String>,
    /// Scenarios, separated by commas [default: all but S20, which replays a trace]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub scenario: Vec<Scenario>,
    /// Sizes of requests in bytes, separated by commas, for scenarios with one size
    /// [default: those of the scenario]
    #[arg(long, value_name = "BYTES", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pub sizes: Vec<u32>,
    /// Number of lanes; S3 and S9 count up to it [default: 2^20 or what the scenario says, host 2^14]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pub n: Option<u32>,
    /// Size of the pool, such as 512M or 8G; S6 and S10 take 2G and 1G of it at most, the host less
    /// [default: 8G or what the device allows, host 256M]
    #[arg(long, value_name = "SIZE", value_parser = pool_size)]
    pub pool: Option<u64>,
    /// Timed repeats of each measurement [default: 21, host 5]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeats: Option<u32>,
    /// Lanes of a warp call together, in S1 to S4, S6 and S7: malloc_warp and free_warp
    #[arg(long)]
    pub warp: bool,
    /// Fewer sizes, lanes and repeats
    #[arg(long)]
    pub quick: bool,
    /// A trace to replay, for S20; whoever reads its file sets it
    #[arg(skip)]
    pub replay: Option<Script>,
}

impl Options {
    /// The scenarios that are asked for: a trace alone if there is one and no scenario is named.
    pub fn scenarios(&self) -> Vec<Scenario> {
        match (self.scenario.as_slice(), &self.replay) {
            ([], Some(_)) => vec![Scenario::S20],
            ([], None) => {
                let all = Scenario::ALL.into_iter();
                all.filter(|one| *one != Scenario::S20).collect()
            }
            (asked, _) => asked.to_vec(),
        }
    }
}

/// Reads a number of bytes with an optional `K`, `M` or `G`, powers of 1024.
pub(crate) fn pool_size(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("`{text}` is no size: write a number with or without K, M or G, as in 512M");
    let upper = text.trim().to_ascii_uppercase();
    let plain = upper.trim_end_matches("IB").trim_end_matches('B');
    let (number, shift) = match plain.chars().last() {
        Some('K') => (&plain[..plain.len() - 1], 10),
        Some('M') => (&plain[..plain.len() - 1], 20),
        Some('G') => (&plain[..plain.len() - 1], 30),
        _ => (plain, 0),
    };
    let number: u64 = number.trim().parse().map_err(|_| wrong())?;
    match number.checked_mul(1 << shift) {
        Some(0) | None => Err(wrong()),
        Some(bytes) => Ok(bytes),
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
    fn lists_and_sizes_are_read() {
        let line = "bench --sizes 16,64 --scenario S3,s1 --pool 2GiB --allocator a,b --n 5";
        let options = Program::parse_from(line.split(' ')).options;
        assert_eq!(options.sizes, [16, 64]);
        assert_eq!(options.scenarios(), [Scenario::S3, Scenario::S1]);
        assert_eq!(options.pool, Some(2 << 30));
        assert_eq!(options.allocator, ["a", "b"]);
        assert_eq!(options.n, Some(5));
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "bench --sizes 0",
            "bench --n 0",
            "bench --repeats 0",
            "bench --pool much",
            "bench --pool 0",
            "bench --pool 99999999999999G",
            "bench --scenario S99",
            "bench file",
        ] {
            assert!(Program::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
