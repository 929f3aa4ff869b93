//! Runs cargo with a device toolchain inside a build script, cut off from the outer cargo.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use crate::device_crate::{CHECK, DeviceCrate};
use crate::error::BuildError;
use crate::format::Format;
use crate::toolchain::Toolchain;

/// How every crate is compiled, whatever the profiles of the user's workspace say. As flags, which come after cargo's
/// own: its variables set a profile, but not what a profile says for one package.
const PROFILE: [&str; 5] = [
    "-Copt-level=3",
    "-Cdebuginfo=0",
    "-Cdebug-assertions=off",
    "-Coverflow-checks=off",
    "-Ccodegen-units=1",
];

/// Names a library that the compiler of SPIR-V is started with. With another malloc it takes half the time; images stay
/// the same.
const SPIRV_PRELOAD: &str = "WARPHEAP_SPIRV_PRELOAD";

/// How one format is compiled.
pub(crate) struct Recipe<'a> {
    pub format: Format,
    /// Flags for every crate that is compiled for the device, `core` included.
    pub flags: Vec<String>,
    /// Flags for the device crate alone.
    pub crate_flags: Vec<&'a str>,
    /// `--target` and what else cargo needs.
    pub cargo_args: Vec<String>,
    pub crate_type: &'a str,
    /// `CARGO_PROFILE_RELEASE_LTO`.
    pub lto: &'a str,
    /// How the file that the compiler leaves behind ends.
    pub artifact: &'a str,
}

/// Compiles `krate` and gives the path of the artifact.
pub(crate) fn compile(
    krate: &DeviceCrate,
    toolchain: &Toolchain,
    recipe: &Recipe<'_>,
) -> Result<PathBuf, BuildError> {
    let flags: Vec<&str> = (recipe.flags.iter().map(String::as_str))
        .chain(PROFILE)
        .collect();
    let mut cargo = Command::new(&toolchain.cargo);
    for (name, _) in env::vars_os() {
        if leaks(&name) {
            cargo.env_remove(&name);
        }
    }
    cargo
        .current_dir(krate.dir())
        .env("RUSTC", &toolchain.rustc)
        // Lets a stable cargo take -Zbuild-std.
        .env("RUSTC_BOOTSTRAP", "1")
        // Empty, not absent: a wrapper in the user's cargo configuration would be applied otherwise.
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "")
        // cargo's cache goes by the compiler binary and does not see a change of the SPIR-V backend.
        .env("CARGO_CACHE_RUSTC_INFO", "0")
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .env("CARGO_PROFILE_RELEASE_LTO", recipe.lto)
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .args([
            "rustc",
            "--quiet",
            "--color",
            "never",
            "--message-format",
            "json-render-diagnostics",
        ])
        .args(["--lib", "--release", "--no-default-features"])
        .args(["--crate-type", recipe.crate_type])
        .args(&recipe.cargo_args)
        .arg("--manifest-path")
        .arg(krate.dir().join("Cargo.toml"))
        .arg("--target-dir")
        .arg(krate.target_dir_for(recipe.format));
    // The runtime's build script asks for it. What an image is compiled with is the crate's to say, not the environment's.
    match krate.checks() {
        true => cargo.env(CHECK, "1"),
        false => cargo.env_remove(CHECK),
    };
    if let Some(library) = preloaded(recipe.format, env::var_os(SPIRV_PRELOAD)) {
        cargo.env("LD_PRELOAD", library);
    }
    if !krate.features().is_empty() {
        cargo.arg("--features").arg(krate.features().join(","));
    }
    cargo.arg("--").args(&recipe.crate_flags);
    // Which entries the expansion of #[kernel] keeps.
    cargo
        .arg(format!("--cfg=warpheap_image=\"{}\"", krate.cfg_value()))
        .arg("--check-cfg=cfg(warpheap_image, values(any()))");

    let output = cargo.output().map_err(|source| BuildError::Spawn {
        command: format!("{} rustc", toolchain.cargo.display()),
        source,
    })?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(BuildError::Compile {
            krate: krate.name().to_owned(),
            format: recipe.format,
            toolchain: format!("{}, {}", toolchain.sysroot.display(), toolchain.version),
            log: from_first_error(&stderr),
        });
    }
    artifact(&stdout, recipe.artifact).ok_or_else(|| BuildError::NoArtifact {
        krate: krate.name().to_owned(),
        format: recipe.format,
        reason: format!("cargo reported no file that ends in {}", recipe.artifact),
    })
}

