//! The folders of the library's allocators: the runtime's `Cargo.toml` says where they lie, the rows which there are.

use std::collections::BTreeMap;

use toml_span::Value;
use warpheap_allocators::ROWS;

use super::local::LocalCrate;
use crate::error::BuildError;

/// What holds an allocator's half for the host, in its folder.
const HOST: [&str; 2] = ["host.rs", "host"];

/// Adds what `package.metadata.warpheap.allocators` stands for, a folder with a folder for each allocator: what lies in such a
/// one is only in the images of the allocators whose rows name it, and its half for the host in none.
pub(super) fn declare(manifest: &Value<'_>, local: &mut LocalCrate) -> Result<(), BuildError> {
    let malformed = |reason| {
        let reason = format!("`package.metadata.warpheap.allocators` {reason}");
        BuildError::malformed(&local.dir.join("Cargo.toml"), reason)
    };
    let parent = match manifest.pointer("/package/metadata/warpheap/allocators") {
        None => return Ok(()),
        Some(value) => value
            .as_str()
            .ok_or_else(|| malformed("is the path of a folder".to_owned()))?,
    };
    let mut folders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in ROWS {
        let names = folders.entry(row.folder).or_default();
        names.extend(row.in_all.then(|| row.name.to_owned()));
    }
    let (mut host_only, mut only_in) = (Vec::new(), Vec::new());
    for (folder, names) in folders {
        let path = local.dir.join(parent).join(folder);
        if !path.is_dir() {
            return Err(malformed(format!(
                "stands for {}, which is not there",
                path.display()
            )));
        }
        let host = HOST.map(|name| path.join(name));
        host_only.extend(host.into_iter().filter(|path| path.exists()));
        only_in.push((path, names));
    }
    local.host_only.extend(host_only);
    local.only_in.extend(only_in);
    Ok(())
}
