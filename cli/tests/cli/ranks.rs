//! Jobs of several processes.

mod graph;
mod join;
mod kmer;

use super::{Outcome, program};
use serde_json::Value;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// One job at a time: ranks that wait take a processor each, and Open MPI's launchers of one user share a folder.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs a command of `warpheap` on so many ranks. Without `mpirun` there is nothing, and a line that says so; with `WARPHEAP_REQUIRE_MPI=1`
/// that is a failure.
fn ranks(number: usize, args: &[&str]) -> Option<Outcome> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new("mpirun");
    // A job that is stuck ends, with an error.
    command.args([
        "--oversubscribe",
        "--allow-run-as-root",
        "--bind-to",
        "none",
        "--timeout",
        "300",
    ]);
    command.args(["-n", &number.to_string()]);
    command.arg(program()).args(args);
    command.env_remove("WARPHEAP_BACKEND");
    // Containers often lack what Open MPI takes first for copies between processes.
    command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    match command.output() {
        Ok(output) => Some(Outcome {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("output is text"),
            err: String::from_utf8(output.stderr).expect("errors are text"),
        }),
        Err(error) => {
            let text = format!("no `mpirun`, which Debian has in the package openmpi-bin: {error}");
            let must = std::env::var("WARPHEAP_REQUIRE_MPI").is_ok_and(|value| value.trim() == "1");
            assert!(!must, "{text}");
            eprintln!("SKIPPED: {} on {number} ranks: {text}", args[0]);
            None
        }
    }
}

/// The sum of a field over the ranks of a report.
fn sum(json: &Value, field: &str) -> u64 {
    let ranks = json["ranks"].as_array().map_or(&[][..], |ranks| ranks);
    ranks.iter().filter_map(|rank| rank[field].as_u64()).sum()
}

/// The one error of three ranks that fail: told by this rank, with this exit code and nothing on the standard output.
fn told_once(args: &[&str], code: i32, rank: usize, part: &str) -> Option<()> {
    let outcome = ranks(3, args)?;
    assert_eq!(
        (outcome.code, &outcome.out[..]),
        (Some(code), ""),
        "{}",
        outcome.err
    );
    let errors: Vec<_> = outcome
        .err
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 1, "{}", outcome.err);
    let rank = format!("rank {rank} of 3");
    assert!(
        errors[0].contains(&rank) && errors[0].contains(part),
        "{}",
        errors[0]
    );
    Some(())
}

#[test]
fn commands_of_one_process_say_so_once() {
    for args in [&["bench", "--backend", "host"][..], &["--backend", "host"]] {
        let Some(()) = told_once(args, 2, 0, "is a command of one process") else {
            return;
        };
    }
}
