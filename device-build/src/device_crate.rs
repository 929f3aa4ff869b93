//! Which source files make up a device crate: its own and those of the local crates it compiles with.

mod folders;
mod images;
mod local;
mod manifest;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) use local::LocalCrate;
pub(crate) use manifest::package_name;
pub(crate) use text::with_toml;

use crate::error::BuildError;
use crate::format::Format;
use images::Declared;
use manifest::{absolute, collect, find_workspace};

pub use images::ALLOCATORS;

/// The environment variable that chooses heaps that find mistakes. The runtime refuses values that it does not know.
pub(crate) const CHECK: &str = "WARPHEAP_CHECK";
/// The allocator that is in `Checked` where checks are asked for.
const CHECKED: &str = "WarpHeap";

/// A crate that is compiled for devices, with everything local that it depends on.
#[derive(Clone, Debug)]
pub struct DeviceCrate {
    name: String,
    dir: PathBuf,
    workspace_root: Option<PathBuf>,
    target_dir: PathBuf,
    features: Vec<String>,
    members: BTreeMap<String, LocalCrate>,
    declared: Declared,
    part: Part,
    checks: bool,
}

/// What of a device crate's kernels an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of them.
    All,
    /// Those for one of the library's allocators.
    Of(&'static str),
    /// Those that are for no allocator of the library's.
    Rest,
}

impl DeviceCrate {
    /// Reads the crate in `dir` and, through `path` and `workspace` entries, the local crates that it
    /// is compiled with for a device. Build and dev dependencies do not count, nor do those in a
    /// `[target.'cfg(…)']` table that is false for `nvptx64` and for `spirv`. Sources that only a host
    /// compiles may be named in `package.metadata.warpheap.host-only`, a list of files and folders; those
    /// that only some allocators' kernels use in `package.metadata.warpheap.only-in`, a table of such
    /// files and folders with the allocators' names. Both keep prebuilt images valid that a change
    /// does not reach.
    ///
    /// # Errors
    /// A `Cargo.toml` on the way is missing or malformed, or names a host-only source that is not there.
    pub fn read(dir: &Path) -> Result<Self, BuildError> {
        let dir = absolute(dir)?;
        let workspace_root = find_workspace(&dir)?;
        let mut members = BTreeMap::new();
        let name = collect(&dir, &mut members)?;
        // A relative one is meant from a folder that is not known here.
        let shared = std::env::var_os("CARGO_TARGET_DIR")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let target_dir = match shared {
            Some(shared) => shared,
            None => workspace_root.as_deref().unwrap_or(&dir).join("target"),
        }
        .join("device");
        let declared = images::declared(&dir)?;
        Ok(DeviceCrate {
            name,
            dir,
            workspace_root,
            target_dir: absolute(&target_dir)?,
            features: Vec::new(),
            members,
            declared,
            part: Part::All,
            checks: false,
        })
    }

    /// This crate once for each image that it is compiled to: one for all its kernels, or, with
    /// `images = "by-allocator"` in `package.metadata.warpheap`, one for each of [`ALLOCATORS`] and one
    /// for the other kernels. A device loads an image when it is needed first.
    pub fn images(&self) -> Vec<DeviceCrate> {
        let with = |part| DeviceCrate {
            part,
            ..self.clone()
        };
        if !self.declared.by_allocator {
            return vec![with(Part::All)];
        }
        let parts = ALLOCATORS.iter().map(|name| Part::Of(name));
        std::iter::once(Part::Rest).chain(parts).map(with).collect()
    }

    /// The name of the image that this crate is compiled to: the package's, with a dot and the
    /// allocator's behind it if it is that one's.
    pub fn image_name(&self) -> String {
        match self.part {
            Part::All | Part::Rest => self.name.clone(),
            Part::Of(allocator) => format!("{}.{allocator}", self.name),
        }
    }

