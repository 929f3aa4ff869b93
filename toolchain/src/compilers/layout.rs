//! The folder that is a device toolchain: which file lies where.
//!
//! `bin/rustc`, `lib/librustc_driver.so`, `lib/librustc_codegen_spirv.so`,
//! `lib/rustlib/HOST/lib` (the standard library for build scripts and macros),
//! `lib/rustlib/HOST/bin` (LLVM's tools, `self-contained/llvm-bitcode-linker`),
//! `lib/rustlib/src/rust/library` (for `-Zbuild-std`), and `.complete` once all of it is there.

use super::HOST;
use crate::error::{Result, message};
use crate::sh;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A toolchain folder that is being filled.
pub struct Sysroot {
    root: PathBuf,
}

impl Sysroot {
    /// An empty one.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new(root: &Path) -> Result<Self> {
        sh::remove(root)?;
        let this = Self {
            root: root.to_path_buf(),
        };
        for folder in [
            this.root.join("bin"),
            this.libs(),
            this.tools().join("self-contained"),
        ] {
            sh::make_dir(&folder)?;
        }
        Ok(this)
    }

    /// Its compiler.
    pub fn rustc(&self) -> PathBuf {
        self.root.join("bin/rustc")
    }

    fn libs(&self) -> PathBuf {
        self.root.join("lib/rustlib").join(HOST).join("lib")
    }

    fn tools(&self) -> PathBuf {
        self.root.join("lib/rustlib").join(HOST).join("bin")
    }

    /// Adds a program to `bin`.
    ///
    /// # Errors
    /// As [`sh::copy`]; so do the other `add_…`.
    pub fn add_bin(&self, file: &Path, name: &str) -> Result {
        sh::copy(file, &self.root.join("bin").join(name))
    }

    /// Adds a compiled library and says where it lies now.
    pub fn add_lib(&self, file: &Path) -> Result<PathBuf> {
        let to = self.libs().join(file.file_name().unwrap_or_default());
        sh::copy(file, &to)?;
        Ok(to)
    }

    /// Adds the compiler's own shared library, with which it runs.
    pub fn add_driver(&self, file: &Path) -> Result {
        sh::copy(file, &self.root.join("lib/librustc_driver.so"))
    }

    /// Adds the SPIR-V backend.
    pub fn add_backend(&self, file: &Path) -> Result {
        sh::copy(file, &self.root.join("lib").join(super::BACKEND_FILE))
    }

    /// Adds the linker for PTX.
    pub fn add_bitcode_linker(&self, file: &Path) -> Result {
        sh::copy(
            file,
            &self.tools().join("self-contained/llvm-bitcode-linker"),
        )
    }

    /// Adds the source of the standard library.
    pub fn add_library_source(&self, folder: &Path) -> Result {
        let to = self.root.join("lib/rustlib/src/rust");
        sh::make_dir(&to)?;
        sh::quiet(Command::new("cp").arg("-a").arg(folder).arg(&to)).map(drop)
    }

    /// Lets the backend's build find the compiler's source, which it copies a part of.
    pub fn link_compiler_source(&self, source: &Path) -> Result<PathBuf> {
        let folder = self.root.join("lib/rustlib/rustc-src");
        sh::make_dir(&folder)?;
        link(source, &folder.join("rust"))?;
        Ok(folder)
    }

    /// Links LLVM's tools, marks the folder as complete and moves it to its place.
    ///
    /// # Errors
    /// When LLVM 22 is not installed or the file system refuses.
    pub fn complete(self, place: &Path) -> Result {
        link_llvm_tools(&self.root)?;
        finish(&self.root, place)
    }
}

/// Marks a filled folder as complete and moves it to its place.
///
/// # Errors
/// When the file system refuses.
pub fn finish(part: &Path, place: &Path) -> Result {
    let mark = part.join(".complete");
    sh::write(&mark, "")?;
    sh::make_executable(&mark)?;
    sh::remove(place)?;
    std::fs::rename(part, place).map_err(|e| sh::file("move", part, e))
}

/// Links LLVM's own tools, which `llvm-bitcode-linker` starts, into a toolchain folder.
///
/// # Errors
/// When LLVM 22 is not installed or the file system refuses.
pub fn link_llvm_tools(toolchain: &Path) -> Result {
    let folder = toolchain.join("lib/rustlib").join(HOST).join("bin");
    sh::make_dir(&folder)?;
    for tool in ["llvm-link", "opt", "llc"] {
        let Some(program) = sh::which(&format!("{tool}-22")) else {
            return message(format!(
                "{tool}-22 is not on PATH: install the Debian package llvm-22"
            ));
        };
        let to = folder.join(tool);
        sh::remove(&to)?;
        link(&program, &to)?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Result {
    std::os::unix::fs::symlink(from, to).map_err(|e| sh::file("link", to, e))
}

/// Toolchains are made on one system alone.
#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> Result {
    sh::copy(from, to)
}
