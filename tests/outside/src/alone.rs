//! Jobs in processes of their own: one that loses the device, or never ends, leaves the others alone.

use crate::arguments::Arguments;
use crate::list::Job;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks whether a process has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs a job in a process of its own: its line, and whether it went well.
pub fn run(arguments: &Arguments, job: &Job, longest: Duration) -> (String, bool) {
    let failed = |what: String| {
        let line = format!("{:<12} {:<18} FAILED   {what}", job.kernel, job.allocator);
        (line, false)
    };
    let mut command = match std::env::current_exe() {
        Ok(program) => Command::new(program),
        Err(error) => return failed(error.to_string()),
    };
    command
        .args(["--backend", arguments.backend.name()])
        .args(["--kernel", job.kernel, "--allocator", job.allocator])
        .args(["--lanes", &arguments.lanes.to_string()]);
    if let Some(bytes) = arguments.pool_bytes {
        command.args(["--pool-mib", &(bytes >> 20).to_string()]);
    }
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return failed(error.to_string()),
    };
    let began = Instant::now();
    // What it prints is a few lines, which a pipe holds until it has ended.
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if began.elapsed() < longest => sleep(PAUSE),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return failed(format!("it took more than {} s", longest.as_secs()));
            }
            Err(error) => return failed(error.to_string()),
        }
    };
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take()
        && let Err(error) = out.read_to_string(&mut text)
    {
        return failed(error.to_string());
    }
    match text.lines().find(|line| line.starts_with(job.kernel)) {
        Some(line) => (line.to_owned(), status.success()),
        None => failed(format!("it ended with {status} and no line")),
    }
}
