//! A device crate becomes a SPIR-V module: rust-gpu's code generator, driven as `spirv-builder` does.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::device_crate::DeviceCrate;
use crate::digest::sha256;
use crate::error::BuildError;
use crate::flags::spirv::{CARGO_ARGS, CRATE_FLAGS, FLAGS, TARGET, TARGET_SPEC, flags};
use crate::format::Format;
use crate::lint::lint_spirv;
use crate::lockfile;
use crate::nested::{self, Recipe};
use crate::toolchain::Toolchain;

/// Compiles `krate` to one SPIR-V module with all its entry points, and lints it.
///
/// # Errors
/// The crate does not compile, `Cargo.lock` holds a `glam` that `spirv-std` cannot use, the compiler
/// cannot be started, or the module has a shape that drivers miscompile (the error names source lines).
pub fn compile_spirv(krate: &DeviceCrate, toolchain: &Toolchain) -> Result<Vec<u8>, BuildError> {
    if let Some(path) = krate.lockfile()
        && let Some(found) = lockfile::newer_glam(&path, krate.name())?
    {
        return Err(BuildError::Glam {
            krate: krate.name().to_owned(),
            found,
            lockfile: path,
        });
    }
    let module = compile(krate, toolchain, Stage::Image)?;
    match lint_spirv(&module) {
        Ok(()) => Ok(module),
        Err(errors) => {
            // The image carries no debug information. A module that does names the lines; should it
            // come out clean or not at all, the places without lines have to do.
            let errors = match compile(krate, toolchain, Stage::WithLines)
                .map(|module| lint_spirv(&module))
            {
                Ok(Err(with_lines)) => with_lines,
                _ => errors,
            };
            Err(BuildError::Lint {
                krate: krate.name().to_owned(),
                errors,
            })
        }
    }
}

/// The hash of the module before it is optimised, and of the flags: the same draft and compiler make the same
/// image, and a draft takes an eighth of the time.
///
/// # Errors
/// As [`compile_spirv`].
pub(crate) fn draft_hash(krate: &DeviceCrate, toolchain: &Toolchain) -> Result<String, BuildError> {
    let mut bytes = without_origin(&compile(krate, toolchain, Stage::Draft)?);
    for flag in flags() {
        bytes.extend(flag.as_bytes());
    }
    Ok(sha256(&bytes))
}

/// A module without the names of its source files and without line numbers: the files lie elsewhere on every machine,
/// and an image has neither.
fn without_origin(module: &[u8]) -> Vec<u8> {
    /// OpSourceContinued, OpSource, OpString, OpLine, OpNoLine.
    const ORIGIN: [u32; 5] = [2, 3, 7, 8, 317];
    const HEADER_WORDS: usize = 5;
    let words: Vec<u32> = module
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let mut kept: Vec<u8> = module[..module.len().min(4 * HEADER_WORDS)].to_vec();
    let mut at = HEADER_WORDS;
    while let Some(first) = words.get(at) {
        // No instruction is shorter than its first word.
        let end = (at + (first >> 16).max(1) as usize).min(words.len());
        if !ORIGIN.contains(&(first & 0xFFFF)) {
            kept.extend(&module[4 * at..4 * end]);
        }
        at = end;
    }
    kept
}

/// What a module is compiled for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// To be shipped: optimised, without debug information.
    Image,
    /// To name source lines.
    WithLines,
    /// To be compared with an earlier one: not optimised.
    Draft,
}

