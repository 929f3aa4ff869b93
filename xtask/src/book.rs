//! `cargo xtask book`: the book over `docs/`, with its links checked.

mod check;
mod markdown;
mod outwards;

use crate::workspace::cargo;
use crate::workspace::{self, root};
use check::Pages;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpheap_toolchain::error::{Result, message};
use warpheap_toolchain::sh;

/// The mdBook that the book is built with.
const MDBOOK: &str = "0.5.4";

/// Arguments of `cargo xtask book`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Check links and contents, and build nothing: this needs no mdBook
    #[arg(long)]
    check: bool,
}

/// Runs the command.
///
/// # Errors
/// When a link is dead, a page is missing from `docs/SUMMARY.md`, or mdBook fails.
pub fn run(args: &Args) -> Result {
    let pages = Pages::read(root())?;
    let mistakes = pages.mistakes();
    for mistake in &mistakes {
        eprintln!("{mistake}");
    }
    if !mistakes.is_empty() {
        return message(format!(
            "{} of the links above lead nowhere, or pages are missing: mend them in the files named, and name every page in \
             docs/SUMMARY.md once",
            mistakes.len()
        ));
    }
    println!(
        "{} pages, {} links: all lead somewhere",
        pages.count(),
        pages.links()
    );
    if args.check {
        return Ok(());
    }
    let target = workspace::target_dir(&workspace::metadata()?)?;
    let source = target.join("book-source");
    copy(&pages, &root().join("docs"), &source)?;
    let book = target.join("book");
    sh::remove(&book)?;
    let mut build = Command::new(mdbook(&target)?);
    build.arg("build").arg(&source).arg("--dest-dir").arg(&book);
    sh::quiet(&mut build)?;
    println!("{}", book.join("index.html").display());
    Ok(())
}

/// Copies a folder of the book. In the copy of a page, links that leave the book lead to the repository.
fn copy(pages: &Pages, from: &Path, to: &Path) -> Result {
    sh::remove(to)?;
    sh::make_dir(to)?;
    let entries = std::fs::read_dir(from).map_err(|e| sh::file("read", from, e))?;
    for entry in entries {
        let entry = entry.map_err(|e| sh::file("read", from, e))?;
        let (path, copy_path) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(pages, &path, &copy_path)?;
        } else if path.extension() == Some(OsStr::new("md")) {
            let (page, text) = (pages.name_of(&path), sh::read(&path)?);
            sh::write(&copy_path, outwards::mended(root(), &page, &text))?;
        } else {
            sh::copy(&path, &copy_path)?;
        }
    }
    Ok(())
}

/// The program `mdbook`: the one on PATH if it is of our version, else one of our own, installed if it is not there yet.
fn mdbook(target: &Path) -> Result<PathBuf> {
    let ours = |program: &Path| {
        let version = Command::new(program).arg("--version").output();
        version.is_ok_and(|out| {
            String::from_utf8_lossy(&out.stdout)
                .trim()
                .ends_with(MDBOOK)
        })
    };
    let folder = target.join("mdbook");
    let installed = folder.join("bin/mdbook");
    if let Some(program) = sh::which("mdbook")
        .into_iter()
        .chain([installed.clone()])
        .find(|p| ours(p))
    {
        return Ok(program);
    }
    eprintln!("Installing mdBook {MDBOOK} in {}", folder.display());
    let mut install = cargo();
    install.args(["install", "mdbook", "--locked", "--version", MDBOOK]);
    // It renders some hundred kilobytes: to compile it quickly matters more than how fast it is.
    install.args(["--no-default-features", "--debug", "--quiet", "--root"]);
    install.arg(&folder);
    install.env("CARGO_PROFILE_DEV_DEBUG", "0");
    install.env("CARGO_TARGET_DIR", folder.join("build"));
    sh::run(&mut install)?;
    Ok(installed)
}
