//! Which compiler makes device code: where one is looked for, and whether it has all its parts.

mod found;
mod report;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use found::{MADE_TOOLCHAIN, NIGHTLY, Origin, SPIRV_BACKEND_VERSION, Toolchain};
pub use report::{Candidate, ToolchainError, ToolchainReport};

use crate::format::Format;

/// The environment variables that the search depends on.
pub const ENVIRONMENT: [&str; 6] = [
    "WARPHEAP_DEVICE_TOOLCHAIN",
    "WARPHEAP_TOOLCHAIN_DIR",
    "WARPHEAP_SPIRV_BACKEND",
    "RUSTUP_HOME",
    "HOME",
    "CARGO",
];

/// Where to look. [`Search::from_env`] gives the real places; tests make their own.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// `WARPHEAP_DEVICE_TOOLCHAIN`: a sysroot to use, whatever else there is.
    pub device_toolchain: Option<PathBuf>,
    /// `WARPHEAP_TOOLCHAIN_DIR`, else `~/.cache/warpheap/toolchain`.
    pub toolchain_dir: Option<PathBuf>,
    /// rustup's folder of toolchains.
    pub rustup_toolchains: Option<PathBuf>,
    /// `WARPHEAP_SPIRV_BACKEND`: rust-gpu's code generator, for toolchains that do not hold it.
    pub spirv_backend: Option<PathBuf>,
    /// The running cargo.
    pub cargo: Option<PathBuf>,
}

impl Search {
    /// The places that the environment names.
    pub fn from_env() -> Self {
        let path = |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = env::home_dir();
        Search {
            device_toolchain: path("WARPHEAP_DEVICE_TOOLCHAIN"),
            toolchain_dir: path("WARPHEAP_TOOLCHAIN_DIR").or_else(|| {
                home.as_ref()
                    .map(|home| home.join(".cache/warpheap/toolchain"))
            }),
            rustup_toolchains: path("RUSTUP_HOME")
                .or_else(|| home.as_ref().map(|home| home.join(".rustup")))
                .map(|rustup| rustup.join("toolchains")),
            spirv_backend: path("WARPHEAP_SPIRV_BACKEND"),
            cargo: path("CARGO"),
        }
    }

    /// The first toolchain that can make `format`.
    ///
    /// # Errors
    /// There is none; the error says what was looked for, what was found and what to install.
    pub fn find(&self, format: Format) -> Result<Toolchain, ToolchainError> {
        let report = self.report();
        match report.first(format) {
            Some(toolchain) => Ok(toolchain.clone()),
            None => Err(ToolchainError { format, report }),
        }
    }

    /// Looks at every place and says what is there.
    pub fn report(&self) -> ToolchainReport {
        let mut candidates = Vec::new();
        match &self.device_toolchain {
            Some(sysroot) => candidates.push(self.inspect(Origin::Environment, sysroot)),
            None => {
                candidates.push(Candidate::absent(
                    Origin::Environment,
                    "WARPHEAP_DEVICE_TOOLCHAIN is not set",
                ));
                candidates.push(self.made());
                candidates.push(self.rustup(Origin::RustupDevice, "rust-device"));
                candidates.push(self.rustup(Origin::RustupNightly, NIGHTLY));
            }
        }
        ToolchainReport { candidates }
    }

    fn made(&self) -> Candidate {
        let Some(sysroot) = self
            .toolchain_dir
            .as_ref()
            .map(|dir| dir.join(MADE_TOOLCHAIN))
        else {
            return Candidate::absent(
                Origin::Made,
                "neither WARPHEAP_TOOLCHAIN_DIR nor HOME is set",
            );
        };
        if !sysroot.is_dir() {
            return Candidate::absent(Origin::Made, format!("{} is not there", sysroot.display()));
        }
        if !is_executable(&sysroot.join(".complete")) {
            let text = format!(
                "{} is unfinished (no executable file .complete in it)",
                sysroot.display()
            );
            return Candidate::absent(Origin::Made, text);
        }
        self.inspect(Origin::Made, &sysroot)
    }

    fn rustup(&self, origin: Origin, name: &str) -> Candidate {
        let Some(toolchains) = &self.rustup_toolchains else {
            return Candidate::absent(origin, "neither RUSTUP_HOME nor HOME is set");
        };
        // rustup names a release `nightly-DATE-HOST`, a linked toolchain as the user did.
        let is_it = |found: &str| {
            found == name || (origin == Origin::RustupNightly && found.starts_with(name))
        };
        let entries = toolchains.read_dir().into_iter().flatten().flatten();
        let mut found: Vec<_> = entries
            .filter(|entry| is_it(&entry.file_name().to_string_lossy()))
            .collect();
        found.sort_by_key(|entry| entry.file_name());
        match found.first() {
            Some(entry) => self.inspect(origin, &entry.path()),
            None => Candidate::absent(origin, format!("no `{name}` in {}", toolchains.display())),
        }
    }

