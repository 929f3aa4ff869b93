//! The compiler itself: Debian's source of rustc 1.96.0, compiled with Debian's rustc 1.96.0.
//!
//! Debian's own binary cannot be used: it has no `llvm-bitcode-linker` and none of the compiler's
//! libraries that a codegen backend links against. Its packages are unpacked, not installed, since
//! they conflict with rustup and with the `rustc` package. The result calls itself a nightly, because
//! a codegen backend and `-Zbuild-std` are for nightlies only.

use super::{HOST, RUST, layout::Sysroot};
use crate::cargo::cargo;
use crate::error::{Error, Result, message};
use crate::{debian, sh};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian packages that must be installed: LLVM, its headers, and compilers for the C++ parts.
pub const INSTALLED: [&str; 5] = ["llvm-22", "llvm-22-dev", "g++", "libc6-dev", "binutils"];

/// Packages that are only unpacked: the bootstrap compiler, its library, the source.
const UNPACKED: [&str; 4] = [
    "rustc-web",
    "libstd-rust-web-dev",
    "libstd-rust-web-1.96",
    "rust-web-src",
];

/// Workspace of the parts that are compiled, in place of one that lists tools Debian leaves out.
const WORKSPACE: &str = r#"[workspace]
resolver = "2"
members = ["compiler/rustc", "src/tools/llvm-bitcode-linker"]
"#;

/// An unpacked bootstrap compiler with the compiler's source.
pub struct Bootstrap {
    /// `usr` of the unpacked packages.
    usr: PathBuf,
    /// A script that starts the bootstrap rustc with its libraries on the search path.
    rustc: PathBuf,
    /// Where cargo puts what it compiles.
    target: PathBuf,
    /// How many jobs cargo runs at a time; its own choice without.
    jobs: Option<u32>,
}

impl Bootstrap {
    /// Downloads and unpacks the packages under `work`, unless an earlier try did.
    ///
    /// # Errors
    /// When apt does not have them or the unpacked compiler does not start.
    pub fn unpack(work: &Path, jobs: Option<u32>) -> Result<Self> {
        let tree = work.join("debian");
        let this = Self {
            usr: tree.join("usr"),
            rustc: work.join("rustc"),
            target: work.join("target"),
            jobs,
        };
        let version = debian::version(UNPACKED[0], &format!("{RUST}+"))?;
        let stamp = work.join("unpacked");
        if std::fs::read_to_string(&stamp).is_ok_and(|old| old == version) {
            return Ok(this);
        }
        eprintln!("unpacking {} {version}", UNPACKED.join(" "));
        sh::remove(work)?;
        sh::make_dir(work)?;
        debian::unpack(
            &UNPACKED.map(|package| format!("{package}={version}")),
            &tree,
        )?;
        sh::write(&this.rustc, this.script())?;
        sh::make_executable(&this.rustc)?;
        sh::write(&this.source().join("Cargo.toml"), WORKSPACE)?;
        this.version()?;
        sh::write(&stamp, &version)?;
        Ok(this)
    }

    /// The compiler's source tree.
    pub fn source(&self) -> PathBuf {
        self.usr.join(format!("src/rustc-{RUST}"))
    }

    fn script(&self) -> String {
        let usr = self.usr.display();
        format!(
            "#!/bin/sh\n\
             LD_LIBRARY_PATH='{usr}/lib/x86_64-linux-gnu'${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\n\
             export LD_LIBRARY_PATH\n\
             exec '{usr}/bin/rustc' \"$@\"\n"
        )
    }

    /// The lines of `rustc -vV` of the bootstrap compiler.
    fn version(&self) -> Result<Version> {
        Version::parse(&sh::quiet(Command::new(&self.rustc).arg("-vV"))?)
    }

    /// Copies the standard library and its source into the sysroot.
    ///
    /// # Errors
    /// When the packages are laid out differently from what this code knows.
    pub fn standard_library(&self, sysroot: &Sysroot) -> Result {
        let libs = self.usr.join("lib/rustlib").join(HOST).join("lib");
        for file in debian::list(&libs)? {
            sysroot.add_lib(&file)?;
        }
        sysroot.add_library_source(&self.source().join("library"))
    }

    /// Compiles `librustc_driver.so`, `rustc` and the libraries that a codegen backend needs, and puts
    /// them into the sysroot. Returns the library files that only the backend's build needs.
    ///
    /// # Errors
    /// When cargo fails.
    pub fn rustc(&self, sysroot: &Sysroot) -> Result<Vec<PathBuf>> {
        let version = self.version()?;
        let mut cargo = self.build();
        cargo
            .args(["-p", "rustc-main", "--features", "llvm", "--target", HOST])
            .arg("--message-format=json-render-diagnostics")
            .env("RUSTFLAGS", "-Zforce-unstable-if-unmarked -Aunexpected_cfgs -Clink-args=-Wl,-rpath,$ORIGIN/../lib")
            .env("CFG_VERSION", &version.long)
            .env("CFG_VER_HASH", &version.hash)
            .env("CFG_VER_DATE", &version.date)
            .env("CFG_RELEASE", format!("{RUST}-nightly"))
            .env("CFG_RELEASE_CHANNEL", "nightly")
            .env("CFG_DEFAULT_CODEGEN_BACKEND", "llvm")
            .env("CFG_COMPILER_HOST_TRIPLE", HOST)
            .env("CFG_LIBDIR_RELATIVE", "lib")
            .env("RUSTC_INSTALL_BINDIR", "bin")
            .env("LLVM_CONFIG", "llvm-config-22")
            .env("LLVM_LINK_SHARED", "1")
            .env("REAL_LIBRARY_PATH_VAR", "LD_LIBRARY_PATH");
        eprintln!("compiling rustc {RUST}: half an hour to an hour of one core");
        let built = artifacts(&sh::stdout(&mut cargo)?);
        sysroot.add_bin(&self.target.join(HOST).join("release/rustc-main"), "rustc")?;
        let mut for_backend = Vec::new();
        let mut driver = false;
        for file in built {
            if file.ends_with("librustc_driver.so") {
                driver = true;
                sysroot.add_driver(&file)?;
            }
            // The driver, too: a compiler looks for crates where the standard library lies.
            for_backend.push(sysroot.add_lib(&file)?);
        }
        if !driver {
            return message(
                "cargo built rustc-main without a librustc_driver.so: has Debian changed rustc's source?",
            );
        }
        Ok(for_backend)
    }

