//! SPIR-V: modules as they are stored, and the lint.

use warpheap_build::stored::{self, spirv};
use warpheap_build::{Format, LintKind, lint_spirv, pack, unpack};

/// The first byte says what the others are: a stored module behind its magic, or the words behind a module's header.
pub fn run(bytes: &[u8]) {
    let Some((&control, bytes)) = bytes.split_first() else {
        return;
    };
    match control % 2 {
        0 => stored(bytes),
        _ => {
            let header = [0x0723_0203u32, 0x1_0500, 0, 0xFFFF, 0].map(u32::to_le_bytes);
            lint(&[header.as_flattened(), bytes].concat());
            assert_eq!(unpack(&pack(bytes)).expect("what was packed"), bytes);
        }
    }
}

fn stored(bytes: &[u8]) {
    let all = [spirv::MAGIC, bytes].concat();
    let Ok(module) = stored::restore(Format::Spirv, all.clone()) else {
        return;
    };
    // A stored word has a byte at least, and an instruction two.
    assert!(module.len() <= 20 + 4 * bytes.len());
    let words: Vec<u32> = module
        .as_chunks()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    let mut at = 5;
    while let Some(first) = words.get(at) {
        at += (first >> 16) as usize;
    }
    assert_eq!(at, words.len(), "instructions fill the module");
    lint(&module);
}

/// The lint says of each thing one line, and the same of a module whose words are the other way round.
fn lint(module: &[u8]) {
    let Err(errors) = lint_spirv(module) else {
        return;
    };
    assert!(!errors.is_empty());
    for error in &errors {
        assert!(!error.to_string().is_empty());
    }
    if !matches!(errors[0].kind, LintKind::Malformed(_)) {
        let swapped: Vec<u8> = module
            .chunks_exact(4)
            .flat_map(|word| word.iter().rev().copied())
            .collect();
        assert_eq!(lint_spirv(&swapped), Err(errors));
    }
}
