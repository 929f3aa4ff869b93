//! This test program, started as several ranks.

use std::fmt;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// One job at a time: ranks that wait take a processor each, and Open MPI's launchers of one user share a folder.
static ALONE: Mutex<()> = Mutex::new(());

/// Tells a rank what to do.
const CASE: &str = "DIST_TEST_CASE";
/// When a job counts as stuck: a machine may have much else to do.
const PATIENCE: Duration = Duration::from_secs(100);

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
    let mut command = Command::new("mpirun");
    command.args([
        "--oversubscribe",
        "--allow-run-as-root",
        "--bind-to",
        "none",
    ]);
    command.args(["-n", &number.to_string()]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "of_a_rank", "--nocapture"]);
    // Containers often lack what Open MPI takes first for copies between processes.
    command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    command.env(CASE, case);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let started = Instant::now();
    let mut job = match command.spawn() {
        Ok(job) => job,
        Err(error) => {
            let text = format!("no `mpirun`, which Debian has in the package openmpi-bin: {error}");
            let must = std::env::var("WARPHEAP_REQUIRE_MPI").is_ok_and(|value| value.trim() == "1");
            assert!(!must, "{text}");
            eprintln!("SKIPPED: {case} on {number} ranks: {text}");
            return None;
        }
    };
    let (out, err) = (collected(job.stdout.take()), collected(job.stderr.take()));
    let code = ended(&mut job, started);
    let text = |thread: thread::JoinHandle<String>| thread.join().unwrap();
    let (out, err) = (text(out), text(err));
    let outcome = Outcome {
        code: code.unwrap_or_default(),
        out,
        err,
    };
    assert!(
        code.is_some(),
        "{case} on {number} ranks does not end: {outcome}"
    );
    Some(outcome)
}

fn collected(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            from.read_to_end(&mut bytes).unwrap();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The exit code of a job that ends in time; ends it otherwise.
fn ended(job: &mut Child, started: Instant) -> Option<Option<i32>> {
    while started.elapsed() < PATIENCE {
        if let Some(status) = job.try_wait().unwrap() {
            return Some(status.code());
        }
        thread::sleep(Duration::from_millis(20));
    }
    let _ = job.kill();
    let _ = job.wait();
    None
}
