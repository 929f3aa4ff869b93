//! How the emulator is set up: what can be chosen, and the environment variables that choose it.

use crate::FenceSite;
use std::time::Duration;
use thiserror::Error;
use warpheap_api::host::DeviceError;

/// How lanes are scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Fast: blocks are spread over OS threads, a lane runs until it waits for others or ends.
    #[default]
    Run,
    /// One OS thread; a scheduler seeded with `seed` may switch lanes and warps at every atomic
    /// operation. The same seed gives the same execution.
    ///
    /// With streams, one launch runs at a time. Its schedule is that of the seed and of its number, in the order in which launches
    /// were queued; which of the streams' launches comes first, where no mark says so, is up to the operating system.
    Explore {
        /// The seed of every decision.
        seed: u64,
    },
}

/// The settings of an emulated device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Lanes of a warp, 1 to 64. Default 32.
    pub warp_width: u32,
    /// OS threads of run mode, at least 1. Default: as many as the machine runs at once.
    pub threads: usize,
    /// How lanes are scheduled. Default [`Mode::Run`].
    pub mode: Mode,
    /// Explore mode: whether accesses go through a model of memory that is weaker than the CPU's, which lets old values
    /// be seen and stops a launch at a data race. Default false.
    pub races: bool,
    /// Whether a launch stops at a read of a word of a block that nobody has written since the block was handed out. Default
    /// false.
    pub unwritten: bool,
    /// With `races`: a fence or barrier that orders nothing, to see that it is missed. Default none.
    pub left_out: Option<FenceSite>,
    /// Whether to check that live blocks of a heap do not overlap; `None` (the default) checks in
    /// explore mode alone, since the check serialises every malloc and free.
    pub check_blocks: Option<bool>,
    /// Explore mode: scheduling steps without any lane ending after which a launch is taken for
    /// deadlocked or livelocked. Default 10 million.
    pub max_steps: u64,
    /// Explore mode: warps that are alive at the same time, at least 1; more where all of them wait
    /// for other warps of their blocks. Default 64.
    pub window: usize,
    /// Run mode: how long one warp may run before it is taken for deadlocked or livelocked.
    /// Default 60 seconds.
    pub watchdog: Duration,
    /// Most lanes of a block. Default 1024.
    pub max_block_dim: u32,
    /// Emulated multiprocessors, at least 1: what `processor()` tells a lane apart by. Default 16.
    pub processors: u32,
    /// Bytes of a lane's stack, at least 16 KiB. Default 1 MiB, and 8 MiB in builds with debug assertions, since kernels that
    /// are not optimised keep every value there; only what is touched costs memory.
    pub stack_bytes: usize,
}

impl Default for HostConfig {
    fn default() -> Self {
        HostConfig {
            warp_width: 32,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            mode: Mode::Run,
            races: false,
            unwritten: false,
            left_out: None,
            check_blocks: None,
            max_steps: 10_000_000,
            window: 64,
            watchdog: Duration::from_secs(60),
            max_block_dim: 1024,
            processors: 16,
            stack_bytes: if cfg!(debug_assertions) {
                8 << 20
            } else {
                1 << 20
            },
        }
    }
}

/// A setting that is not possible.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// An environment variable that is not a number in its range.
    #[error("{name}={value} is not possible: give {want}, or unset it")]
    Variable {
        /// Name of the variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would be possible.
        want: &'static str,
    },
    /// A field of [`HostConfig`] outside its range.
    #[error("HostConfig::{field} = {value} is not possible: give {want}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What would be possible.
        want: &'static str,
    },
}

impl From<ConfigError> for DeviceError {
    fn from(error: ConfigError) -> Self {
        let (setting, value, want) = match error {
            ConfigError::Variable { name, value, want } => {
                (name.to_owned(), value, format!("{want}, or unset it"))
            }
            ConfigError::Field { field, value, want } => {
                let setting = format!("HostConfig::{field}");
                (setting, value.to_string(), want.to_owned())
            }
        };
        DeviceError::BadConfig {
            setting,
            value,
            allowed: want,
        }
    }
}

