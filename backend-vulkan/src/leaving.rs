//! Values that leave a loop, for drivers that do not keep them for each lane.
//!
//! Code behind a loop may use what a round of the loop made: SPIR-V asks for no `OpPhi` where the one block that made it is on every way
//! there. SwiftShader keeps what phis say for each lane, and all else in one register: when lanes leave a loop in different
//! rounds, code behind it finds what the last round left in the register, where lanes that were gone have nothing. So
//!
//! ```text
//! let ticket = loop { let old = word.fetch_add(1); if old % 2 == 0 { break old } };
//! ```
//!
//! is wrong for all lanes but the last ones. This gives each such value a variable: it is stored where it is made, under the
//! mask of the lanes that are there, and loaded where it is used behind the loop. Values that are computed of phis, and of what was made before the loop,
//! need none: each round computes them again for all lanes, of what is kept for each. Variables for all would make modules larger
//! than SwiftShader can compile.
//!
//! SwiftShader runs SPIRV-Tools' optimiser first, which makes registers of variables, volatile ones, too, and takes out phis with one
//! source. It leaves alone an array whose index it does not know: each variable is element 0 of an array of two, and the index is the
//! highest bit of the lane's number in its block, which is never set.

mod globals;
mod loops;

use globals::Globals;
use loops::Loops;
use rspirv::binary::Assemble;
use rspirv::dr::{Block, Function, Instruction, Operand};
use spirv::Op;
use std::collections::HashMap;

/// The module with variables for values that leave loops.
///
/// # Errors
/// What is not understood of it.
pub(crate) fn keep_for_each_lane(words: Vec<u32>) -> Result<Vec<u32>, String> {
    let mut module = rspirv::dr::load_words(&words).map_err(|error| error.to_string())?;
    let mut functions = std::mem::take(&mut module.functions);
    let mut globals = Globals::of(&mut module);
    let mut changed = false;
    for function in &mut functions {
        let mut leaving = Leaving::of(function);
        changed |= leaving.change(function, &mut globals)?;
    }
    module.functions = functions;
    Ok(if changed { module.assemble() } else { words })
}

/// A value that leaves a loop.
struct Value {
    /// What makes it.
    maker: Instruction,
    /// The block in which that is.
    block: usize,
    /// The pointer to its variable, once there is one.
    variable: Option<u32>,
}

/// What a function makes in loops.
struct Leaving {
    loops: Loops,
    values: HashMap<u32, Value>,
    /// Whether a value is lost, when lanes leave the loop of this number.
    lost: HashMap<(u32, usize), bool>,
}

impl Leaving {
    fn of(function: &Function) -> Self {
        let loops = Loops::of(function);
        let mut values = HashMap::new();
        for (block, body) in function.blocks.iter().enumerate() {
            // Phis are kept.
            let makers = body
                .instructions
                .iter()
                .filter(|x| x.class.opcode != Op::Phi);
            for maker in makers.filter(|_| loops.around(block).is_some()) {
                if let (Some(id), Some(_)) = (maker.result_id, maker.result_type) {
                    let value = Value {
                        maker: maker.clone(),
                        block,
                        variable: None,
                    };
                    values.insert(id, value);
                }
            }
        }
        Leaving {
            loops,
            values,
            lost: HashMap::new(),
        }
    }

    /// Changes the function; whether there was something to change.
    fn change(
        &mut self,
        function: &mut Function,
        globals: &mut Globals<'_>,
    ) -> Result<bool, String> {
        for block in 0..function.blocks.len() {
            self.change_uses(function, block, globals)?;
        }
        let values = self.values.iter();
        let mut kept: Vec<_> = values
            .filter_map(|(&id, value)| Some((value.variable?, id, value)))
            .collect();
        kept.sort_by_key(|&(variable, ..)| variable);
        for &(variable, id, value) in &kept {
            let body = &mut function.blocks[value.block].instructions;
            if let Some(at) = body.iter().position(|x| x.result_id == Some(id)) {
                let operands = [variable, id].map(Operand::IdRef).to_vec();
                body.insert(at + 1, Instruction::new(Op::Store, None, None, operands));
            }
            if let Some(kind) = value.maker.result_type {
                globals.declare(&mut function.blocks[0], variable, kind);
            }
        }
        Ok(!kept.is_empty())
    }

