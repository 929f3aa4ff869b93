//! Compiled pipelines on disk: a driver compiles a kernel once, and not at each start of a program.
//!
//! A pipeline has a file of its own, whose name says what it was made of: driver and device, the words of its module, and
//! how it was asked for. So nothing is ever out of date, programs that run side by side do not undo what the others
//! wrote, and what is damaged is made anew. Nothing here fails: without the folder kernels are compiled as ever.

use ash::vk;
use hmac_sha256::Hash;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// What a file begins with: its format's name and version.
const MAGIC: [u8; 8] = *b"whpipe 1";
/// Bytes of the sum that follows, of what comes after it.
const SUM: usize = 32;
/// Bytes that the driver's header has, behind which its data begin.
const DRIVER_HEADER: usize = 32;
/// Bytes of a folder that is too large. Its oldest files go until half of that is left.
const MOST_BYTES: u64 = 1 << 30;

/// Tells files apart that are being written.
static NEXT_PART: AtomicU64 = AtomicU64::new(0);

/// A folder with pipelines.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Driver and device.
    identity: Vec<u8>,
}

impl Cache {
    /// The folder, which is made once something is kept in it.
    pub(crate) fn new(folder: &Path, identity: Vec<u8>) -> Self {
        trim(folder, MOST_BYTES);
        Cache {
            folder: folder.into(),
            identity,
        }
    }

    /// The place of the pipeline that is made of these words, and asked for with those options.
    pub(crate) fn place(&self, words: &[u32], options: &[&[u8]]) -> Place {
        let mut sum = Hash::new();
        for part in [env!("CARGO_PKG_VERSION").as_bytes(), &self.identity]
            .iter()
            .chain(options)
        {
            sum.update((part.len() as u64).to_le_bytes());
            sum.update(part);
        }
        for word in words {
            sum.update(word.to_le_bytes());
        }
        let name: String = sum.finalize()[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Place {
            file: self.folder.join(name),
        }
    }
}

/// Where a pipeline is kept, or would be.
#[derive(Debug)]
pub(crate) struct Place {
    file: PathBuf,
}

impl Place {
    /// What the driver said of the pipeline when it was made; nothing if it was not, or the file is damaged.
    pub(crate) fn read(&self) -> Vec<u8> {
        let Ok(mut bytes) = fs::read(&self.file) else {
            return Vec::new();
        };
        let begin = MAGIC.len() + SUM;
        let whole = bytes.len() > begin
            && bytes.starts_with(&MAGIC)
            && Hash::hash(&bytes[begin..])[..] == bytes[MAGIC.len()..begin];
        if !whole {
            tracing::debug!(file = %self.file.display(), "a kept pipeline is damaged");
            return Vec::new();
        }
        bytes.drain(..begin);
        bytes
    }

    /// Keeps what the driver says of the pipeline, if that is anything.
    pub(crate) fn write(&self, data: &[u8]) {
        if data.len() <= DRIVER_HEADER {
            return;
        }
        if let Err(error) = self.try_write(data) {
            tracing::debug!(file = %self.file.display(), %error, "a pipeline is not kept");
        }
    }

