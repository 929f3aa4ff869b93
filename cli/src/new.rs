//! `warpheap new NAME`: a project to start from.

mod files;
mod name;

use super::error::CliError;
use clap::Args;
use files::{Source, files};
use std::fs;
use std::path::{Path, PathBuf};

/// Options of `new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// The name of the project, of its package, and of the folder that is made here.
    pub name: String,
    /// Use warpheap from a checkout instead of from the registry.
    #[arg(long, value_name = "CHECKOUT")]
    pub path: Option<PathBuf>,
}

/// Makes the folder and says what to do with it.
///
/// # Errors
/// A name that cargo does not take, a folder that is there, a checkout that is none; nothing is made then.
pub fn run(args: &NewArgs) -> Result<String, CliError> {
    let name = &args.name;
    name::check(name).map_err(CliError::Usage)?;
    let source = match &args.path {
        None => Source::Registry,
        Some(path) => Source::Checkout(checkout(path)?),
    };
    let folder = Path::new(name);
    // Fails where there is something, so nothing is written over.
    fs::create_dir(folder)
        .map_err(|e| CliError::Usage(format!("cannot make the folder `{name}`: {e}")))?;
    for (file, text) in files(name, &source) {
        if let Err(error) = write(&folder.join(file), &text) {
            let _ = fs::remove_dir_all(folder);
            return Err(CliError::Run(format!(
                "cannot write {name}/{file}: {error}"
            )));
        }
    }
    Ok(format!(
        "made {name}: kernels in src/lib.rs, the program that launches them in src/main.rs\n  cd {name}\n  cargo run     # in the emulator; --features vulkan or cuda for a GPU\n  cargo test\n"
    ))
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}

/// The absolute path of a checkout.
fn checkout(path: &Path) -> Result<PathBuf, CliError> {
    let found = path.canonicalize().ok();
    let found = found.filter(|path| path.join("device-build/Cargo.toml").is_file());
    found.ok_or_else(|| {
        CliError::Usage(format!(
            "--path {}: no checkout of warpheap, which has device-build/Cargo.toml",
            path.display()
        ))
    })
}
