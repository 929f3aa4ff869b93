//! Modules use only what stands before them in the table of the crate's documentation.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn modules_look_only_down() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let order = order(&fs::read_to_string(src.join("lib.rs")).expect("lib.rs"));
    let mut seen = Vec::new();
    for file in files(&src) {
        let inside = file.strip_prefix(&src).expect("it lies there");
        let first = inside.iter().next().expect("a name");
        let module = first.to_string_lossy().trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let own = order.iter().position(|name| *name == module);
        let own = own.unwrap_or_else(|| panic!("`{module}` is not in the table of lib.rs"));
        let text = fs::read_to_string(&file).expect("a source");
        for used in used(&text) {
            let below = order.iter().position(|name| *name == used);
            assert!(
                below.is_some_and(|below| below <= own),
                "{} uses `{used}`, which does not stand before `{module}`",
                file.display()
            );
        }
        seen.push(module);
    }
    for name in &order {
        assert!(seen.contains(name), "there is no `{name}`");
    }
}

/// The modules in the table, from the bottom up.
fn order(lib: &str) -> Vec<String> {
    let rows = lib
        .lines()
        .skip_while(|line| !line.starts_with("//! | layer |"));
    let rows = rows.skip(2).take_while(|line| line.starts_with("//! |"));
    // Every second piece is between two backticks.
    rows.flat_map(|row| row.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

/// The modules that a source names by `crate::`, outside of comments. A list in braces is no name, and so none of the table's.
fn used(text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut used = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        for (at, word) in line.match_indices("crate::") {
            if !line[..at].ends_with(is_name) {
                let rest = &line[at + word.len()..];
                used.push(rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())].to_owned());
            }
        }
    }
    used
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}
