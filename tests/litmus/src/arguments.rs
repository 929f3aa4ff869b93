//! What the program is called with.

use crate::fences::Fences;
use std::time::Duration;
use warpheap::BackendKind;

/// How to call the program.
pub const USAGE: &str = "\
litmus [--backend host|vulkan|cuda] [--shape NAME|all] [--allocator NAME|all] [--instances N] [--lanes N] [--seconds N] [--seed N] [--fences NAME]

--backend    where the kernels run [host]
--shape      mp, sb, corr, mailbox or reuse [all]
--allocator  the allocator of the shape reuse [all]
--instances  instances of each test [20000 on the host, 100000000 elsewhere]
--lanes      lanes that test, rounded up to a multiple of 256, at most 1048576 [512 on the host, 65536 elsewhere]
--seconds    no test begins another launch after so many [60]
--seed       makes how launches differ from each other [1]
--fences     of the shape reuse: all, or no-release, no-acquire or none, on vulkan and cuda, inside the allocators [all]";

/// The most lanes: their numbers have 20 bits in what owners of memory leave.
const MOST_LANES: u64 = 1 << 20;

/// What the program is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Where the kernels run.
    pub backend: BackendKind,
    /// Name of a shape, or `all`.
    pub shape: String,
    /// Name of an allocator, or `all`.
    pub allocator: String,
    /// Instances of each test.
    pub instances: u64,
    /// Lanes that test.
    pub lanes: u32,
    /// The longest that a test goes on.
    pub longest: Duration,
    /// Makes the environments.
    pub seed: u64,
    /// The fences inside the allocators.
    pub fences: Fences,
}

/// A number in a range.
fn number(option: &str, text: &str, most: u64) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("{option} {text}: give a number from 1 to {most}")),
    }
}

/// Reads the arguments.
///
/// # Errors
/// What is wrong with them.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments {
        backend: BackendKind::Host,
        shape: "all".into(),
        allocator: "all".into(),
        instances: 0,
        lanes: 0,
        longest: Duration::from_secs(60),
        seed: 1,
        fences: Fences::ALL,
    };
    let mut arguments = arguments.into_iter();
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or(format!("{option} needs a value"))?;
        match option.as_str() {
            "--backend" => {
                parsed.backend = match value.as_str() {
                    "host" => BackendKind::Host,
                    "vulkan" => BackendKind::Vulkan,
                    "cuda" => BackendKind::Cuda,
                    _ => return Err(format!("no backend `{value}`: host, vulkan or cuda")),
                }
            }
            "--shape" => parsed.shape = value,
            "--allocator" => parsed.allocator = value,
            "--instances" => parsed.instances = number(&option, &value, u64::MAX)?,
            "--lanes" => parsed.lanes = number(&option, &value, MOST_LANES)? as u32,
            "--seconds" => parsed.longest = Duration::from_secs(number(&option, &value, 86_400)?),
            "--seed" => parsed.seed = number(&option, &value, u64::MAX)?,
            "--fences" => parsed.fences = Fences::named(&value)?,
            _ => return Err(format!("unknown option `{option}`\n\n{USAGE}")),
        }
    }
    if parsed.fences != Fences::ALL && !parsed.shape.eq_ignore_ascii_case("reuse") {
        return Err(
            "--fences goes with --shape reuse: the other shapes have variants without".into(),
        );
    }
    let (instances, lanes) = match parsed.backend {
        BackendKind::Host => (20_000, 512),
        _ => (100_000_000, 1 << 16),
    };
    if parsed.instances == 0 {
        parsed.instances = instances;
    }
    if parsed.lanes == 0 {
        parsed.lanes = lanes;
    }
    parsed.lanes = parsed.lanes.next_multiple_of(256);
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Arguments, String> {
        parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        let given = of("--backend cuda --shape mp --lanes 300 --seconds 3").expect("good");
        assert_eq!((given.backend, given.lanes), (BackendKind::Cuda, 512));
        assert_eq!((given.shape.as_str(), given.instances), ("mp", 100_000_000));
        assert_eq!(given.longest, Duration::from_secs(3));
        assert_eq!(of("").expect("good").instances, 20_000);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("--lanes", "needs a value"),
            ("--lanes 0", "from 1 to"),
            ("--backend gpu", "no backend `gpu`"),
            ("--fast yes", "unknown option"),
            ("--shape reuse --fences few", "no-release"),
            ("--fences none", "--shape reuse"),
        ] {
            assert!(of(text).is_err_and(|error| error.contains(part)), "{text}");
        }
    }
}
