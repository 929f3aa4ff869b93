//! How programs are run and files are touched, with errors that name them.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// How much of a failed program's output an error repeats.
const TAIL_LINES: usize = 40;

/// Runs a program with its output going to the terminal.
///
/// # Errors
/// When it cannot be started or exits with anything but 0.
pub fn run(command: &mut Command) -> Result {
    eprintln!("+ {}", shown(command));
    let status = command.status().map_err(|e| start(command, e))?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        command: shown(command),
        status: status.to_string(),
        output: String::new(),
    })
}

/// Runs a program and returns what it wrote to its standard output; its standard error goes to the
/// terminal.
///
/// # Errors
/// As [`run`].
pub fn stdout(command: &mut Command) -> Result<String> {
    let out = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| start(command, e))?;
    finished(command, out)
}

/// Runs a program silently: both streams are kept, and the end of them is in the error.
///
/// # Errors
/// As [`run`].
pub fn quiet(command: &mut Command) -> Result<String> {
    let out = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| start(command, e))?;
    finished(command, out)
}

fn finished(command: &Command, out: Output) -> Result<String> {
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    let lines: Vec<&str> = text.lines().collect();
    Err(Error::Failed {
        command: shown(command),
        status: out.status.to_string(),
        output: lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n"),
    })
}

fn start(command: &Command, source: std::io::Error) -> Error {
    Error::Start {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
        hint: "is it installed and on PATH?",
    }
}

/// The command line as a person would type it (no quoting: for reading, not for pasting).
pub fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

/// Where a program is on PATH, if it is.
pub fn which(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Makes a folder and those above it.
///
/// # Errors
/// When the file system refuses.
pub fn make_dir(path: &Path) -> Result {
    std::fs::create_dir_all(path).map_err(|e| file("make the folder", path, e))
}

/// Removes a file or a folder with all that is in it; nothing there is fine.
///
/// # Errors
/// When the file system refuses.
pub fn remove(path: &Path) -> Result {
    let done = match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => return Ok(()),
    };
    done.map_err(|e| file("remove", path, e))
}

/// Writes a file whole.
///
/// # Errors
/// When the file system refuses.
pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result {
    std::fs::write(path, text).map_err(|e| file("write", path, e))
}

/// Reads a text file whole.
///
/// # Errors
/// When it is not there or not text.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| file("read", path, e))
}

/// Copies one file with its permissions.
///
/// # Errors
/// When the file system refuses.
pub fn copy(from: &Path, to: &Path) -> Result {
    std::fs::copy(from, to)
        .map(drop)
        .map_err(|e| file("copy", from, e))
}

/// Makes a text file executable by everybody.
///
/// # Errors
/// When the file system refuses.
#[cfg(unix)]
pub fn make_executable(path: &Path) -> Result {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .map_err(|e| file("make executable", path, e))
}

/// Makes a text file executable by everybody; here every file is.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn make_executable(_: &Path) -> Result {
    Ok(())
}

/// A file error with its place.
pub fn file(what: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::File {
        what,
        path: path.to_path_buf(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_program_shows_the_end_of_its_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "seq 100; echo done >&2; exit 3"]);
        let text = quiet(&mut command).unwrap_err().to_string();
        assert!(text.contains("exit status: 3"), "{text}");
        assert!(text.contains("\n99\n100\ndone"), "{text}");
        assert!(!text.contains("\n50\n"), "{text}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let text = run(&mut Command::new("no-such-program-here"))
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("`no-such-program-here`") && text.contains("PATH"),
            "{text}"
        );
    }
}
