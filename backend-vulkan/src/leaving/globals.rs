//! What variables need outside of functions: ids, types, and the lane's number.

use rspirv::dr::{Block, Instruction, Module, Operand};
use spirv::{BuiltIn, Decoration, Op, StorageClass};
use std::collections::{HashMap, HashSet};

/// The module without its functions.
pub(super) struct Globals<'a> {
    module: &'a mut Module,
    pointers: HashSet<u32>,
    /// For each type of which there are variables: of these, and of their elements, the pointers' types.
    variables: HashMap<u32, [u32; 2]>,
}

impl<'a> Globals<'a> {
    pub(super) fn of(module: &'a mut Module) -> Self {
        let types = module.types_global_values.iter();
        let pointers = types
            .filter(|x| x.class.opcode == Op::TypePointer)
            .filter_map(|x| x.result_id)
            .collect();
        Globals {
            module,
            pointers,
            variables: HashMap::new(),
        }
    }

    pub(super) fn new_id(&mut self) -> u32 {
        match &mut self.module.header {
            Some(header) => {
                header.bound += 1;
                header.bound - 1
            }
            None => 0,
        }
    }

    /// Whether this is the type of a pointer.
    pub(super) fn is_pointer(&self, kind: u32) -> bool {
        self.pointers.contains(&kind)
    }

    /// Declares a variable for a value of this type in the first block of a function; `variable` becomes the pointer to it.
    pub(super) fn declare(&mut self, first: &mut Block, variable: u32, kind: u32) {
        let word = self.get(
            Op::TypeInt,
            None,
            [32, 0].map(Operand::LiteralBit32).to_vec(),
        );
        let constant = |value| vec![Operand::LiteralBit32(value)];
        let two = self.get(Op::Constant, Some(word), constant(2));
        let shift = self.get(Op::Constant, Some(word), constant(31));
        let [to_array, to_kind] = self.variables.get(&kind).copied().unwrap_or_else(|| {
            // Other arrays of this type may say how they lie in memory, which a variable may not.
            let array = self.make(
                Op::TypeArray,
                None,
                [kind, two].map(Operand::IdRef).to_vec(),
            );
            let pointers = [array, kind].map(|kind| {
                let class = Operand::StorageClass(StorageClass::Function);
                self.get(Op::TypePointer, None, vec![class, Operand::IdRef(kind)])
            });
            self.variables.insert(kind, pointers);
            pointers
        });
        let lane = self.lane(word);
        let [whole, number, zero] = [(); 3].map(|()| self.new_id());
        let body = &mut first.instructions;
        let class = vec![Operand::StorageClass(StorageClass::Function)];
        body.insert(
            0,
            Instruction::new(Op::Variable, Some(to_array), Some(whole), class),
        );
        let after = body
            .iter()
            .position(|x| x.class.opcode != Op::Variable)
            .unwrap_or(1);
        let make = |op, kind, id, operands: &[u32]| {
            let operands = operands.iter().map(|&id| Operand::IdRef(id)).collect();
            Instruction::new(op, Some(kind), Some(id), operands)
        };
        let chain = [
            make(Op::Load, word, number, &[lane]),
            make(Op::ShiftRightLogical, word, zero, &[number, shift]),
            make(Op::InBoundsAccessChain, to_kind, variable, &[whole, zero]),
        ];
        body.splice(after..after, chain);
    }

    /// The id of such a type or constant.
    fn get(&mut self, op: Op, kind: Option<u32>, operands: Vec<Operand>) -> u32 {
        let is = |x: &&Instruction| {
            x.class.opcode == op && x.result_type == kind && x.operands == operands
        };
        if let Some(id) = self
            .module
            .types_global_values
            .iter()
            .find(is)
            .and_then(|x| x.result_id)
        {
            return id;
        }
        self.make(op, kind, operands)
    }

    fn make(&mut self, op: Op, kind: Option<u32>, operands: Vec<Operand>) -> u32 {
        let id = self.new_id();
        let new = Instruction::new(op, kind, Some(id), operands);
        self.module.types_global_values.push(new);
        id
    }

    /// The variable that holds the lane's number in its block.
    fn lane(&mut self, word: u32) -> u32 {
        let built_in = [
            Operand::Decoration(Decoration::BuiltIn),
            Operand::BuiltIn(BuiltIn::LocalInvocationIndex),
        ];
        let decorates = |x: &&Instruction| x.operands.get(1..) == Some(&built_in);
        let found = self.module.annotations.iter().find(decorates);
        if let Some(id) = found.and_then(|x| x.operands[0].id_ref_any()) {
            return id;
        }
        let class = Operand::StorageClass(StorageClass::Input);
        let to_word = self.get(
            Op::TypePointer,
            None,
            vec![class.clone(), Operand::IdRef(word)],
        );
        let lane = self.make(Op::Variable, Some(to_word), vec![class]);
        let [decoration, built_in] = built_in;
        let operands = vec![Operand::IdRef(lane), decoration, built_in];
        let decorate = Instruction::new(Op::Decorate, None, None, operands);
        self.module.annotations.push(decorate);
        for entry in &mut self.module.entry_points {
            entry.operands.push(Operand::IdRef(lane));
        }
        lane
    }
}
