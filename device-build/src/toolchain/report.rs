//! What the search for a device toolchain found, in words that a person can act on.

use std::fmt;

use super::found::{NIGHTLY, Origin, SPIRV_BACKEND_VERSION, Toolchain};
use crate::format::Format;

/// One place that was looked at.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Which place.
    pub origin: Origin,
    /// The toolchain there, or why there is none.
    pub state: Result<Toolchain, String>,
    /// What it lacks for PTX; nothing if it can make it.
    pub lacks_ptx: Vec<String>,
    /// What it lacks for SPIR-V; nothing if it can make it.
    pub lacks_spirv: Vec<String>,
}

impl Candidate {
    pub(super) fn absent(origin: Origin, why: impl Into<String>) -> Self {
        Candidate {
            origin,
            state: Err(why.into()),
            lacks_ptx: Vec::new(),
            lacks_spirv: Vec::new(),
        }
    }

    /// The toolchain, if it can make `format`.
    pub fn usable(&self, format: Format) -> Option<&Toolchain> {
        self.state
            .as_ref()
            .ok()
            .filter(|_| self.lacks(format).is_empty())
    }

    /// What the toolchain lacks for `format`.
    pub fn lacks(&self, format: Format) -> &[String] {
        match format {
            Format::Ptx => &self.lacks_ptx,
            Format::Spirv => &self.lacks_spirv,
        }
    }
}

/// What is at each place, in the order of the search.
#[derive(Clone, Debug)]
pub struct ToolchainReport {
    /// The places.
    pub candidates: Vec<Candidate>,
}

impl ToolchainReport {
    /// The toolchain that compiles `format`, if any can.
    pub fn first(&self, format: Format) -> Option<&Toolchain> {
        self.candidates
            .iter()
            .find_map(|candidate| candidate.usable(format))
    }

    /// What to run so that `format` can be compiled; empty if it can already.
    pub fn advice(&self, format: Format) -> Vec<String> {
        if self.first(format).is_some() {
            return Vec::new();
        }
        if let [only] = &self.candidates[..]
            && only.origin == Origin::Environment
        {
            return vec!["mend that toolchain, or unset WARPHEAP_DEVICE_TOOLCHAIN".to_owned()];
        }
        let mut advice = vec![
            "warpheap toolchain, on Debian 12 (cargo install warpheap-cli installs the program)"
                .to_owned(),
            format!(
                "or with rustup: rustup toolchain install {NIGHTLY} --profile minimal \
                 --component rust-src,rustc-dev,llvm-tools,llvm-bitcode-linker"
            ),
        ];
        if format == Format::Spirv {
            advice.push(format!(
                "  and with that toolchain compile rustc_codegen_spirv ={SPIRV_BACKEND_VERSION} \
                 (as the only dependency of an empty library: cargo +{NIGHTLY} build --release), \
                 then set WARPHEAP_SPIRV_BACKEND to the librustc_codegen_spirv*.so in its target/release/deps"
            ));
        }
        advice
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        let toolchain = match &self.state {
            Err(why) => return f.write_str(why),
            Ok(toolchain) => toolchain,
        };
        write!(f, "{} ({})", toolchain.sysroot.display(), toolchain.version)?;
        for format in Format::ALL {
            match self.lacks(format) {
                [] => write!(f, "; makes {format}")?,
                lacks => write!(f, "; no {format}: lacks {}", lacks.join(" and "))?,
            }
        }
        Ok(())
    }
}

/// One line for each place, then what to do about each format that cannot be made.
impl fmt::Display for ToolchainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, candidate) in self.candidates.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{candidate}")?;
        }
        for format in Format::ALL {
            for (i, line) in self.advice(format).iter().enumerate() {
                match i {
                    0 => write!(f, "\nto compile {format}: {line}")?,
                    _ => write!(f, "\n  {line}")?,
                }
            }
        }
        Ok(())
    }
}

/// No toolchain can make a format.
#[derive(Clone, Debug)]
pub struct ToolchainError {
    /// The format that was wanted.
    pub format: Format,
    /// What was looked at.
    pub report: ToolchainReport,
}

impl fmt::Display for ToolchainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "  compile: no toolchain that makes {}; looked at, in this order:",
            self.format
        )?;
        for candidate in &self.report.candidates {
            write!(f, "\n    {}: ", candidate.origin)?;
            match &candidate.state {
                Err(why) => f.write_str(why)?,
                Ok(toolchain) => {
                    let lacks = candidate.lacks(self.format).join(" and ");
                    write!(f, "{} lacks {lacks}", toolchain.sysroot.display())?;
                }
            }
        }
        f.write_str("\n  do one of these:")?;
        for line in self.report.advice(self.format) {
            write!(f, "\n  - {line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ToolchainError {}