/// What to load before a compiler, if a library is named for that of SPIR-V: the others gain nothing by another malloc.
fn preloaded(format: Format, named: Option<OsString>) -> Option<OsString> {
    named.filter(|name| format == Format::Spirv && !name.is_empty())
}

/// Whether a variable of the outer build would change the nested one.
fn leaks(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    // The user's registries, proxies and cargo home stay; what cargo says about the outer build goes.
    const KEPT: [&str; 6] = [
        "CARGO_HOME",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTRY_",
        "CARGO_REGISTRIES_",
        "CARGO_SOURCE_",
    ];
    const FAMILIES: [&str; 4] = ["CARGO", "__CARGO", "DEP_", "RUSTGPU_"];
    const SINGLE: [&str; 18] = [
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        "RUSTC",
        "RUSTDOC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_LINKER",
        "RUSTC_BOOTSTRAP",
        "RUSTUP_TOOLCHAIN",
        "RUST_RECURSION_COUNT",
        "TARGET",
        "HOST",
        "OUT_DIR",
        "PROFILE",
        "OPT_LEVEL",
        "DEBUG",
        "NUM_JOBS",
        "MAKEFLAGS",
    ];
    if KEPT.iter().any(|kept| name.starts_with(kept)) {
        return false;
    }
    FAMILIES.iter().any(|family| name.starts_with(family)) || SINGLE.contains(&name)
}

/// Compilers warn at length before they come to the point.
fn from_first_error(stderr: &str) -> String {
    const MOST: usize = 80;
    let mut lines: Vec<&str> = stderr
        .lines()
        .skip_while(|line| !line.starts_with("error"))
        .collect();
    if lines.is_empty() {
        lines = stderr.lines().collect();
    }
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    let mut text = lines.join("\n");
    if more > 0 {
        text.push_str(&format!("\n… {more} more lines"));
    }
    text
}

/// The last file of cargo's messages with this ending: the device crate is compiled last.
fn artifact(stdout: &str, ending: &str) -> Option<PathBuf> {
    let messages = stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut files = messages
        .filter(|message| message["reason"] == "compiler-artifact")
        .flat_map(|message| {
            let names = message["filenames"].as_array().cloned().unwrap_or_default();
            names
                .into_iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
        });
    files
        .rfind(|name| name.ends_with(ending))
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_build_does_not_leak() {
        for name in [
            "CARGO_FEATURE_CUDA",
            "CARGO",
            "CARGO_TARGET_DIR",
            "RUSTFLAGS",
            "RUSTC",
            "OUT_DIR",
            "DEP_Z_ROOT",
        ] {
            assert!(leaks(OsStr::new(name)), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_REGISTRIES_MINE_TOKEN",
            "RUSTUP_HOME",
        ] {
            assert!(!leaks(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn only_the_compiler_of_spirv_is_started_with_a_library() {
        let named = |name: &str| Some(OsString::from(name));
        assert_eq!(preloaded(Format::Spirv, named("a.so")), named("a.so"));
        assert_eq!(preloaded(Format::Ptx, named("a.so")), None);
        assert_eq!(preloaded(Format::Spirv, named("")), None);
        assert_eq!(preloaded(Format::Spirv, None), None);
    }

    #[test]
    fn the_last_artifact_counts() {
        let out = concat!(
            "not json\n",
            r#"{"reason":"compiler-artifact","filenames":["/t/libcore.rlib"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","filenames":["/t/k.ptx"]}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(artifact(out, ".ptx"), Some(PathBuf::from("/t/k.ptx")));
        assert_eq!(artifact(out, ".spv.json"), None);
    }

    #[test]
    fn warnings_before_the_error_are_cut() {
        let log =
            from_first_error("warning: unused\n --> x\nerror[E0425]: no `y`\n --> src/lib.rs:3:1");
        assert_eq!(log, "error[E0425]: no `y`\n --> src/lib.rs:3:1");
        assert_eq!(from_first_error("linker crashed"), "linker crashed");
    }
}
