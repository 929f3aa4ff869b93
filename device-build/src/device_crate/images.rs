//! What `package.metadata.warpheap` says of the images that a device crate becomes: one or one for each
//! allocator, with Rust's `alloc` or without.

use std::path::Path;

use toml_span::Value;

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

/// What the `Cargo.toml` of a device crate says of its images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    /// There is one for each allocator.
    pub by_allocator: bool,
    /// They are linked with Rust's `alloc`.
    pub alloc: bool,
}

/// What `images` and `alloc` in `package.metadata.warpheap` of the crate in `dir` say.
pub(super) fn declared(dir: &Path) -> Result<Declared, BuildError> {
    let path = dir.join("Cargo.toml");
    with_toml(&path, |manifest| {
        let value = |key| manifest.pointer(&format!("/package/metadata/warpheap/{key}"));
        let malformed = |reason| Err(BuildError::malformed(&path, reason));
        let by_allocator = match value("images").map(Value::as_str) {
            None => false,
            Some(Some("by-allocator")) => true,
            Some(_) => {
                return malformed(
                    "`package.metadata.warpheap.images` can only be \"by-allocator\"",
                );
            }
        };
        let alloc = match value("alloc").map(Value::as_bool) {
            None => false,
            Some(Some(alloc)) => alloc,
            Some(None) => {
                return malformed("`package.metadata.warpheap.alloc` is `true` or `false`");
            }
        };
        Ok(Declared {
            by_allocator,
            alloc,
        })
    })
}
