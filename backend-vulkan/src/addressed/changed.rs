//! A module as it becomes, instruction by instruction.

use super::Addressed;
use super::globals::{Globals, Type};
use crate::module::{HEADER_WORDS, Instruction, instructions};
use spirv::{AddressingModel, Capability, MemoryAccess, Op, StorageClass};
use std::collections::HashMap;

/// A pointer into a buffer.
#[derive(Clone, Copy)]
struct Pointer {
    id: u32,
    /// The type behind it.
    to: u32,
    /// The same as a number, of one to the beginning of a buffer where elements are counted with 64 bits.
    start: Option<u32>,
}

/// The module as it becomes.
pub(super) struct Changed<'a> {
    globals: &'a Globals,
    bound: u32,
    /// The type of numbers of 64 bits, if elements are counted with those.
    wide: Option<u32>,
    /// Types of pointers, by what is behind them.
    types: HashMap<u32, u32>,
    /// By the ids that they have in the module as it is.
    pointers: HashMap<u32, Pointer>,
    /// New types and constants.
    added: Vec<u32>,
    /// What finds the buffers, until it has its place at the beginning of the entry.
    first: Vec<u32>,
    /// The functions.
    body: Vec<u32>,
    in_entry: bool,
}

impl<'a> Changed<'a> {
    pub(super) fn new(globals: &'a Globals, wide: bool) -> Self {
        let mut changed = Changed {
            globals,
            bound: globals.bound,
            wide: None,
            types: HashMap::new(),
            pointers: HashMap::new(),
            added: Vec::new(),
            first: Vec::new(),
            body: Vec::new(),
            in_entry: false,
        };
        if wide {
            changed.wide = Some(match globals.word(64) {
                Some(long) => long,
                None => changed.add(|id| vec![id, 64, 0], Op::TypeInt),
            });
        }
        changed
    }

    fn id(&mut self) -> u32 {
        self.bound += 1;
        self.bound - 1
    }

    /// Adds a type, whose operands have its id in front.
    fn add(&mut self, operands: impl FnOnce(u32) -> Vec<u32>, op: Op) -> u32 {
        let id = self.id();
        push(&mut self.added, op, &operands(id));
        id
    }

    fn pointer_to(&mut self, pointee: u32) -> u32 {
        if let Some(&known) = self.types.get(&pointee) {
            return known;
        }
        let class = StorageClass::PhysicalStorageBuffer as u32;
        let made = self.add(|id| vec![id, class, pointee], Op::TypePointer);
        self.types.insert(pointee, made);
        made
    }

    /// Writes what finds the buffers.
    pub(super) fn find_buffers(&mut self, addressed: &Addressed) -> Option<()> {
        let globals = self.globals;
        let word = globals.word(32)?;
        let arguments = globals.arguments.as_ref()?;
        let pair = match globals.pair_of(word) {
            Some(pair) => pair,
            None => self.add(|id| vec![id, word, 2], Op::TypeVector),
        };
        let push_word = self.add(
            |id| vec![id, StorageClass::PushConstant as u32, word],
            Op::TypePointer,
        );
        let zero = self.constant(word, 0);
        for buffer in &globals.buffers {
            let Some(place) = addressed.place(buffer.binding) else {
                continue;
            };
            let mut halves = [0; 2];
            for (half, place) in halves.iter_mut().zip(place..) {
                let place = self.constant(word, place);
                let (at, value) = (self.id(), self.id());
                let mut chain = vec![push_word, at, arguments.variable];
                chain.extend(std::iter::repeat_n(zero, arguments.depth));
                chain.push(place);
                push(&mut self.first, Op::AccessChain, &chain);
                push(&mut self.first, Op::Load, &[word, value, at]);
                *half = value;
            }
            let (both, id) = (self.id(), self.id());
            let (pointer, to) = (self.pointer_to(buffer.to), buffer.to);
            let [low, high] = halves;
            let operands = [pair, both, low, high];
            push(&mut self.first, Op::CompositeConstruct, &operands);
            push(&mut self.first, Op::Bitcast, &[pointer, id, both]);
            let start = self.wide.map(|long| {
                let start = self.id();
                push(&mut self.first, Op::Bitcast, &[long, start, both]);
                start
            });
            let pointer = Pointer { id, to, start };
            self.pointers.insert(buffer.variable, pointer);
        }
        Some(())
    }

