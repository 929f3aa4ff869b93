//! Profiles that a machine's cargo configuration adds to those of the workspace.
//!
//! The builder sees to it that no profile changes the code of an image. But cargo hashes the profile of a crate into
//! the names of its symbols, and names are in the text of PTX: an image that is made beside such a profile is another
//! than the one that a check makes elsewhere.

use crate::error::{Result, message};
use std::path::{Path, PathBuf};

/// Refuses to go on beside such a profile.
///
/// # Errors
/// A configuration that cargo reads for the project in `root` has a table `profile`.
pub(super) fn refuse(root: &Path, cargo_home: Option<PathBuf>) -> Result {
    let folders = root.ancestors().map(|folder| folder.join(".cargo"));
    for folder in folders.chain(cargo_home) {
        for file in ["config.toml", "config"].map(|name| folder.join(name)) {
            if std::fs::read_to_string(&file).is_ok_and(|text| has_profile(&text)) {
                return message(format!(
                    "{} sets cargo profiles, which go into the names of symbols: prebuilt kernels that are made here \
                     would not be the same elsewhere\n  do: take the table `profile` out of it, and run this again",
                    file.display()
                ));
            }
        }
    }
    Ok(())
}

/// Whether a configuration has a table `profile`. One that cannot be read is left for cargo to complain about.
fn has_profile(text: &str) -> bool {
    toml_span::parse(text).is_ok_and(|config| config.pointer("/profile").is_some())
}

/// The folder of the user's own configuration.
pub(super) fn cargo_home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").filter(|home| !home.is_empty());
    set.map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_of_the_machine_are_refused_and_other_settings_are_not() {
        let home = std::env::temp_dir().join(format!("warpheap-profiles-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let file = home.join("config.toml");
        let answer = |text: &str| {
            std::fs::write(&file, text).unwrap();
            refuse(Path::new("/"), Some(home.clone()))
        };
        answer("[net]\noffline = true\n[build]\njobs = 2\n").unwrap();
        let profile = "[profile.release.package.warpheap-kernels]\nopt-level = 0\n";
        let text = answer(profile).unwrap_err().to_string();
        assert!(text.contains(&file.display().to_string()), "{text}");
        crate::sh::remove(&home).unwrap();
        refuse(Path::new("/"), Some(home)).unwrap();
    }
}
