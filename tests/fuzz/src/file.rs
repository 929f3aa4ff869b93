//! Bytes as a file.

use std::path::{Path, PathBuf};
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

/// A file that several processes read in parts.
pub struct Divided<'a> {
    /// The byte in front, whose lowest two bits say nothing of parts.
    pub control: u8,
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// How many parts there are, 1 to 24.
    pub parts: usize,
    /// The file.
    pub file: Temporary,
    /// What messages call it.
    pub name: String,
}

impl<'a> Divided<'a> {
    /// A file of the bytes behind the first one, which says how many parts there are; nothing if there are no bytes.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (&control, bytes) = bytes.split_first()?;
        let file = Temporary::new("file", bytes);
        Some(Divided {
            control,
            bytes,
            parts: 1 + usize::from(control >> 2) % 24,
            name: file.path.display().to_string(),
            file,
        })
    }

    /// What comes of each part, in their order.
    pub fn each<T>(&self, read: impl Fn(&Path, usize, usize) -> T) -> Vec<T> {
        let part = |number| read(&self.file.path, number, self.parts);
        (0..self.parts).map(part).collect()
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