    fn constant(&mut self, word: u32, value: u32) -> u32 {
        let id = self.id();
        push(&mut self.added, Op::Constant, &[word, id, value]);
        id
    }

    /// Takes over an instruction of a function.
    pub(super) fn take(&mut self, words: &[u32], instruction: &Instruction<'_>) -> Option<()> {
        let operands = instruction.operands;
        if instruction.is(Op::Function) {
            self.in_entry = operands.get(1) == Some(&self.globals.entry);
        }
        let opens = [
            Op::Function,
            Op::FunctionParameter,
            Op::Label,
            Op::Variable,
            Op::Line,
            Op::NoLine,
        ];
        if self.in_entry && !opens.iter().any(|&op| instruction.is(op)) {
            self.body.append(&mut self.first);
        }
        let chain = instruction.is(Op::AccessChain) || instruction.is(Op::InBoundsAccessChain);
        let pointer_at = if chain || instruction.is(Op::Load) || returns_atomic(instruction) {
            Some(2)
        } else if instruction.is(Op::Store) || instruction.is(Op::AtomicStore) {
            Some(0)
        } else {
            None
        };
        let own = pointer_at.and_then(|at| operands.get(at));
        let mut others = ids(instruction).iter().filter(|&id| Some(id) != own);
        let pointer = own.and_then(|id| self.pointers.get(id));
        if others.any(|id| self.pointers.contains_key(id)) || pointer.is_some() && !self.in_entry {
            return None;
        }
        let (Some(&pointer), Some(at)) = (pointer, pointer_at) else {
            self.body.extend_from_slice(words);
            return Some(());
        };
        if chain {
            return self.chain(pointer, operands);
        }
        let mut changed = operands.to_vec();
        changed[at] = pointer.id;
        if instruction.is(Op::Load) || instruction.is(Op::Store) {
            let align = self.globals.align(pointer.to)?;
            // Behind the pointer, or the value that is stored.
            let mask_at = if at == 0 { 2 } else { 3 };
            align_access(&mut changed, mask_at, align);
        }
        push_op(&mut self.body, instruction.op, &changed);
        Some(())
    }

    /// Takes over an access chain from this pointer.
    fn chain(&mut self, from: Pointer, operands: &[u32]) -> Option<()> {
        let (&[_, id, _], indices) = operands.split_first_chunk::<3>()?;
        let (from, indices) = self.reach_element(from, indices, id)?;
        if from.id == id {
            self.pointers.insert(id, from);
            return Some(());
        }
        let mut at = Pointer { id, ..from };
        for index in indices {
            let inside = self.globals.inside(at.to, *index)?;
            if inside.is_endless && self.wide.is_some() {
                return None;
            }
            // The elements that a buffer begins with begin where it does.
            at.start = at.start.filter(|_| inside.is_all);
            at.to = inside.to;
        }
        let pointer = self.pointer_to(at.to);
        let mut changed = vec![pointer, id, from.id];
        changed.extend(indices);
        push(&mut self.body, Op::AccessChain, &changed);
        self.pointers.insert(id, at);
        Some(())
    }

