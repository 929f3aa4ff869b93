//! What a build script may decide, and what cargo and the environment decide for it.

use std::env;
use std::path::PathBuf;

use crate::device_crate::{CHECK, DeviceCrate};
use crate::error::BuildError;
use crate::format::Format;
use crate::toolchain::Search;

/// Whether images may be taken from prebuilt code, and whether they may be compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Prebuilt if it fits the sources, else compiled.
    #[default]
    Auto,
    /// Always compiled.
    Build,
    /// Never compiled.
    Prebuilt,
}

/// Settings of [`try_build`](crate::try_build).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The device crate's folder (`CARGO_MANIFEST_DIR`).
    pub manifest_dir: PathBuf,
    /// Where the results go (`OUT_DIR`).
    pub out_dir: PathBuf,
    /// The images that are wanted.
    pub formats: Vec<Format>,
    /// The folder of prebuilt code; by default the nearest `prebuilt` in or above the crate.
    pub prebuilt: Option<PathBuf>,
    /// Where the device compiler works; by default `target/device` of the workspace, or a folder in
    /// `out_dir` if there is no workspace.
    pub target_dir: Option<PathBuf>,
    /// The crate's cargo features that are on in the device build; by default none.
    pub features: Vec<String>,
    /// Prebuilt, compiled or either.
    pub mode: Mode,
    /// Whether heaps of `WarpHeap` find mistakes: `WARPHEAP_CHECK=1`, as the runtime that the host is compiled with reads it.
    pub checks: bool,
    /// Where toolchains are looked for.
    pub search: Search,
    /// This is the compilation for a device, in which there is nothing to do.
    pub nested: bool,
}

impl Options {
    /// Settings for the crate in `manifest_dir` with results in `out_dir`: no formats, mode
    /// [`Mode::Auto`], checks and toolchains from the environment.
    pub fn new(manifest_dir: impl Into<PathBuf>, out_dir: impl Into<PathBuf>) -> Self {
        Options {
            manifest_dir: manifest_dir.into(),
            out_dir: out_dir.into(),
            formats: Vec::new(),
            prebuilt: None,
            target_dir: None,
            features: Vec::new(),
            mode: Mode::Auto,
            checks: env::var_os(CHECK).is_some_and(|value| value == "1"),
            search: Search::from_env(),
            nested: false,
        }
    }

    /// Settings as cargo and the environment give them to a build script.
    ///
    /// # Errors
    /// A variable that cargo sets is absent, or `WARPHEAP_KERNELS` is unknown.
    pub fn from_env() -> Result<Self, BuildError> {
        let path = |name| {
            env::var_os(name)
                .map(PathBuf::from)
                .ok_or(BuildError::NotABuildScript(name))
        };
        let mut options = Options::new(path("CARGO_MANIFEST_DIR")?, path("OUT_DIR")?);
        let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
        options.nested = arch == "nvptx64" || arch == "spirv";
        let wanted = |format: &Format| {
            env::var_os(format!("CARGO_FEATURE_{}", format.feature().to_uppercase())).is_some()
        };
        options.formats = Format::ALL.into_iter().filter(wanted).collect();
        options.mode = match env::var("WARPHEAP_KERNELS").unwrap_or_default().as_str() {
            "" => Mode::Auto,
            "build" => Mode::Build,
            "prebuilt" => Mode::Prebuilt,
            other => return Err(BuildError::UnknownMode(other.to_owned())),
        };
        Ok(options)
    }

    /// Wants these formats.
    pub fn formats(mut self, formats: impl IntoIterator<Item = Format>) -> Self {
        self.formats = formats.into_iter().collect();
        self
    }

    /// Looks for prebuilt code in this folder only.
    pub fn prebuilt(mut self, folder: impl Into<PathBuf>) -> Self {
        self.prebuilt = Some(folder.into());
        self
    }

    /// Compiles in this target folder. It must not be the outer cargo's own: that one holds its lock.
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(folder.into());
        self
    }

    /// Compiles the device crate with these of its cargo features.
    pub fn features(mut self, features: impl IntoIterator<Item = String>) -> Self {
        self.features = features.into_iter().collect();
        self
    }

    /// Sets the mode.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Compiles kernels whose heaps of `WarpHeap` find mistakes, or not.
    pub fn checks(mut self, checks: bool) -> Self {
        self.checks = checks;
        self
    }

    pub(crate) fn device_crate(&self) -> Result<DeviceCrate, BuildError> {
        let mut krate = DeviceCrate::read(&self.manifest_dir)?
            .with_features(self.features.clone())
            .with_checks(self.checks);
        if let Some(folder) = &self.target_dir {
            krate = krate.with_target_dir(folder);
        } else if krate.workspace_root().is_none() && env::var_os("CARGO_TARGET_DIR").is_none() {
            krate = krate.with_target_dir(self.out_dir.join("device"));
        }
        Ok(krate)
    }
}