    /// Others see the whole file or none.
    fn try_write(&self, data: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        // Two devices of this process may be of one model, and compile the same at the same time.
        let number = NEXT_PART.fetch_add(1, Ordering::Relaxed);
        let part = format!("{}-{number}.part", std::process::id());
        let part = self.file.with_extension(part);
        let written = fs::File::create(&part).and_then(|mut file| {
            file.write_all(&MAGIC)?;
            file.write_all(&Hash::hash(data))?;
            file.write_all(data)
        });
        written
            .and_then(|()| fs::rename(&part, &self.file))
            .inspect_err(|_| drop(fs::remove_file(&part)))
    }
}

/// Vendor, device and version of the driver, and what it says its pipelines are of.
pub(crate) fn identity(basic: &vk::PhysicalDeviceProperties) -> [u8; 28] {
    let mut identity = [0; 28];
    identity[..4].copy_from_slice(&basic.vendor_id.to_le_bytes());
    identity[4..8].copy_from_slice(&basic.device_id.to_le_bytes());
    identity[8..12].copy_from_slice(&basic.driver_version.to_le_bytes());
    identity[12..].copy_from_slice(&basic.pipeline_cache_uuid);
    identity
}

/// Where users' programs keep such things, if that can be told from the environment.
pub(crate) fn usual_folder(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| {
        var(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let caches = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("LOCALAPPDATA"))
        .or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("warpheap").join("pipelines"))
}

/// Removes the oldest files of a folder that has more than `most` bytes, until half of that is left.
fn trim(folder: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((about.modified().ok()?, about.len(), entry.path()))
        })
        .collect();
    let mut bytes: u64 = files.iter().map(|file| file.1).sum();
    if bytes <= most {
        return;
    }
    files.sort();
    for (_, size, file) in files {
        if bytes <= most / 2 {
            break;
        }
        // Another program may have been faster.
        if fs::remove_file(&file).is_ok() {
            bytes -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("warpheap-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    const DATA: [u8; 100] = [7; 100];

    #[test]
    fn what_was_written_is_read_by_the_next_program() {
        let folder = folder("kept");
        let place = || Cache::new(&folder, b"driver 1".to_vec()).place(&[1, 2], &[b"churn"]);
        assert_eq!(place().read(), []);
        place().write(&DATA);
        assert_eq!(place().read(), DATA);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no part is left");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn devices_that_write_the_same_at_once_leave_it_whole() {
        let folder = folder("at-once");
        let cache = Cache::new(&folder, b"driver 1".to_vec());
        let data = vec![7; 1 << 16];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let written = cache.place(&[1], &[]).try_write(&data);
                        written.expect("nobody takes the part away");
                        assert!(cache.place(&[1], &[]).read() == data, "damaged");
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no part is left");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn another_driver_module_or_option_is_another_pipeline() {
        let folder = folder("keys");
        let cache = Cache::new(&folder, b"driver 1".to_vec());
        cache.place(&[1, 2], &[b"churn", b"256"]).write(&DATA);
        let other = Cache::new(&folder, b"driver 2".to_vec());
        for place in [
            other.place(&[1, 2], &[b"churn", b"256"]),
            cache.place(&[1, 3], &[b"churn", b"256"]),
            cache.place(&[1, 2], &[b"churn", b"128"]),
            cache.place(&[1, 2], &[b"churn2", b"56"]),
        ] {
            assert_eq!(place.read(), []);
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damaged_files_and_data_that_say_nothing_are_no_pipelines() {
        let folder = folder("damaged");
        let place = Cache::new(&folder, Vec::new()).place(&[1], &[]);
        place.write(&DATA[..DRIVER_HEADER]);
        assert!(!place.file.exists());
        place.write(&DATA);
        let whole = fs::read(&place.file).unwrap();
        for length in 0..whole.len() {
            fs::write(&place.file, &whole[..length]).unwrap();
            assert_eq!(place.read(), [], "cut off after {length} bytes");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&place.file, bytes).unwrap();
            assert_eq!(place.read(), [], "byte {at} is another");
        }
        place.write(&DATA);
        assert_eq!(place.read(), DATA);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_too_large_loses_its_oldest() {
        let folder = folder("large");
        fs::create_dir_all(&folder).unwrap();
        let now = SystemTime::now();
        for age in 0..10 {
            let file = fs::File::create(folder.join(age.to_string())).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(now - std::time::Duration::from_secs(age))
                .unwrap();
        }
        trim(&folder, 1000);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 10);
        trim(&folder, 900);
        let left = |age: u32| folder.join(age.to_string()).exists();
        assert!((0..4).all(left) && !(4..10).any(left));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_error() {
        let file = folder("file");
        fs::write(&file, "a file").unwrap();
        let place = Cache::new(&file, Vec::new()).place(&[1], &[]);
        place.write(&DATA);
        assert_eq!(place.read(), []);
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn the_usual_folder_is_that_of_the_system() {
        let with = |set: &[(&str, &str)]| {
            usual_folder(|name| {
                let found = set.iter().find(|(other, _)| *other == name)?;
                Some(OsString::from(found.1))
            })
        };
        let home = ("HOME", "/home/ada");
        let usual = |text: &str| Some(PathBuf::from(text));
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("HOME", "")]), None);
        assert_eq!(with(&[home]), usual("/home/ada/.cache/warpheap/pipelines"));
        let set = with(&[home, ("XDG_CACHE_HOME", "/var/cache")]);
        assert_eq!(set, usual("/var/cache/warpheap/pipelines"));
        let relative = with(&[home, ("XDG_CACHE_HOME", "cache")]);
        assert_eq!(relative, usual("/home/ada/.cache/warpheap/pipelines"));
    }
}