const WIDTHS: &str = "a number of lanes from 1 to 64";
const THREADS: &str = "a number of threads from 1 to 1024";

impl HostConfig {
    /// The default settings, changed by environment variables: `WARPHEAP_WARP_WIDTH` (1 to 64),
    /// `WARPHEAP_THREADS` (1 to 1024), `WARPHEAP_SEED`, which selects explore mode with that
    /// seed, and `WARPHEAP_RACES` (1), which looks for data races, in explore mode with seed 1 if none is given.
    /// `WARPHEAP_UNWRITTEN` (1) stops at reads of what nobody has written: [`unwritten`](Self::unwritten).
    /// `WARPHEAP_LEFT_OUT` is [`left_out`](Self::left_out).
    ///
    /// # Errors
    /// [`ConfigError::Variable`] that names the variable and says what would be possible.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    /// How many emulated devices a program finds that opens all: `WARPHEAP_HOST_DEVICES`, 1 to 64, or 1 without it.
    ///
    /// # Errors
    /// [`ConfigError::Variable`] that says what would be possible.
    pub fn devices_from_env() -> Result<usize, ConfigError> {
        let name = "WARPHEAP_HOST_DEVICES";
        let Some(value) = std::env::var_os(name) else {
            return Ok(1);
        };
        let value = value.to_string_lossy().into_owned();
        match value.trim().parse() {
            Ok(count @ 1..=64) => Ok(count),
            _ => Err(ConfigError::Variable {
                name,
                value,
                want: "a number of devices from 1 to 64",
            }),
        }
    }

