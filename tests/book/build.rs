//! Takes the blocks of Rust out of the documentation's pages, each into a file that `src` includes.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A block of Rust in a page.
struct Block {
    /// The page without its ending, the heading above without what an anchor leaves out, and its number below that.
    name: String,
    page: String,
    line: usize,
    text: String,
}

fn main() {
    warpheap_build::build();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("blocks");
    let root = Path::new("../..");
    fs::remove_dir_all(&out).ok();
    fs::create_dir_all(&out).expect("a folder for the blocks");
    let mut list = String::from("[\n");
    for page in pages(root) {
        let path = root.join(&page);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
        for block in blocks(&page, &text) {
            let Block {
                name,
                page,
                line,
                text,
            } = &block;
            list += &format!(
                "    Block {{ name: {name:?}, page: {page:?}, line: {line}, text: {text:?} }},\n"
            );
            // As items, and as the body of a function.
            fs::write(out.join(format!("{name}.items.rs")), text).expect("a block");
            fs::write(
                out.join(format!("{name}.body.rs")),
                format!("{{\n{text}\n}}\n"),
            )
            .expect("a block");
        }
    }
    fs::write(out.join("list.rs"), list + "]\n").expect("the list");
    println!("cargo::rerun-if-changed=../../docs");
}

/// The README and every page below `docs`.
fn pages(root: &Path) -> Vec<String> {
    let mut found = vec!["README.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))
            .expect("a folder of pages")
            .flatten()
        {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => folders.push(name),
                false if name.ends_with(".md") => found.push(name),
                false => {}
            }
        }
    }
    found.sort();
    found
}

/// The blocks that begin with three backticks and `rust`.
fn blocks(page: &str, text: &str) -> Vec<Block> {
    let stem = page
        .trim_start_matches("docs/")
        .trim_end_matches(".md")
        .replace('/', "-");
    let mut found = Vec::new();
    let (mut heading, mut number) = (String::new(), 0);
    // The fence of the block that is open, and the block if it is one of Rust.
    let mut open: Option<Option<Block>> = None;
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (Some(_), Some(_)) => found.extend(open.take().flatten()),
            (Some(Some(block)), None) => {
                block.text += line;
                block.text.push('\n');
            }
            (Some(None), None) => {}
            (None, Some(language)) => {
                let rust = language.split(',').next() == Some("rust");
                number += usize::from(rust);
                open = Some(rust.then(|| Block {
                    name: format!("{stem}.{heading}-{number}"),
                    page: page.to_owned(),
                    line: at + 1,
                    text: String::new(),
                }));
            }
            (None, None) if line.starts_with('#') => {
                heading = anchor(line.trim_start_matches('#').trim());
                number = 0;
            }
            (None, None) => {}
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        c if c.is_ascii_alphanumeric() => Some(c.to_ascii_lowercase()),
        ' ' | '-' => Some('-'),
        _ => None,
    });
    kept.collect()
}