    /// Which allocator's kernels the image holds; empty for the image of a crate that has one, and for
    /// that of the other kernels.
    pub(crate) fn part_name(&self) -> &'static str {
        match self.part {
            Part::All | Part::Rest => "",
            Part::Of(allocator) => allocator,
        }
    }

    /// Whether the image may have no kernels, and then is none: one of several, of which another has the crate's kernels.
    pub(crate) fn may_be_empty(&self) -> bool {
        self.part != Part::All
    }

    /// Whether a source that only the kernels for `allocators` use is used in this image.
    pub(crate) fn uses(&self, allocators: &[String]) -> bool {
        match self.part {
            Part::All | Part::Rest => true,
            // Such an image also has what belongs to the global heap, which is no allocator's.
            Part::Of(_) if self.declared.alloc => true,
            Part::Of(allocator) => allocators.iter().any(|name| name == allocator),
        }
    }

    /// What `cfg(warpheap_image)` is when it is compiled: the expansion of `#[kernel]` asks for it.
    pub(crate) fn cfg_value(&self) -> &'static str {
        match self.part {
            Part::All => "all",
            Part::Rest => "rest",
            Part::Of(allocator) => allocator,
        }
    }

    /// Compiles with these cargo features on (default features are always off).
    pub fn with_features(mut self, features: impl IntoIterator<Item = String>) -> Self {
        self.features = features.into_iter().collect();
        self.features.sort();
        self.features.dedup();
        self
    }

    /// Compiles in this target folder instead of `target/device` of the workspace (or of
    /// `CARGO_TARGET_DIR`). It must not be the outer cargo's own: that one holds its lock.
    pub fn with_target_dir(mut self, target_dir: impl Into<PathBuf>) -> Self {
        self.target_dir = target_dir.into();
        self
    }

    /// Compiles with heaps of `WarpHeap` that find mistakes, as `WARPHEAP_CHECK=1` asks for, or without. Without is what
    /// [`read`](Self::read) gives, whatever the variable says: prebuilt images are of such kernels.
    pub fn with_checks(mut self, checks: bool) -> Self {
        self.checks = checks;
        self
    }

    /// Whether its heaps of `WarpHeap` find mistakes.
    pub(crate) fn checks(&self) -> bool {
        self.checks
    }

    /// Whether the image that it is compiled to is another one because of [checks](Self::with_checks).
    pub fn differs_by_checks(&self) -> bool {
        let other = matches!(self.part, Part::Of(allocator) if allocator != CHECKED);
        self.checks && !(other && self.declared.one_heap)
    }

    /// Whether its images are linked with Rust's `alloc`: `alloc = true` in `package.metadata.warpheap`.
    pub fn uses_alloc(&self) -> bool {
        self.declared.alloc
    }

    /// Whether it came in a package, as cargo publishes, downloads and vendors them.
    pub fn is_packaged(&self) -> bool {
        self.declared.packaged
    }

    /// The formats that its images can have: both, or PTX alone for a crate with Rust's `alloc`.
    pub fn formats(&self) -> &'static [Format] {
        match self.declared.alloc {
            true => &[Format::Ptx],
            false => &Format::ALL,
        }
    }

    /// The package name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder of its `Cargo.toml`.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of the workspace it belongs to, if any.
    pub fn workspace_root(&self) -> Option<&Path> {
        self.workspace_root.as_deref()
    }

    /// Where the device compiler works.
    pub fn target_dir(&self) -> &Path {
        &self.target_dir
    }

    /// Where cargo works for one format: it locks its folder, and both formats are compiled at the same time.
    pub(crate) fn target_dir_for(&self, format: Format) -> PathBuf {
        // What is compiled with checks has a folder of its own, so that neither is compiled again for the other.
        match self.checks {
            true => self.target_dir.join("checked").join(format.extension()),
            false => self.target_dir.join(format.extension()),
        }
    }

    /// The cargo features that are on in the device build.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// The crate with all its kernels.
    pub(crate) fn whole(&self) -> DeviceCrate {
        DeviceCrate {
            part: Part::All,
            ..self.clone()
        }
    }

    /// What a build script should watch: source folders (cargo looks inside), and `Cargo.toml` files.
    pub(crate) fn watch(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for member in self.members.values() {
            paths.push(member.dir.join("Cargo.toml"));
            paths.extend(member.source_dirs.iter().cloned());
        }
        paths.extend(
            self.workspace_root
                .as_ref()
                .map(|root| root.join("Cargo.toml")),
        );
        paths.sort();
        paths.dedup();
        paths
    }

    pub(crate) fn members(&self) -> &BTreeMap<String, LocalCrate> {
        &self.members
    }

    /// The lock file that the device build resolves with, if there is one.
    pub(crate) fn lockfile(&self) -> Option<PathBuf> {
        let lock = self
            .workspace_root
            .as_deref()
            .unwrap_or(&self.dir)
            .join("Cargo.lock");
        lock.is_file().then_some(lock)
    }
}
