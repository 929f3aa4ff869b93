//! Which sources the compiler read, held against those that the source hash covers.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::device_crate::DeviceCrate;
use crate::error::BuildError;
use crate::format::Format;

/// Checks after a compilation that every source of a local crate that went into the image also goes
/// into the hash. Without this a wrong `host-only` would let prebuilt code go stale unnoticed.
pub(crate) fn check(krate: &DeviceCrate, format: Format) -> Result<(), BuildError> {
    let (folder, ending) = match format {
        Format::Ptx => ("nvptx64-nvidia-cuda", "d"),
        Format::Spirv => ("spirv-unknown-vulkan1.2", "spv.d"),
    };
    let path = krate
        .target_dir_for(format)
        .join(folder)
        .join("release")
        .join(format!("{}.{ending}", krate.name().replace('-', "_")));
    let text = fs::read_to_string(&path).map_err(BuildError::io("read", &path))?;
    let covered: BTreeSet<PathBuf> = krate.sources()?.into_iter().collect();
    let missing = read_by_compiler(&text).into_iter().find(|file| {
        let local = krate
            .members()
            .values()
            .flat_map(|member| &member.source_dirs)
            .any(|dir| file.starts_with(dir));
        local && !covered.contains(file)
    });
    match missing {
        None => Ok(()),
        Some(file) => Err(BuildError::NotCovered {
            krate: krate.name().to_owned(),
            format,
            file,
        }),
    }
}

/// The files right of the colon in a rule of a makefile, where `\ ` is a space in a name.
fn read_by_compiler(rule: &str) -> Vec<PathBuf> {
    let Some((_, files)) = rule.split_once(": ") else {
        return Vec::new();
    };
    let mut names = vec![String::new()];
    let mut characters = files.trim_end().chars().peekable();
    while let Some(character) = characters.next() {
        match (character, names.last_mut()) {
            ('\\', Some(name)) if characters.peek() == Some(&' ') => {
                characters.next();
                name.push(' ');
            }
            (' ', _) => names.push(String::new()),
            (_, Some(name)) => name.push(character),
            (_, None) => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::read_by_compiler;
    use std::path::PathBuf;

    #[test]
    fn names_with_spaces_are_read() {
        let rule = "/t/k.ptx: /a/b.rs /my\\ code/c.rs  /d\\e.rs\n";
        let want = ["/a/b.rs", "/my code/c.rs", "/d\\e.rs"].map(PathBuf::from);
        assert_eq!(read_by_compiler(rule), want);
        assert!(read_by_compiler("").is_empty());
    }
}
