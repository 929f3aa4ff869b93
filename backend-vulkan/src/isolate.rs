//! One entry of a module, at one block size, with nothing else in it.
//!
//! The block size of SPIR-V is a literal, so each block size needs words of its own. A module of
//! many kernels would be compiled whole for each: only the functions that the entry reaches are kept.

use crate::module::{Entry, HEADER_WORDS, Instruction, Module, instructions};
use spirv::Op;
use std::collections::{HashMap, HashSet};

/// The words of a module that has only `entry`, with blocks of `block_dim` lanes; `None` if the
/// entry states no block size.
pub(crate) fn isolate(module: &Module, entry: &Entry, block_dim: u32) -> Option<Vec<u32>> {
    let at = entry.local_size?;
    let mut words = module.words.clone();
    // x, y and z lie inside the instruction that the parser found.
    words
        .get_mut(at..at + 3)?
        .copy_from_slice(&[block_dim, 1, 1]);
    Some(strip(&words, entry).unwrap_or(words))
}

/// The module without what `entry` does not need; `None` where that cannot be told.
fn strip(words: &[u32], entry: &Entry) -> Option<Vec<u32>> {
    let functions = Functions::of(words)?;
    let kept = functions.reached_from(entry.function);
    let mut types: HashSet<u32> = HashSet::new();
    let mut gone: HashSet<u32> = HashSet::new();
    let mut inside = None;
    // What the functions that go define: decorations and names of those go with them.
    for instruction in instructions(words) {
        if inside.is_none() && is_type(instruction.op) {
            types.extend(instruction.operands.first());
        }
        if instruction.is(Op::Function) {
            inside = instruction.operands.get(1).copied();
        }
        if inside.is_some_and(|function| !kept.contains(&function)) {
            // A result follows its type; only labels have one without.
            match *instruction.operands {
                [id, ..] if instruction.is(Op::Label) => gone.insert(id),
                [kind, id, ..] if types.contains(&kind) => gone.insert(id),
                _ => false,
            };
        }
        if instruction.is(Op::FunctionEnd) {
            inside = None;
        }
    }

    let mut out = words[..HEADER_WORDS].to_vec();
    for instruction in instructions(words) {
        if instruction.is(Op::Function) {
            inside = instruction.operands.get(1).copied();
        }
        let keep = match inside {
            Some(function) => kept.contains(&function),
            None => keep_global(&instruction, entry, &gone),
        };
        if keep {
            out.extend_from_slice(&words[instruction.range.clone()]);
        }
        if instruction.is(Op::FunctionEnd) {
            inside = None;
        }
    }
    Some(out)
}

fn keep_global(instruction: &Instruction<'_>, entry: &Entry, gone: &HashSet<u32>) -> bool {
    let first = instruction.operands.first().copied().unwrap_or(0);
    if instruction.is(Op::EntryPoint) {
        // Two names may share a function.
        let name = &instruction.operands[2..];
        return instruction.operands[1] == entry.function && starts_with(name, &entry.name);
    }
    if instruction.is(Op::ExecutionMode) || instruction.is(Op::ExecutionModeId) {
        return first == entry.function;
    }
    let about = [
        Op::Name,
        Op::MemberName,
        Op::Decorate,
        Op::DecorateId,
        Op::DecorateString,
    ];
    !(about.iter().any(|&op| instruction.is(op)) && gone.contains(&first))
}

fn starts_with(literal: &[u32], name: &str) -> bool {
    let bytes = literal.iter().flat_map(|word| word.to_le_bytes());
    bytes.take_while(|&byte| byte != 0).eq(name.bytes())
}

/// `OpTypeVoid` to `OpTypeForwardPointer`, the types of core SPIR-V.
fn is_type(op: u16) -> bool {
    (Op::TypeVoid as u16..=Op::TypeForwardPointer as u16).contains(&op)
}

/// Which function calls which.
struct Functions {
    calls: HashMap<u32, Vec<u32>>,
}

impl Functions {
    /// `None` if the module has something whose references to functions are not followed here.
    fn of(words: &[u32]) -> Option<Self> {
        let mut calls: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut inside = None;
        for instruction in instructions(words) {
            let operands = instruction.operands;
            if instruction.is(Op::Function) {
                let id = *operands.get(1)?;
                calls.entry(id).or_default();
                inside = Some(id);
            } else if instruction.is(Op::FunctionCall) {
                calls.get_mut(&inside?)?.push(*operands.get(2)?);
            } else if inside.is_none()
                && (instruction.is(Op::ExtInst) || instruction.is(Op::GroupDecorate))
            {
                // Debug information, and groups of decorations.
                return None;
            }
        }
        Some(Functions { calls })
    }

    fn reached_from(&self, entry: u32) -> HashSet<u32> {
        let mut reached = HashSet::from([entry]);
        let mut open = vec![entry];
        while let Some(function) = open.pop() {
            for &called in self.calls.get(&function).into_iter().flatten() {
                if reached.insert(called) {
                    open.push(called);
                }
            }
        }
        reached
    }
}
