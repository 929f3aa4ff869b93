//! The inputs that fuzzing kept, once more: each file of the corpora goes through its target.

#[path = "../../../tests/fuzz/src/lib.rs"]
mod fuzz;

use std::path::PathBuf;

/// The files of a folder of the corpora, in the order of their names.
fn files(folder: &str) -> Vec<PathBuf> {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fuzz/corpus");
    let folder = PathBuf::from(corpus).join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// Runs a target with each file of its corpus.
fn replay(name: &str) {
    let target = fuzz::TARGETS.iter().find(|target| target.0 == name);
    let target = target.expect("a target of this name").1;
    let files = files(name);
    assert!(!files.is_empty(), "{name} has no corpus");
    for file in files {
        // Shown if the target panics.
        println!("{}", file.display());
        target(&std::fs::read(&file).expect("a file of the corpus"));
    }
}

macro_rules! replays {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        #[test]
        fn each_target_is_replayed_and_has_its_folder() {
            let mut replayed = vec![$(stringify!($name)),*];
            replayed.sort();
            let mut targets = fuzz::TARGETS.map(|target| target.0);
            targets.sort();
            assert_eq!(replayed, targets);
            let folders = files("").into_iter().map(|folder| folder.file_name().map(Into::into));
            let folders: Vec<std::ffi::OsString> = folders.flatten().collect();
            assert_eq!(folders, targets);
        }
    };
}

replays!(
    graphs, heaps, manifests, ptx, results, sequences, sizes, spirv, tables, traces
);
