//! No block of Rust in the documentation is left out: `src` includes it, or it stands in another program that is compiled.

use std::fs;
use std::path::Path;

struct Block {
    name: &'static str,
    page: &'static str,
    line: usize,
    text: &'static str,
}

const BLOCKS: &[Block] = &include!(concat!(env!("OUT_DIR"), "/blocks/list.rs"));

/// Blocks of programs that `src` cannot hold, and the sources in which they stand as they are.
const SHOWN: [(&str, &str); 11] = [
    ("new-allocator.the-row-1", "allocators/tests/new_allocator/row.txt"),
    ("new-allocator.what-a-lane-knows-1", "allocators/tests/new_allocator/fixed_slots/mod.rs"),
    ("new-allocator.finding-a-slot-1", "allocators/tests/new_allocator/fixed_slots/mod.rs"),
    ("new-allocator.the-contract-1", "allocators/tests/new_allocator/fixed_slots/mod.rs"),
    ("new-allocator.the-contract-2", "allocators/tests/new_allocator/fixed_slots/mod.rs"),
    ("new-allocator.the-hosts-half-1", "allocators/tests/new_allocator/fixed_slots/host.rs"),
    ("new-allocator.the-hosts-half-2", "allocators/tests/new_allocator/fixed_slots/host.rs"),
    ("raw.a-kernel-1", "examples/raw/kernels/src/blocks.rs"),
    ("raw.vec-and-box-1", "examples/raw/kernels/src/lib.rs"),
    (
        "tutorial.2-look-at-the-kernels-1",
        "cli/template/kernels.rs",
    ),
    (
        "tutorial.3-look-at-the-program-1",
        "cli/template/program.rs",
    ),
];

/// All of `src`.
fn sources() -> String {
    let files = fs::read_dir("src").expect("the folder `src`").flatten();
    files
        .map(|file| fs::read_to_string(file.path()).expect("a source"))
        .collect()
}

#[test]
fn every_block_is_compiled() {
    let sources = sources();
    let left_out = BLOCKS.iter().filter(|block| {
        let included = sources.contains(&format!("!(\"{}\")", block.name));
        !included && !SHOWN.iter().any(|(name, _)| *name == block.name)
    });
    let left_out: Vec<String> = left_out
        .map(|Block { name, page, line, .. }| {
            format!("{page}:{line}: include it in tests/book/src, by `items!(\"{name}\")` or `body!(\"{name}\")`")
        })
        .collect();
    assert!(
        left_out.is_empty(),
        "blocks that nothing compiles:\n{}",
        left_out.join("\n")
    );
}

/// A text without what its lines are moved in.
fn lines(text: &str) -> String {
    text.lines()
        .map(|line| line.trim().to_owned() + "\n")
        .collect()
}

#[test]
fn what_is_shown_stands_in_its_source() {
    for (name, source) in SHOWN {
        let block = BLOCKS.iter().find(|block| block.name == name);
        let block = block.unwrap_or_else(|| panic!("there is no block {name} any more"));
        let text = fs::read_to_string(Path::new("../..").join(source)).expect(source);
        assert!(
            lines(&text).contains(&lines(block.text)),
            "{}:{}: {source} has something else",
            block.page,
            block.line
        );
    }
}

#[test]
fn there_are_blocks() {
    assert!(BLOCKS.len() > 10, "only {}", BLOCKS.len());
}