    /// Compiles `llvm-bitcode-linker`, which links device code for PTX.
    ///
    /// # Errors
    /// When cargo fails.
    pub fn bitcode_linker(&self, sysroot: &Sysroot) -> Result {
        sh::run(self.build().args(["-p", "llvm-bitcode-linker"]))?;
        sysroot.add_bitcode_linker(&self.target.join("release/llvm-bitcode-linker"))
    }

    /// `cargo build` in the source tree with the bootstrap compiler.
    fn build(&self) -> Command {
        let mut cargo = cargo();
        cargo
            .current_dir(self.source())
            .args(["build", "--release", "--target-dir"])
            .arg(&self.target);
        if let Some(jobs) = self.jobs {
            cargo.arg(format!("-j{jobs}"));
        }
        clean_env(&mut cargo)
            .env("RUSTC", &self.rustc)
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
        cargo
    }
}

/// Takes away what the surrounding cargo or a user's shell says about compilers and targets.
pub fn clean_env(cargo: &mut Command) -> &mut Command {
    for name in [
        // With CI set, rustc's build script turns warnings of the C++ compiler into errors.
        "CI",
        "CARGO_BUILD_TARGET",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
    ] {
        cargo.env_remove(name);
    }
    cargo.env("RUSTC_BOOTSTRAP", "1")
}

/// What `rustc -vV` says, in the parts that a build of rustc is told.
#[derive(Debug, PartialEq)]
struct Version {
    /// All of the first line after the word rustc.
    long: String,
    hash: String,
    date: String,
}

impl Version {
    fn parse(text: &str) -> Result<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let found = (
            field("rustc "),
            field("commit-hash: "),
            field("commit-date: "),
        );
        let (Some(long), Some(hash), Some(date)) = found else {
            return Err(Error::Output {
                program: "rustc -vV",
                why: format!("no version, hash or date in {text:?}"),
            });
        };
        Ok(Self {
            long: long.into(),
            hash: hash.into(),
            date: date.into(),
        })
    }
}

/// The files that the compiler's sysroot needs of what cargo built: libraries for the target and the
/// procedural macros that their metadata names. Build scripts and what only they use stay out: a
/// second copy of a crate there would make `extern crate` ambiguous.
fn artifacts(messages: &str) -> Vec<PathBuf> {
    let for_target = format!("/{HOST}/release/");
    let mut files = Vec::new();
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if message["reason"] != "compiler-artifact" {
            continue;
        }
        let proc_macro = message["target"]["kind"]
            .as_array()
            .is_some_and(|k| k.iter().any(|k| k == "proc-macro"));
        let names = message["filenames"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        for name in names {
            let library = [".rlib", ".rmeta", ".so"]
                .iter()
                .any(|end| name.ends_with(end));
            if library && (proc_macro || name.contains(&for_target)) {
                files.push(PathBuf::from(name));
            }
        }
    }
    files.sort();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_taken_apart() {
        let text = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
                    commit-hash: ac68faa20c58\ncommit-date: 2026-05-25\nhost: x86_64-unknown-linux-gnu\n";
        let version = Version::parse(text).unwrap();
        assert_eq!(
            version.long,
            "1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)"
        );
        assert_eq!(
            (version.hash.as_str(), version.date.as_str()),
            ("ac68faa20c58", "2026-05-25")
        );
        assert!(Version::parse("rustc 1.96.0\n").is_err());
    }

    #[test]
    fn only_target_libraries_and_macros_go_into_the_sysroot() {
        let line = |kind: &str, name: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"]}},"filenames":["{name}"]}}"#
            )
        };
        let target = format!("/t/{HOST}/release/deps");
        let messages = [
            line("lib", &format!("{target}/liba-1.rlib")),
            line("lib", "/t/release/deps/liba-2.rlib"),
            line("proc-macro", "/t/release/deps/libm-3.so"),
            line("custom-build", "/t/release/build/a/build-script-build"),
            line("bin", &format!("/t/{HOST}/release/rustc-main")),
            "not json".to_string(),
            r#"{"reason":"build-finished","success":true}"#.to_string(),
        ]
        .join("\n");
        let want = [
            PathBuf::from("/t/release/deps/libm-3.so"),
            PathBuf::from(format!("{target}/liba-1.rlib")),
        ];
        assert_eq!(artifacts(&messages), want);
    }
}
