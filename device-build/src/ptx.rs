//! A device crate becomes PTX: rustc's own `nvptx64-nvidia-cuda` target.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::device_crate::DeviceCrate;
use crate::error::BuildError;
use crate::flags::ptx::{CRATE_FLAGS, cargo_args, target_flags};
use crate::format::Format;
use crate::nested::{self, Recipe};
use crate::toolchain::Toolchain;
use warpheap_ptx::{has_loop_of_masks, is_call, own_lane, unguarded_mask};

/// Makes the paths of sources in an image those of the workspace, so that it is the same wherever it is
/// compiled.
fn without_places(krate: &DeviceCrate, toolchain: &Toolchain) -> Vec<String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let workspace = krate.workspace_root().unwrap_or(krate.dir());
    // Of those that fit a path, the last counts.
    let mut flags = remaps(&toolchain.sysroot.join("lib/rustlib/src/rust"), "rust/");
    flags.extend(home.iter().flat_map(|home| remaps(home, "cargo/")));
    flags.extend(remaps(workspace, ""));
    flags
}

/// Flags that name the files in a folder by `name` instead: by the path that is known here, and by the one that it
/// really has, since compilers follow symbolic links at some places and not at others.
fn remaps(folder: &Path, name: &str) -> Vec<String> {
    let mut paths = vec![folder.to_path_buf()];
    paths.extend(folder.canonicalize());
    paths.dedup();
    let flag = |path: PathBuf| format!("--remap-path-prefix={}={name}", path.join("").display());
    paths.into_iter().map(flag).collect()
}

/// Compiles `krate` to PTX text. The same sources and toolchain give the same text wherever they lie.
///
/// # Errors
/// The crate does not compile, or the compiler cannot be started.
pub fn compile_ptx(krate: &DeviceCrate, toolchain: &Toolchain) -> Result<String, BuildError> {
    let mut flags: Vec<_> = target_flags(krate).into_iter().map(str::to_owned).collect();
    if krate.uses_alloc() {
        flags.extend(without_places(krate, toolchain));
    }
    let recipe = Recipe {
        format: Format::Ptx,
        flags,
        crate_flags: CRATE_FLAGS.to_vec(),
        cargo_args: cargo_args(krate).map(str::to_owned).to_vec(),
        crate_type: "cdylib",
        lto: "fat",
        artifact: ".ptx",
    };
    let path = nested::compile(krate, toolchain, &recipe)?;
    let text = fs::read_to_string(&path).map_err(BuildError::io("read", &path))?;
    let text = without_comments(&with_registers(&text));
    let text = with_own_lanes(&text, krate.uses_alloc());
    if let Some(function) = unguarded_mask(&text) {
        return Err(BuildError::UnguardedMask {
            krate: krate.name().to_owned(),
            function: function.to_owned(),
        });
    }
    if !text.contains(".entry") {
        return Err(BuildError::NoKernels {
            krate: krate.image_name(),
            format: Format::Ptx,
        });
    }
    Ok(text)
}

/// Adds the lane's own bit to the masks that are taken by `activemask` in functions, in entries that call some, and in
/// those with a loop around two masks, see [`warpheap_ptx`]. In other entries it would only cost time: 2^20 mallocs of
/// 64 bytes take 21 us instead of 16 there. With `everywhere` they get it too.
fn with_own_lanes(ptx: &str, everywhere: bool) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut body = Vec::new();
    let mut guards = everywhere;
    for line in ptx.lines() {
        guards |= line.contains(".func ") || is_call(line);
        body.push(line);
        if line.starts_with('}') {
            guards |= has_loop_of_masks(&body.join("\n"));
            for line in body.drain(..) {
                push_guarded(&mut text, line, guards);
            }
            guards = everywhere;
        }
    }
    for line in body {
        push_guarded(&mut text, line, false);
    }
    text
}

/// Adds a line of a body, and what follows it if it takes a mask that is to be guarded.
fn push_guarded(text: &mut String, line: &str, guards: bool) {
    text.push_str(line);
    text.push('\n');
    let mask = line.trim_start().strip_prefix("activemask.b32");
    if let Some(mask) = mask.filter(|_| guards) {
        text.push('\t');
        text.push_str(&own_lane(mask.trim().trim_end_matches(';')));
        text.push('\n');
    }
}

/// What `#[kernel(max_registers = …)]` leaves in the body of an entry.
const REGISTERS_MARK: &str = "// warpheap: max_registers ";

