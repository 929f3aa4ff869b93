//! What is said for fences that no schedule misses: a list in the docs, an item for each.

use crate::workspace::root;
use std::collections::BTreeSet;
use warpheap_toolchain::error::{Result, message};
use warpheap_toolchain::sh;

/// The list, below the workspace's root. Items look like ``- `alloc/list.rs` `push` release: because``.
pub const LIST: &str = "docs/unmissed.md";

/// File, function and order, as an item begins.
pub type Key = String;

/// Which places are argued for.
///
/// # Errors
/// When the list cannot be read.
pub fn read() -> Result<BTreeSet<Key>> {
    Ok(sh::read(&root().join(LIST))?
        .lines()
        .filter_map(|line| Some(line.strip_prefix("- ")?.split_once(": ")?.0.to_owned()))
        .collect())
}

/// The key of a place, `device-rt/src/FILE:LINE:COLUMN:ORDER`: lines move, functions keep their names.
///
/// # Errors
/// When the place has another form, or its file cannot be read.
pub fn key(place: &str) -> Result<Key> {
    let parts: Vec<&str> = place.split(':').collect();
    let &[path, line, _, order] = parts.as_slice() else {
        return message(format!(
            "`{place}` is no place of the form FILE:LINE:COLUMN:ORDER"
        ));
    };
    let text = sh::read(&root().join(path))?;
    let lines: Vec<&str> = text.lines().collect();
    let end = line.parse().unwrap_or(0).min(lines.len());
    let function = lines[..end].iter().rev().find_map(|line| name_of(line));
    Ok(format!(
        "`{}` `{}` {order}",
        path.trim_start_matches("device-rt/src/"),
        function.unwrap_or("?")
    ))
}

/// The name of the function that a line begins.
fn name_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let at = line.find("fn ")?;
    let before = line[..at].split_whitespace();
    let begins = before.clone().all(|word| {
        word.starts_with("pub")
            || word.starts_with("in")
            || ["unsafe", "const", "extern"].contains(&word)
    });
    let name = line[at + 3..].split(['(', '<']).next()?;
    (begins && !line.starts_with("//")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn functions_begin_lines() {
        assert_eq!(
            name_of("    pub(super) unsafe fn free<A>(self) {"),
            Some("free")
        );
        assert_eq!(name_of("fn hold(self) -> bool {"), Some("hold"));
        assert_eq!(name_of("    // a fn of it"), None);
        assert_eq!(name_of("    let call = make(fn () {})"), None);
    }
}
