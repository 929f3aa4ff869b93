//! The loops of a function: which blocks are in which.

use super::label;
use rspirv::dr::{Block, Function, Instruction, Operand};
use spirv::Op;
use std::collections::{HashMap, HashSet};

/// Which blocks are in which loops.
pub(super) struct Loops {
    blocks: HashMap<u32, usize>,
    /// The blocks of each loop: those to which the way from its header does not lead through its merge block.
    inside: Vec<HashSet<usize>>,
    /// For each block the smallest loop that it is in.
    around: Vec<Option<usize>>,
}

impl Loops {
    pub(super) fn of(function: &Function) -> Self {
        let blocks: HashMap<u32, usize> = function
            .blocks
            .iter()
            .enumerate()
            .filter_map(|(i, block)| Some((label(block)?, i)))
            .collect();
        let onward: Vec<Vec<usize>> = function
            .blocks
            .iter()
            .map(|block| {
                goes_to(block)
                    .iter()
                    .filter_map(|to| blocks.get(to).copied())
                    .collect()
            })
            .collect();
        let mut inside = Vec::new();
        for (header, block) in function.blocks.iter().enumerate() {
            let turn = block
                .instructions
                .iter()
                .find(|x| x.class.opcode == Op::LoopMerge);
            let merge = turn.and_then(|turn| turn.operands.first()?.id_ref_any());
            if let Some(merge) = merge.and_then(|merge| blocks.get(&merge).copied()) {
                inside.push(reached(&onward, header, merge));
            }
        }
        let around = (0..function.blocks.len())
            .map(|block| {
                let holding = (0..inside.len()).filter(|&i| inside[i].contains(&block));
                holding.min_by_key(|&i| inside[i].len())
            })
            .collect();
        Loops {
            blocks,
            inside,
            around,
        }
    }

    /// The smallest loop that a block is in.
    pub(super) fn around(&self, block: usize) -> Option<usize> {
        self.around[block]
    }

    /// The smallest loop around block `made`, if lanes have left it when they come to block `used`.
    pub(super) fn left(&self, made: usize, used: usize) -> Option<usize> {
        self.around[made].filter(|&around| !self.is_in(used, around))
    }

    /// Whether a block is in the loop of this number.
    pub(super) fn is_in(&self, block: usize, inside: usize) -> bool {
        self.inside[inside].contains(&block)
    }

    /// The block that an operand names.
    pub(super) fn block_of(&self, x: &Instruction, operand: usize) -> Option<usize> {
        let label = x.operands.get(operand)?.id_ref_any()?;
        self.blocks.get(&label).copied()
    }
}

/// The blocks to which `header` leads, itself with them, but not through `merge`.
fn reached(onward: &[Vec<usize>], header: usize, merge: usize) -> HashSet<usize> {
    let mut inside = HashSet::from([header]);
    let mut open = vec![header];
    while let Some(block) = open.pop() {
        for &to in &onward[block] {
            if to != merge && inside.insert(to) {
                open.push(to);
            }
        }
    }
    inside
}

/// Where a block goes on.
fn goes_to(block: &Block) -> Vec<u32> {
    let Some(end) = block.instructions.last() else {
        return Vec::new();
    };
    // Before the labels stands what decides.
    let first = match end.class.opcode {
        Op::Branch => 0,
        Op::BranchConditional | Op::Switch => 1,
        _ => end.operands.len(),
    };
    end.operands[first..]
        .iter()
        .filter_map(Operand::id_ref_any)
        .collect()
}