    /// Goes to an element of a buffer if that is where these indices lead, and elements are counted with 64 bits. Gives the pointer
    /// to it, called `id` if that is the end of the way, and the indices that are left.
    fn reach_element<'i>(
        &mut self,
        from: Pointer,
        indices: &'i [u32],
        id: u32,
    ) -> Option<(Pointer, &'i [u32])> {
        let Some(long) = self.wide else {
            return Some((from, indices));
        };
        let (mut to, mut rest) = (from.to, indices);
        if let (Some(Type::Struct(_)), [first, behind @ ..]) = (self.globals.types.get(&to), rest) {
            (to, rest) = (self.globals.inside(to, *first)?.to, behind);
        }
        let (Some(&Type::Endless { element, stride }), [index, rest @ ..]) =
            (self.globals.types.get(&to), rest)
        else {
            return Some((from, indices));
        };
        let start = from.start?;
        let [size, wide, offset, address] = [(); 4].map(|()| self.id());
        let id = if rest.is_empty() { id } else { self.id() };
        push(&mut self.added, Op::Constant, &[long, size, stride, 0]);
        push(&mut self.body, Op::UConvert, &[long, wide, *index]);
        push(&mut self.body, Op::IMul, &[long, offset, wide, size]);
        push(&mut self.body, Op::IAdd, &[long, address, start, offset]);
        let pointer = self.pointer_to(element);
        push(&mut self.body, Op::ConvertUToPtr, &[pointer, id, address]);
        let found = Pointer {
            id,
            to: element,
            start: None,
        };
        Some((found, rest))
    }

    pub(super) fn into_words(self, words: &[u32]) -> Vec<u32> {
        let mut out = words[..HEADER_WORDS].to_vec();
        out[3] = self.bound;
        let mut needed = vec![Capability::PhysicalStorageBufferAddresses as u32];
        if self.wide.is_some() {
            needed.push(Capability::Int64 as u32);
        }
        needed.retain(|capability| !self.globals.capabilities.contains(capability));
        for capability in needed {
            push(&mut out, Op::Capability, &[capability]);
        }
        for instruction in instructions(words).take_while(|i| !i.is(Op::Function)) {
            if instruction.is(Op::MemoryModel) {
                let model = AddressingModel::PhysicalStorageBuffer64 as u32;
                push(&mut out, Op::MemoryModel, &[model, instruction.operands[1]]);
            } else {
                out.extend_from_slice(&words[instruction.range]);
            }
        }
        out.extend(self.added);
        out.extend(self.body);
        out
    }
}

/// States the alignment of a load or store whose mask of access, if it has one, stands at `mask_at`.
pub(super) fn align_access(operands: &mut Vec<u32>, mask_at: usize, align: u32) {
    let aligned = MemoryAccess::ALIGNED.bits();
    match operands.get_mut(mask_at) {
        Some(mask) if *mask & aligned != 0 => {}
        Some(mask) => {
            *mask |= aligned;
            // In front of all other operands: only `Volatile` comes before, which has none.
            operands.insert(mask_at + 1, align);
        }
        None => operands.extend([aligned, align]),
    }
}

/// An atomic operation with a result.
fn returns_atomic(instruction: &Instruction<'_>) -> bool {
    (Op::AtomicLoad as u16..=Op::AtomicXor as u16).contains(&instruction.op)
        && !instruction.is(Op::AtomicStore)
}

/// The operands among which there may be pointers to buffers, besides the one that an access goes by: numbers may look like their ids.
fn ids<'i>(instruction: &Instruction<'i>) -> &'i [u32] {
    let without = [
        Op::CompositeExtract,
        Op::CompositeInsert,
        Op::VectorShuffle,
        Op::Switch,
        Op::LoopMerge,
        Op::SelectionMerge,
        Op::Line,
        Op::Load,
        Op::Store,
    ];
    if without.iter().any(|&op| instruction.is(op)) {
        return &[];
    }
    let first = if instruction.is(Op::ExtInst) { 4 } else { 0 };
    instruction.operands.get(first..).unwrap_or(&[])
}

fn push(out: &mut Vec<u32>, op: Op, operands: &[u32]) {
    push_op(out, op as u16, operands);
}

fn push_op(out: &mut Vec<u32>, op: u16, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | u32::from(op));
    out.extend_from_slice(operands);
}
