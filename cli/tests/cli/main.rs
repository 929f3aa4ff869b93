//! Drives the built `warpheap` program as a user would, on the host backend.

mod bench;
mod changing;
mod graph;
mod heap_map;
mod input;
mod join;
mod kmer;
mod new;
mod once;
mod project;
mod races;
#[cfg(feature = "mpi")]
mod ranks;
mod soak;
mod trace;
mod usage;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a command left behind.
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

/// The program that cargo built with this test, or, in a bundle, the one in the folder `bin` beside it.
fn program() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_warpheap"));
    if built.is_file() {
        return built;
    }
    let here = std::env::current_exe().expect("a test knows where it is");
    here.with_file_name("../bin/warpheap")
}

/// Runs `warpheap` with these arguments.
fn warpheap(args: &[&str]) -> Outcome {
    warpheap_with_input(args, b"")
}

/// Runs `warpheap` with these arguments and this standard input.
fn warpheap_with_input(args: &[&str], input: &[u8]) -> Outcome {
    warpheap_with(args, input, &[])
}

/// Runs `warpheap` with these arguments, this standard input and these environment variables.
fn warpheap_with(args: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Outcome {
    let mut child = Command::new(program())
        .args(args)
        // What the developer set for their own machine must not decide.
        .env_remove("WARPHEAP_BACKEND")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // The program may end without reading all of it.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    Outcome {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("output is text"),
        err: String::from_utf8(output.stderr).expect("errors are text"),
    }
}

/// Checks that a command with these arguments tells of each of two devices, on lines of its own, and has lines that begin with `more`; and that
/// it tells of one as if it had been named.
#[track_caller]
fn both_devices_are_told(args: &[&str], more: &[&str]) {
    let with = |devices| warpheap_with(args, b"", &[("WARPHEAP_HOST_DEVICES", devices)]).out;
    let alone = with("1");
    assert!(alone.starts_with("device    host: "), "{alone}");
    let both = with("2");
    let rows = [
        "device 0  host: ",
        "device 1  host: ",
        "0 emulator",
        "1 emulator",
    ];
    for row in [&rows, more].concat() {
        let is_there = both.lines().any(|line| line.starts_with(row));
        assert!(is_there, "{row}: {both}");
    }
}

impl Outcome {
    /// The JSON of a command that went well.
    #[track_caller]
    fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, Some(0), "{}", self.err);
        assert_eq!(self.err, "", "nothing on standard error");
        let json: once::Value = serde_json::from_str(&self.out).expect("output is JSON");
        json.0
    }

    /// Checks that the command failed with this exit code, one message, and nothing printed.
    #[track_caller]
    fn failed(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        assert_eq!(self.out, "", "nothing half-written");
        assert!(self.err.starts_with("error: "), "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "no `{part}` in: {}", self.err);
        }
    }
}

/// A file in a folder of its own that is removed at the end.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str, contents: impl AsRef<[u8]>) -> Self {
        let folder = std::env::temp_dir().join(format!(
            "warpheap-cli-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::create_dir_all(&folder).expect("temporary folder");
        let path = folder.join(name);
        std::fs::write(&path, contents).expect("temporary file");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("temporary path is text")
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        if let Some(folder) = self.0.parent() {
            // Fails while another file is in it, which is fine.
            let _ = std::fs::remove_dir(folder);
        }
    }
}
