//! Bytes as a file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Tells files apart that are there at the same time.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A folder with one file, which is there as long as this is.
pub struct Temporary {
    folder: PathBuf,
    /// The file.
    pub path: PathBuf,
}

impl Temporary {
    /// A file of this name with these bytes, in a folder of its own.
    pub fn new(name: &str, bytes: &[u8]) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("warpheap-fuzz-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder for a file");
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("a file is written");
        Temporary { folder, path }
    }

    /// The folder.
    pub fn folder(&self) -> &PathBuf {
        &self.folder
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Checks a message about a file: it is one line, and the line that it names is one of the file.
pub fn check_message(message: &str, name: &str, bytes: &[u8]) {
    assert_eq!(message.lines().count(), 1, "more than a line: {message:?}");
    assert!(
        !message.contains(|c: char| c.is_control() && c != '\t'),
        "control characters: {message:?}"
    );
    assert!(message.contains(name), "no file: {message}");
    let behind = [":", ", line "].map(|mark| message.split_once(&format!("{name}{mark}")));
    let behind = behind.into_iter().flatten().next();
    let line = behind.and_then(|(_, rest)| rest.split(':').next()?.parse::<usize>().ok());
    if let Some(line) = line {
        let lines = bytes.split(|byte| *byte == b'\n').count();
        assert!((1..=lines).contains(&line), "of {lines} lines: {message}");
    }
}