    /// Has the instructions of a block take values that left a loop from their variables.
    fn change_uses(
        &mut self,
        function: &mut Function,
        block: usize,
        globals: &mut Globals<'_>,
    ) -> Result<(), String> {
        let mut index = 0;
        while index < function.blocks[block].instructions.len() {
            let x = &function.blocks[block].instructions[index];
            let is_phi = x.class.opcode == Op::Phi;
            let uses: Vec<(usize, u32)> = x
                .operands
                .iter()
                .enumerate()
                .filter_map(|(i, operand)| Some((i, operand.id_ref_any()?)))
                .collect();
            for (operand, id) in uses {
                // A phi takes its values where lanes come from.
                let at = match is_phi {
                    true if operand % 2 == 1 => continue,
                    true => self
                        .loops
                        .block_of(&function.blocks[block].instructions[index], operand + 1),
                    false => Some(block),
                };
                let Some(at) = at.filter(|&at| self.is_lost(id, at)) else {
                    continue;
                };
                let (new, taken) = self.taken(id, at, globals)?;
                let body = &mut function.blocks[at].instructions;
                let place = match is_phi {
                    true => before_the_end(body),
                    false => index.min(before_the_end(body)),
                };
                let count = taken.len();
                body.splice(place..place, taken);
                if at == block && place <= index {
                    index += count;
                }
                function.blocks[block].instructions[index].operands[operand] = Operand::IdRef(new);
            }
            index += 1;
        }
        Ok(())
    }

    /// Whether a block is behind the loop in which this was made, and lanes lost it there.
    fn is_lost(&mut self, id: u32, block: usize) -> bool {
        let made = self.values.get(&id).map(|value| value.block);
        let left = made.and_then(|made| self.loops.left(made, block));
        left.is_some_and(|left| self.is_lost_in(id, left))
    }

    /// Whether what one round of a loop made of it is lost in the next one, for lanes that have left.
    fn is_lost_in(&mut self, id: u32, inside: usize) -> bool {
        if let Some(&lost) = self.lost.get(&(id, inside)) {
            return lost;
        }
        let value = self.values.get(&id);
        let Some(value) = value.filter(|value| self.loops.is_in(value.block, inside)) else {
            return false;
        };
        // In a damaged module a value may be made of itself.
        self.lost.insert((id, inside), false);
        let mut lost = !is_computed(value.maker.class.opcode);
        if !lost {
            let of: Vec<u32> = value
                .maker
                .operands
                .iter()
                .filter_map(Operand::id_ref_any)
                .collect();
            lost = of.into_iter().any(|of| self.is_lost_in(of, inside));
        }
        self.lost.insert((id, inside), lost);
        lost
    }

    /// Instructions that take a value which left its loop for a use in this block, and the id that it has there.
    fn taken(
        &mut self,
        id: u32,
        block: usize,
        globals: &mut Globals<'_>,
    ) -> Result<(u32, Vec<Instruction>), String> {
        let new = globals.new_id();
        let mut taken = Vec::new();
        let Some(value) = self.values.get_mut(&id) else {
            return Ok((id, taken));
        };
        let kind = value.maker.result_type.unwrap_or(0);
        if !globals.is_pointer(kind) {
            let variable = *value.variable.get_or_insert_with(|| globals.new_id());
            let operands = vec![Operand::IdRef(variable)];
            taken.push(Instruction::new(Op::Load, Some(kind), Some(new), operands));
            return Ok((new, taken));
        }
        // A pointer is made again, of what it was made of.
        let mut maker = value.maker.clone();
        let op = maker.class.opcode;
        let makes = [
            Op::AccessChain,
            Op::InBoundsAccessChain,
            Op::PtrAccessChain,
            Op::ConvertUToPtr,
            Op::Bitcast,
            Op::CopyObject,
        ];
        if !makes.contains(&op) {
            return Err(format!(
                "a pointer that a loop makes by Op{op:?} is used behind the loop"
            ));
        }
        for operand in &mut maker.operands {
            if let Some(of) = operand.id_ref_any().filter(|&of| self.is_lost(of, block)) {
                let (new, before) = self.taken(of, block, globals)?;
                taken.extend(before);
                *operand = Operand::IdRef(new);
            }
        }
        maker.result_id = Some(new);
        taken.push(maker);
        Ok((new, taken))
    }
}

/// Whether the same operands give the same value in every round: by the groups of SPIR-V's instructions.
fn is_computed(op: Op) -> bool {
    let groups = [
        Op::AccessChain..=Op::ArrayLength,
        Op::VectorExtractDynamic..=Op::Transpose,
        Op::ConvertFToU..=Op::Bitcast,
        Op::SNegate..=Op::SMulExtended,
        Op::Any..=Op::FUnordGreaterThanEqual,
        Op::ShiftRightLogical..=Op::BitCount,
    ];
    let alone = [Op::Undef, Op::ExtInst, Op::CopyLogical];
    groups.iter().any(|group| group.contains(&op)) || alone.contains(&op)
}

/// Where something can be put at the end of a block: before it says where it goes on.
fn before_the_end(body: &[Instruction]) -> usize {
    let ends = [Op::LoopMerge, Op::SelectionMerge];
    let merge = body.iter().position(|x| ends.contains(&x.class.opcode));
    merge.unwrap_or(body.len().saturating_sub(1))
}

/// The id of a block.
fn label(block: &Block) -> Option<u32> {
    block.label.as_ref()?.result_id
}

#[cfg(test)]
mod tests;