    /// Verifies the toolchain in `sysroot`.
    fn inspect(&self, origin: Origin, sysroot: &Path) -> Candidate {
        let rustc = sysroot
            .join("bin")
            .join(format!("rustc{}", env::consts::EXE_SUFFIX));
        let (version, host) = match ask_rustc(&rustc) {
            Ok(answer) => answer,
            Err(reason) => return Candidate::absent(origin, reason),
        };
        let own_cargo = sysroot
            .join("bin")
            .join(format!("cargo{}", env::consts::EXE_SUFFIX));
        let cargo = match (own_cargo.is_file(), &self.cargo) {
            (true, _) => own_cargo,
            (false, Some(running)) => running.clone(),
            (false, None) => PathBuf::from("cargo"),
        };
        let backend_name = format!(
            "{}rustc_codegen_spirv{}",
            env::consts::DLL_PREFIX,
            env::consts::DLL_SUFFIX
        );
        let own_backend = sysroot.join("lib").join(&backend_name);
        let backend = self.spirv_backend.clone().unwrap_or(own_backend);
        let tools = sysroot.join("lib/rustlib").join(&host).join("bin");

        let mut common = Vec::new();
        if !sysroot
            .join("lib/rustlib/src/rust/library/core/src/lib.rs")
            .is_file()
        {
            common.push("rust-src (no lib/rustlib/src/rust/library)".to_owned());
        }
        let mut ptx = common.clone();
        let has_tool = |name: &str| {
            tools
                .join(format!("{name}{}", env::consts::EXE_SUFFIX))
                .is_file()
        };
        if !has_tool("self-contained/llvm-bitcode-linker") && !has_tool("llvm-bitcode-linker") {
            ptx.push(format!(
                "llvm-bitcode-linker (not in lib/rustlib/{host}/bin)"
            ));
        }
        if !has_tool("llc") {
            ptx.push(format!("llvm-tools (no lib/rustlib/{host}/bin/llc)"));
        }
        let mut spirv = common;
        if !backend.is_file() {
            let text = format!(
                "rustc_codegen_spirv ={SPIRV_BACKEND_VERSION} (no {})",
                backend.display()
            );
            spirv.push(match self.spirv_backend {
                Some(_) => format!("{text}, which WARPHEAP_SPIRV_BACKEND names"),
                None => text,
            });
        }
        Candidate {
            origin,
            state: Ok(Toolchain {
                origin,
                sysroot: sysroot.to_path_buf(),
                rustc,
                cargo,
                version,
                host,
                spirv_backend: backend.is_file().then_some(backend),
            }),
            lacks_ptx: ptx,
            lacks_spirv: spirv,
        }
    }
}

/// The first toolchain of the real places that can make `format`; see [`Search::find`].
///
/// # Errors
/// There is none; the error says what was looked for, what was found and what to install.
pub fn find(format: Format) -> Result<Toolchain, ToolchainError> {
    Search::from_env().find(format)
}

/// What is at each of the real places, and what to do about what is missing; see [`Search::report`].
pub fn report() -> ToolchainReport {
    Search::from_env().report()
}

/// Runs `rustc -vV` and gives the version line and the host.
fn ask_rustc(rustc: &Path) -> Result<(String, String), String> {
    if !rustc.is_file() {
        return Err(format!("{} is not there", rustc.display()));
    }
    // A wrong toolchain forced by the outer rustup would not matter to a plain binary, but costs nothing to drop.
    let output = Command::new(rustc)
        .arg("-vV")
        .env_remove("RUSTUP_TOOLCHAIN")
        .output()
        .map_err(|e| format!("{} does not start: {e}", rustc.display()))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let first = stderr.lines().next().unwrap_or("no message");
        return Err(format!(
            "{} -vV fails ({}): {first}",
            rustc.display(),
            output.status
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text
        .lines()
        .next()
        .filter(|line| line.starts_with("rustc "));
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    match (version, host) {
        (Some(version), Some(host)) => Ok((version.to_owned(), host.to_owned())),
        _ => Err(format!("{} -vV gives no version", rustc.display())),
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
