//! This test program, started as several ranks.

use std::fmt;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// One job at a time: ranks that wait take a processor each, and Open MPI's launchers of one user share a folder.
static ALONE: Mutex<()> = Mutex::new(());

/// Tells a rank what to do.
const CASE: &str = "DIST_TEST_CASE";

/// What this process is to do, if it is a rank of a test.
pub fn case() -> Option<String> {
    std::env::var(CASE).ok()
}

/// What a job left behind.
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { code, out, err } = self;
        write!(f, "exit code {code:?}\n{out}\n{err}")
    }
}

/// Starts so many ranks of a case. Without `mpirun` there is nothing, and a line that says so; with `WARPHEAP_REQUIRE_MPI=1` that is
/// a failure.
pub fn ranks(case: &str, number: usize) -> Option<Outcome> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new("mpirun");
    // A job that is stuck ends, with an error.
    command.args([
        "--oversubscribe",
        "--allow-run-as-root",
        "--bind-to",
        "none",
    ]);
    command.args(["--timeout", "300", "-n", &number.to_string()]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "of_a_rank", "--nocapture"]);
    // Containers often lack what Open MPI takes first for copies between processes.
    command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    command.env(CASE, case);
    match command.output() {
        Ok(output) => Some(Outcome {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
        Err(error) => {
            let text = format!("no `mpirun`, which Debian has in the package openmpi-bin: {error}");
            let must = std::env::var("WARPHEAP_REQUIRE_MPI").is_ok_and(|value| value.trim() == "1");
            assert!(!must, "{text}");
            eprintln!("SKIPPED: {case} on {number} ranks: {text}");
            None
        }
    }
}