    fn from_variables(
        variable: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let number = |name: &'static str, most: u64, want| match variable(name) {
            None => Ok(None),
            Some(value) => match value.trim().parse::<u64>() {
                Ok(n) if n <= most => Ok(Some(n)),
                _ => Err(ConfigError::Variable { name, value, want }),
            },
        };
        let at_least_one = |name: &'static str, most, want| match number(name, most, want)? {
            Some(0) => Err(ConfigError::Variable {
                name,
                value: "0".into(),
                want,
            }),
            other => Ok(other),
        };
        let mut config = HostConfig::default();
        if let Some(width) = at_least_one("WARPHEAP_WARP_WIDTH", 64, WIDTHS)? {
            config.warp_width = width as u32;
        }
        if let Some(threads) = at_least_one("WARPHEAP_THREADS", 1024, THREADS)? {
            config.threads = threads as usize;
        }
        if let Some(seed) = number("WARPHEAP_SEED", u64::MAX, "a seed from 0 to 2^64 - 1")? {
            config.mode = Mode::Explore { seed };
        }
        config.races = at_least_one("WARPHEAP_RACES", 1, "1 to look for data races")?.is_some();
        let want = "1 to stop at reads of what nobody has written";
        config.unwritten = at_least_one("WARPHEAP_UNWRITTEN", 1, want)?.is_some();
        let name = "WARPHEAP_LEFT_OUT";
        if let Some(value) = variable(name) {
            let want = "a place as FILE:LINE:COLUMN:KIND, of kind release, acquire, barrier or block-barrier";
            let place = value.parse();
            config.left_out =
                Some(place.map_err(|()| ConfigError::Variable { name, value, want })?);
        }
        if config.races && config.mode == Mode::Run {
            config.mode = Mode::Explore { seed: 1 };
        }
        Ok(config)
    }

    /// Checks every field against its range.
    ///
    /// # Errors
    /// [`ConfigError::Field`] that names the first field outside its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let field = |field, value: u64, least: u64, most: u64, want| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(ConfigError::Field { field, value, want })
            }
        };
        field("warp_width", self.warp_width as u64, 1, 64, WIDTHS)?;
        field("threads", self.threads as u64, 1, 1024, THREADS)?;
        field("max_steps", self.max_steps, 1, u64::MAX, "at least 1")?;
        field("window", self.window as u64, 1, 1024, "1 to 1024 warps")?;
        field(
            "max_block_dim",
            self.max_block_dim as u64,
            1,
            1 << 16,
            "1 to 65536 lanes",
        )?;
        field(
            "processors",
            self.processors as u64,
            1,
            u32::MAX as u64,
            "at least 1",
        )?;
        field(
            "stack_bytes",
            self.stack_bytes as u64,
            16 << 10,
            1 << 30,
            "16 KiB to 1 GiB",
        )
    }

    /// Whether blocks are checked with these settings.
    pub(crate) fn checks_blocks(&self) -> bool {
        self.check_blocks
            .unwrap_or(matches!(self.mode, Mode::Explore { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Result<HostConfig, ConfigError> {
        HostConfig::from_variables(|name| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn variables_change_the_defaults() {
        assert_eq!(with(&[]), Ok(HostConfig::default()));
        let config = with(&[
            ("WARPHEAP_WARP_WIDTH", "64"),
            ("WARPHEAP_THREADS", " 3 "),
            ("WARPHEAP_SEED", "0"),
        ]);
        assert_eq!(
            config,
            Ok(HostConfig {
                warp_width: 64,
                threads: 3,
                mode: Mode::Explore { seed: 0 },
                ..HostConfig::default()
            })
        );
    }

    #[test]
    fn a_bad_variable_is_named_with_what_would_do() {
        for (name, value) in [
            ("WARPHEAP_WARP_WIDTH", "0"),
            ("WARPHEAP_WARP_WIDTH", "65"),
            ("WARPHEAP_WARP_WIDTH", "wide"),
            ("WARPHEAP_THREADS", "0"),
            ("WARPHEAP_THREADS", "-1"),
            ("WARPHEAP_SEED", "0x10"),
            ("WARPHEAP_RACES", "0"),
            ("WARPHEAP_RACES", "yes"),
            ("WARPHEAP_UNWRITTEN", "on"),
            ("WARPHEAP_UNWRITTEN", "2"),
            ("WARPHEAP_LEFT_OUT", "a.rs:1"),
        ] {
            let error = with(&[(name, value)]).expect_err(value).to_string();
            assert!(
                error.starts_with(&format!("{name}={value} is not")),
                "{error}"
            );
            assert!(error.contains("give "), "{error}");
        }
    }

    #[test]
    fn reads_of_what_nobody_has_written_are_looked_for_in_both_modes() {
        let config = with(&[("WARPHEAP_UNWRITTEN", "1")]).expect("possible");
        assert_eq!((config.unwritten, config.mode), (true, Mode::Run));
        assert!(!config.checks_blocks());
        let config = with(&[("WARPHEAP_UNWRITTEN", "1"), ("WARPHEAP_SEED", "9")]);
        let config = config.expect("possible");
        assert_eq!(
            (config.unwritten, config.mode),
            (true, Mode::Explore { seed: 9 })
        );
    }

    #[test]
    fn races_are_looked_for_in_explore_mode() {
        let config = with(&[("WARPHEAP_RACES", "1")]).expect("possible");
        assert_eq!(
            (config.races, config.mode),
            (true, Mode::Explore { seed: 1 })
        );
        let config = with(&[("WARPHEAP_RACES", "1"), ("WARPHEAP_SEED", "9")]).expect("possible");
        assert_eq!(
            (config.races, config.mode),
            (true, Mode::Explore { seed: 9 })
        );
    }

    #[test]
    fn fields_out_of_range_are_named() {
        assert_eq!(HostConfig::default().check(), Ok(()));
        let config = HostConfig {
            warp_width: 65,
            ..HostConfig::default()
        };
        let error = config.check().expect_err("65 lanes").to_string();
        assert!(error.contains("warp_width = 65"), "{error}");
    }

    #[test]
    fn blocks_are_checked_in_explore_mode_unless_told_otherwise() {
        let mut config = HostConfig::default();
        assert!(!config.checks_blocks());
        config.mode = Mode::Explore { seed: 1 };
        assert!(config.checks_blocks());
        config.check_blocks = Some(false);
        assert!(!config.checks_blocks());
    }
}
