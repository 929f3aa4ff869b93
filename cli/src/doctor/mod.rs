//! `warpheap doctor`: what this machine and this build can do, and what to do about each gap.
//!
//! | module | what |
//! |---|---|
//! | here | what is found out |
//! | `show` | how it is written for people |

mod show;

use crate::error::CliError;
use crate::text;
use serde::Serialize;
use warpheap::backends::{self, FoundDevice};
use warpheap::{BackendKind, Device};
use warpheap_build::{Format, ToolchainReport, toolchain};

/// Version of the JSON: goes up when a field changes its name or meaning, not when one is added.
const SCHEMA: u32 = 1;

/// Everything that `doctor` says.
#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    version: &'static str,
    backends: Vec<Backend>,
    /// Places where a toolchain for device code was looked for.
    toolchains: Vec<Place>,
    /// What to do about what is missing, a sentence for each gap.
    advice: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Backend {
    name: &'static str,
    compiled_in: bool,
    devices: Vec<Tested>,
    /// Why there is no device.
    problem: Option<String>,
}

/// A device and whether it can be used.
#[derive(Debug, Serialize)]
struct Tested {
    index: usize,
    name: String,
    kind: String,
    driver: String,
    warp_width: Option<u32>,
    memory_bytes: u64,
    self_test: SelfTest,
    /// Why the device cannot be used.
    problem: Option<String>,
    /// What makes it slower than it could be, and what to do.
    remark: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum SelfTest {
    Ok,
    Failed,
    /// The device was not opened.
    NotRun,
}

/// One place where a toolchain may be.
#[derive(Debug, Serialize)]
struct Place {
    place: String,
    /// What is there, in words.
    found: String,
    makes_ptx: bool,
    makes_spirv: bool,
}

/// Looks at everything and says it, as JSON or for people. A gap is no error.
///
/// # Errors
/// [`CliError::Write`] only.
pub fn run(json: bool) -> Result<String, CliError> {
    let toolchains = toolchain::report();
    // The host first: it is the one that everybody has.
    let backends: Vec<Backend> = backends::ALL.into_iter().rev().map(look_at).collect();
    let report = Report {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        advice: advice(&backends, &toolchains),
        backends,
        toolchains: places(&toolchains),
    };
    if json {
        text::json(&report)
    } else {
        Ok(report.text())
    }
}

fn look_at(kind: BackendKind) -> Backend {
    let compiled_in = backends::compiled_in(kind);
    let mut backend = Backend {
        name: kind.name(),
        compiled_in,
        devices: Vec::new(),
        problem: None,
    };
    if compiled_in {
        match backends::devices(kind) {
            Ok(found) => {
                let tested = found.into_iter().map(|device| test(kind, device));
                backend.devices = tested.collect();
            }
            Err(error) => backend.problem = Some(error.to_string()),
        }
    }
    backend
}

/// Opens a device and runs the self-test on it.
fn test(kind: BackendKind, found: FoundDevice) -> Tested {
    let mut tested = Tested {
        index: found.index,
        name: found.name,
        kind: found.kind,
        driver: found.driver,
        warp_width: found.warp_width,
        memory_bytes: found.memory_bytes,
        self_test: SelfTest::NotRun,
        problem: found.problem,
        remark: found.remark,
    };
    if tested.problem.is_some() {
        return tested;
    }
    match backends::open_unchecked(kind, tested.index) {
        Err(error) => tested.problem = Some(error.to_string()),
        Ok(device) => {
            tested.warp_width = Some(device.info().warp_width);
            match Device::self_test(&device) {
                Ok(()) => tested.self_test = SelfTest::Ok,
                Err(error) => {
                    tested.self_test = SelfTest::Failed;
                    tested.problem = Some(error.to_string());
                }
            }
        }
    }
    tested
}

fn places(report: &ToolchainReport) -> Vec<Place> {
    let candidates = report.candidates.iter();
    candidates
        .map(|candidate| {
            let place = candidate.origin.to_string();
            let all = candidate.to_string();
            let found = all.strip_prefix(&format!("{place}: ")).unwrap_or(&all);
            Place {
                found: found.to_owned(),
                makes_ptx: candidate.usable(Format::Ptx).is_some(),
                makes_spirv: candidate.usable(Format::Spirv).is_some(),
                place,
            }
        })
        .collect()
}

fn advice(backends: &[Backend], toolchains: &ToolchainReport) -> Vec<String> {
    let mut advice = Vec::new();
    for backend in backends {
        let name = backend.name;
        if !backend.compiled_in {
            advice.push(format!(
                "for {name}: build with the cargo feature `{name}`, as in cargo run --release --features {name}"
            ));
        } else if let Some(problem) = &backend.problem {
            advice.push(format!("for {name}: {problem}"));
        } else if backend
            .devices
            .iter()
            .all(|device| device.problem.is_some())
        {
            advice.push(format!(
                "for {name}: each device is refused, for the reasons above; install another driver"
            ));
        }
    }
    for format in Format::ALL {
        let mut lines = toolchains.advice(format).into_iter();
        if let Some(first) = lines.next() {
            let rest: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
            let all = [vec![first], rest].concat().join("; ");
            advice.push(format!("to compile kernels of your own to {format}: {all}"));
        }
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(name: &'static str, compiled_in: bool, problem: Option<&str>) -> Backend {
        Backend {
            name,
            compiled_in,
            devices: Vec::new(),
            problem: problem.map(Into::into),
        }
    }

    /// A report in which every kind of gap occurs.
    pub(super) fn report() -> Report {
        let device = |index, self_test, problem: Option<&str>| Tested {
            index,
            name: format!("GPU {index}"),
            kind: "discrete GPU".into(),
            driver: "driver 1".into(),
            warp_width: Some(32),
            memory_bytes: 1 << 30,
            self_test,
            problem: problem.map(Into::into),
            remark: (index == 1).then(|| "lanes are alone".to_owned()),
        };
        let mut vulkan = backend("vulkan", true, None);
        vulkan.devices = vec![
            device(0, SelfTest::Failed, Some("store lost")),
            device(1, SelfTest::NotRun, Some("lacks X")),
        ];
        let mut host = backend("host", true, None);
        host.devices = vec![device(0, SelfTest::Ok, None)];
        let cuda = backend("cuda", false, None);
        let backends = vec![
            host,
            vulkan,
            cuda,
            backend("other", true, Some("no driver")),
        ];
        let toolchains = ToolchainReport {
            candidates: Vec::new(),
        };
        Report {
            schema: SCHEMA,
            version: "0",
            advice: advice(&backends, &toolchains),
            backends,
            toolchains: places(&toolchains),
        }
    }

    #[test]
    fn every_gap_has_advice_and_what_works_has_none() {
        let advice = report().advice;
        for (part, number) in [
            ("for host", 0),
            ("for vulkan: each device is refused", 1),
            ("--features cuda", 1),
            ("for other: no driver", 1),
            ("to PTX: warpheap toolchain", 1),
            ("to SPIR-V", 1),
        ] {
            let found = advice.iter().filter(|line| line.contains(part)).count();
            assert_eq!(found, number, "{part} in {advice:#?}");
        }
    }

    #[test]
    fn json_names_are_stable() {
        let json = serde_json::to_value(report()).unwrap_or_default();
        let device = &json["backends"][1]["devices"][0];
        assert_eq!(device["self_test"], "failed");
        assert_eq!(device["problem"], "store lost");
        assert_eq!(json["backends"][1]["devices"][1]["self_test"], "not_run");
        assert_eq!(json["backends"][2]["compiled_in"], false);
        assert!(json["advice"].is_array() && json["toolchains"].is_array());
    }
}