/// Gives each entry with such a mark the directive that it stands for, between its parameters and its
/// body.
fn with_registers(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut entry = String::new();
    let mut number = None;
    for line in ptx.lines() {
        if line.contains(".entry ") || line.contains(".func ") {
            text.push_str(&std::mem::take(&mut entry));
        }
        if let Some(at) = line.find(REGISTERS_MARK) {
            let asked = line[at + REGISTERS_MARK.len()..].trim();
            // What every lane may have anyway.
            number = Some(asked).filter(|&asked| asked != "255");
            continue;
        }
        entry.push_str(line);
        entry.push('\n');
        if line.starts_with('}') {
            if let (Some(number), Some(body)) = (number.take(), entry.find("\n{")) {
                entry.insert_str(body, &format!("\n.maxnreg {number}"));
            }
            text.push_str(&std::mem::take(&mut entry));
        }
    }
    text.push_str(&entry);
    text
}

/// Drops comments, which name the compiler and repeat what stands beside them, and empty lines.
fn without_comments(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        let line = code_of(line).trim_end();
        if !line.is_empty() {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The part of a line before `//`, unless that stands in a string.
fn code_of(line: &str) -> &str {
    let bytes = line.as_bytes();
    let mut in_string = false;
    for i in 0..bytes.len() {
        match bytes[i] {
            b'"' => in_string = !in_string,
            b'/' if !in_string && bytes.get(i + 1) == Some(&b'/') => return &line[..i],
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{remaps, unguarded_mask, with_own_lanes, with_registers, without_comments};

    #[test]
    fn entries_with_a_mark_get_the_directive() {
        let ptx = ".visible .entry a(\n\t.param .b32 x\n)\n{\n\tret;\n}\n\
                   .visible .entry b(\n\t.param .b32 x\n) // @b\n{\n\t// begin inline asm\n\
                   \t// warpheap: max_registers 32\n\t// end inline asm\n\tret;\n}\n\
                   .func c()\n{\n\tret;\n}\n";
        let text = without_comments(&with_registers(ptx));
        assert_eq!(text.matches(".maxnreg").count(), 1);
        assert!(
            text.contains(".entry b(\n\t.param .b32 x\n)\n.maxnreg 32\n{"),
            "{text}"
        );
        let plain = text.replace(".maxnreg 32\n", "");
        assert_eq!(plain, without_comments(ptx));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_behind_a_symbolic_link_is_renamed_by_both_paths() {
        let temp = tempfile::TempDir::new().unwrap();
        let real = temp.path().canonicalize().unwrap().join("real");
        let link = temp.path().join("link");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let flag =
            |path: &std::path::Path| format!("--remap-path-prefix={}/=rust/", path.display());
        assert_eq!(remaps(&link, "rust/"), [flag(&link), flag(&real)]);
        assert_eq!(remaps(&real, "rust/"), [flag(&real)]);
        let absent = temp.path().join("absent");
        assert_eq!(remaps(&absent, "rust/"), [flag(&absent)]);
    }

    #[test]
    fn masks_of_functions_get_the_own_lane() {
        let ptx = ".func f(\n\t.param .b32 x\n)\n{\n\tactivemask.b32 \t%r7;\n\tret;\n}\n\
                   .visible .entry k()\n{\n\tactivemask.b32 \t%r1;\n\tret;\n}\n";
        assert_eq!(unguarded_mask(ptx), Some("f"));
        let text = with_own_lanes(ptx, false);
        assert_eq!(unguarded_mask(&text), None);
        assert_eq!(text.matches("%lanemask_eq").count(), 1);
        assert!(text.contains("or.b32 %r7, %r7, %own"), "{text}");
        assert_eq!(with_own_lanes(ptx, true).matches("%lanemask_eq").count(), 2);
    }

    #[test]
    fn masks_of_a_loop_get_the_own_lane() {
        let mask = "\tactivemask.b32 \t%r1;\n";
        let ptx = format!(
            ".visible .entry k()\n{{\n$L1:\n{mask}{mask}\t@%p1 bra \t$L1;\n\tret;\n}}\n\
             .visible .entry l()\n{{\n$L1:\n{mask}\t@%p1 bra \t$L1;\n{mask}\tret;\n}}\n"
        );
        assert_eq!(unguarded_mask(&ptx), Some("k"));
        let text = with_own_lanes(&ptx, false);
        assert_eq!(unguarded_mask(&text), None);
        assert_eq!(text.matches("%lanemask_eq").count(), 2);
    }

    #[test]
    fn comments_go_and_code_stays() {
        let ptx = "//\n// Generated by LLVM\n\n.version 6.0\n\t// .globl\tk   // -- Begin function k\n\
                   .visible .entry k(\t// @k\n\tret;   \n.file 1 \"a//b\" // c\n";
        assert_eq!(
            without_comments(ptx),
            ".version 6.0\n.visible .entry k(\n\tret;\n.file 1 \"a//b\"\n"
        );
    }
}
