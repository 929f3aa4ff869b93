//! What the program is called with.

use std::time::Duration;
use warpheap::BackendKind;

/// How to call the program.
pub const USAGE: &str = "\
outside [--backend host|vulkan|cuda] [--allocator NAME|all] [--kernel NAME|all] [--lanes N] [--pool-mib N] [--alone SECONDS]

--backend    where the kernels run [host]
--allocator  the allocator [all]
--kernel     branches, trees, exploration, blocks, octrees, agents, products or collections [all]
--lanes      lanes of a launch, 1 to 16777216 [2048 on the host, 16384 on Vulkan, 1048593 on CUDA]
--pool-mib   MiB of each heap [as many as are sure to be enough]
--alone      each kernel and allocator in a process of its own, which may take so many seconds";

/// The most lanes.
const MOST_LANES: u32 = 1 << 24;

/// What the program is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Where the kernels run.
    pub backend: BackendKind,
    /// Name of an allocator, or `all`.
    pub allocator: String,
    /// Name of a kernel, or `all`.
    pub kernel: String,
    /// Lanes of a launch.
    pub lanes: u32,
    /// Bytes of a heap.
    pub pool_bytes: Option<u64>,
    /// The longest that a job may take, in a process of its own.
    pub alone: Option<Duration>,
}

/// Lanes where nobody says how many.
fn usual_lanes(backend: BackendKind) -> u32 {
    match backend {
        BackendKind::Host => 2048,
        BackendKind::Vulkan => 1 << 14,
        // The last warp is not full.
        BackendKind::Cuda => (1 << 20) + 17,
    }
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
        allocator: "all".into(),
        kernel: "all".into(),
        lanes: 0,
        pool_bytes: None,
        alone: None,
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
            "--allocator" => parsed.allocator = value,
            "--kernel" => parsed.kernel = value,
            "--lanes" => parsed.lanes = number(&option, &value, MOST_LANES.into())? as u32,
            "--pool-mib" => parsed.pool_bytes = Some(number(&option, &value, 65_535)? << 20),
            "--alone" => {
                let seconds = number(&option, &value, 86_400)?;
                parsed.alone = Some(Duration::from_secs(seconds));
            }
            _ => return Err(format!("unknown option `{option}`\n\n{USAGE}")),
        }
    }
    if parsed.lanes == 0 {
        parsed.lanes = usual_lanes(parsed.backend);
    }
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
        let given = of("--backend cuda --allocator Bump --pool-mib 2 --alone 3").expect("good");
        assert_eq!((given.backend, given.lanes), (BackendKind::Cuda, 1_048_593));
        assert_eq!(
            (given.pool_bytes, given.kernel.as_str()),
            (Some(2 << 20), "all")
        );
        assert_eq!(given.alone, Some(Duration::from_secs(3)));
        assert_eq!(of("").expect("good").lanes, 2048);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("--lanes", "needs a value"),
            ("--lanes 0", "from 1 to"),
            ("--lanes many", "from 1 to"),
            ("--backend gpu", "no backend `gpu`"),
            ("--fast yes", "unknown option"),
        ] {
            assert!(of(text).is_err_and(|error| error.contains(part)), "{text}");
        }
    }
}