fn compile(
    krate: &DeviceCrate,
    toolchain: &Toolchain,
    stage: Stage,
) -> Result<Vec<u8>, BuildError> {
    let no_artifact = |reason: String| BuildError::NoArtifact {
        krate: krate.name().to_owned(),
        format: Format::Spirv,
        reason,
    };
    let Some(backend) = &toolchain.spirv_backend else {
        return Err(no_artifact(format!(
            "{} has no SPIR-V backend",
            toolchain.sysroot.display()
        )));
    };
    let mut flags = vec![format!("-Zcodegen-backend={}", backend.display())];
    flags.extend(FLAGS.map(str::to_owned));
    let mut crate_flags = CRATE_FLAGS.to_vec();
    match stage {
        Stage::Image => {}
        // Every crate is compiled with debug information; this keeps it in the linked module.
        Stage::WithLines => crate_flags.push("-Cllvm-args=--spirv-metadata=full"),
        Stage::Draft => crate_flags.push("-Cllvm-args=--no-spirv-opt"),
    }
    let spec = write_target_spec(krate.target_dir())?;
    let mut cargo_args = vec!["--target".to_owned(), spec.display().to_string()];
    cargo_args.extend(CARGO_ARGS.map(str::to_owned));
    let recipe = Recipe {
        format: Format::Spirv,
        flags,
        crate_flags,
        cargo_args,
        crate_type: "dylib",
        // The backend links and inlines by itself.
        lto: "false",
        artifact: ".spv.json",
    };
    let summary = nested::compile(krate, toolchain, &recipe).map_err(|error| match error {
        // The validator's word for it.
        BuildError::Compile { log, .. }
            if krate.may_be_empty() && log.contains("No OpEntryPoint instruction was found") =>
        {
            BuildError::NoKernels {
                krate: krate.image_name(),
                format: Format::Spirv,
            }
        }
        error => error,
    })?;
    let text = fs::read_to_string(&summary).map_err(BuildError::io("read", &summary))?;
    let json: serde_json::Value = serde_json::from_str(&text)
        .map_err(|e| BuildError::malformed(&summary, format!("not valid JSON: {e}")))?;
    if json["entry_points"].as_array().is_none_or(Vec::is_empty) {
        return Err(BuildError::NoKernels {
            krate: krate.image_name(),
            format: Format::Spirv,
        });
    }
    let Some(module) = json["module"].as_str() else {
        return Err(no_artifact(format!(
            "{} names no module",
            summary.display()
        )));
    };
    fs::read(module).map_err(BuildError::io("read", Path::new(module)))
}

/// Puts the target's description where cargo finds it; leaves a present one alone, since builds may
/// share the folder.
fn write_target_spec(target_dir: &Path) -> Result<PathBuf, BuildError> {
    static TURN: AtomicU32 = AtomicU32::new(0);
    let folder = target_dir.join("target-specs");
    let path = folder.join(format!("{TARGET}.json"));
    if fs::read_to_string(&path).is_ok_and(|present| present == TARGET_SPEC) {
        return Ok(path);
    }
    fs::create_dir_all(&folder).map_err(BuildError::io("make", &folder))?;
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.join(format!("{TARGET}.{}-{turn}.tmp", std::process::id()));
    fs::write(&unfinished, TARGET_SPEC).map_err(BuildError::io("write", &unfinished))?;
    fs::rename(&unfinished, &path).map_err(BuildError::io("write", &path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_do_not_depend_on_where_sources_lie() {
        // A header; OpString, OpLine; OpCapability Shader; OpNoLine; an instruction that is cut off.
        let module = |path: &str| -> Vec<u8> {
            let mut words = vec![0x0723_0203, 0x1_0500, 0, 9, 0];
            let text: Vec<u32> = path.bytes().map(u32::from).collect();
            words.push((2 + text.len() as u32) << 16 | 7);
            words.push(1);
            words.extend(&text);
            words.extend([4 << 16 | 8, 1, path.len() as u32, 0]);
            words.extend([2 << 16 | 17, 1, 1 << 16 | 317, 9 << 16 | 54, 5]);
            words.into_iter().flat_map(u32::to_le_bytes).collect()
        };
        let here = without_origin(&module("/here/a.rs"));
        assert_eq!(here, without_origin(&module("/there/under/a.rs")));
        assert_eq!(here.len(), 4 * (5 + 2 + 2));
        assert!(without_origin(&[]).is_empty());
    }
}
