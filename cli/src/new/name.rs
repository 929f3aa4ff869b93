//! Names of packages.

/// Names of crates that the project's own code uses, or that cargo refuses.
const TAKEN: [&str; 7] = [
    "alloc",
    "core",
    "proc_macro",
    "std",
    "test",
    "warpheap",
    "warpheap_build",
];

/// The words that Rust keeps for itself.
const KEYWORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Whether a package and its library can have this name.
///
/// # Errors
/// What is wrong with it.
pub fn check(name: &str) -> Result<(), String> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(good) {
        return Err(format!(
            "`{name}` is no name for a project: it begins with a letter from a to z and has only such letters, digits, - and _"
        ));
    }
    let library = name.replace('-', "_");
    if TAKEN.contains(&&*library) || KEYWORDS.contains(&&*library) {
        return Err(format!(
            "`{name}` is no name for a project: Rust or the library has it already"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_packages() {
        for name in ["a", "my-project", "k_mers2", "warpheap-user"] {
            assert_eq!(check(name), Ok(()));
        }
        for name in [
            "",
            "2d",
            "-x",
            "../x",
            "a b",
            "A",
            "é",
            "fn",
            "core",
            "warpheap",
            "proc-macro",
        ] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
