//! Whether a device crate becomes one image or one for each allocator.

use std::path::Path;

use super::with_toml;
use crate::error::BuildError;

/// The allocators of the library, each with an image of its own in a crate whose images are divided.
/// The list of `#[kernel(allocators = all)]`.
pub const ALLOCATORS: [&str; 18] = [
    "Bump",
    "ScatterAlloc",
    "WarpHeap",
    "OuroborosPS",
    "OuroborosPVA",
    "OuroborosPVL",
    "OuroborosCS",
    "OuroborosCVA",
    "OuroborosCVL",
    "Gallatin",
    "RandomWalk",
    "RandomWalkBitmap",
    "CollaborativeWalk",
    "ClusteredWalk",
    "RandomWalkMalloc",
    "SizeList",
    "MpList",
    "DirectOutput",
];

/// What `package.metadata.warpheap.images` of the crate in `dir` says.
pub(super) fn by_allocator(dir: &Path) -> Result<bool, BuildError> {
    let path = dir.join("Cargo.toml");
    with_toml(&path, |manifest| {
        let Some(value) = manifest.pointer("/package/metadata/warpheap/images") else {
            return Ok(false);
        };
        match value.as_str() {
            Some("by-allocator") => Ok(true),
            _ => Err(BuildError::malformed(
                &path,
                "`package.metadata.warpheap.images` can only be \"by-allocator\"",
            )),
        }
    })
}
