//! What a module of one entry declares in front of its functions, as far as its buffers need it.

use crate::module::{Instruction, instructions};
use spirv::{Decoration, Op, StorageClass};
use std::collections::{HashMap, HashSet};

/// A type of which there may be some in a buffer.
pub(super) enum Type {
    Scalar {
        bytes: u32,
    },
    Struct(Vec<u32>),
    /// Vectors and arrays, by their elements.
    Array(u32),
    /// An array that the end of the buffer ends.
    Endless {
        element: u32,
        /// Bytes from one element to the next.
        stride: u32,
    },
}

/// What is inside a value of a type.
pub(super) struct Inside {
    /// Its type.
    pub(super) to: u32,
    /// Whether it is all that there is.
    pub(super) is_all: bool,
    /// Whether it is an element of an array without end.
    pub(super) is_endless: bool,
}

/// A buffer of the entry.
pub(super) struct Buffer {
    pub(super) variable: u32,
    pub(super) binding: u32,
    /// The type behind the variable.
    pub(super) to: u32,
}

/// The push constants.
pub(super) struct Arguments {
    pub(super) variable: u32,
    /// How many structs with one member are around the words.
    pub(super) depth: usize,
}

pub(super) struct Globals {
    /// Ids are below it.
    pub(super) bound: u32,
    /// The function of the entry.
    pub(super) entry: u32,
    pub(super) capabilities: HashSet<u32>,
    pub(super) types: HashMap<u32, Type>,
    /// Constants of one word.
    pub(super) constants: HashMap<u32, u32>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) arguments: Option<Arguments>,
    /// Unsigned integers by their bits.
    integers: HashMap<u32, u32>,
    /// Vectors of two by their elements.
    pairs: HashMap<u32, u32>,
    /// What is behind types of pointers.
    behind: HashMap<u32, u32>,
    interface: HashSet<u32>,
    bindings: HashMap<u32, u32>,
    strides: HashMap<u32, u32>,
}

impl Globals {
    /// `None` if the words are no such module.
    pub(super) fn of(words: &[u32]) -> Option<Self> {
        let mut globals = Globals {
            bound: *words.get(3)?,
            entry: 0,
            capabilities: HashSet::new(),
            types: HashMap::new(),
            constants: HashMap::new(),
            buffers: Vec::new(),
            arguments: None,
            integers: HashMap::new(),
            pairs: HashMap::new(),
            behind: HashMap::new(),
            interface: HashSet::new(),
            bindings: HashMap::new(),
            strides: HashMap::new(),
        };
        for instruction in instructions(words).take_while(|i| !i.is(Op::Function)) {
            globals.note(&instruction)?;
        }
        Some(globals)
    }

    fn note(&mut self, instruction: &Instruction<'_>) -> Option<()> {
        let is = |op| instruction.is(op);
        match *instruction.operands {
            [capability] if is(Op::Capability) => {
                self.capabilities.insert(capability);
            }
            // The words of the name among them do no harm: they are not asked for.
            [_, function, ref rest @ ..] if is(Op::EntryPoint) => {
                self.entry = function;
                self.interface.extend(rest);
            }
            [id, kind, number] if is(Op::Decorate) && kind == Decoration::Binding as u32 => {
                self.bindings.insert(id, number);
            }
            [id, kind, number] if is(Op::Decorate) && kind == Decoration::ArrayStride as u32 => {
                self.strides.insert(id, number);
            }
            [id, bits, signed] if is(Op::TypeInt) => {
                self.types.insert(id, Type::Scalar { bytes: bits / 8 });
                if signed == 0 {
                    self.integers.insert(bits, id);
                }
            }
            [id, bits, ..] if is(Op::TypeFloat) => {
                self.types.insert(id, Type::Scalar { bytes: bits / 8 });
            }
            [id, element, count] if is(Op::TypeVector) => {
                self.types.insert(id, Type::Array(element));
                if count == 2 {
                    self.pairs.insert(element, id);
                }
            }
            [id, element, _] if is(Op::TypeArray) => {
                self.types.insert(id, Type::Array(element));
            }
            [id, element] if is(Op::TypeRuntimeArray) => {
                let stride = *self.strides.get(&id)?;
                self.types.insert(id, Type::Endless { element, stride });
            }
            [id, ref members @ ..] if is(Op::TypeStruct) => {
                self.types.insert(id, Type::Struct(members.to_vec()));
            }
            [id, _, pointee] if is(Op::TypePointer) => {
                self.behind.insert(id, pointee);
            }
            [_, id, value] if is(Op::Constant) => {
                self.constants.insert(id, value);
            }
            [kind, variable, class, ..] if is(Op::Variable) => {
                self.note_variable(kind, variable, class)?;
            }
            _ => {}
        }
        Some(())
    }

    fn note_variable(&mut self, kind: u32, variable: u32, class: u32) -> Option<()> {
        if !self.interface.contains(&variable) {
            return Some(());
        }
        let to = *self.behind.get(&kind)?;
        if class == StorageClass::StorageBuffer as u32 {
            self.buffers.push(Buffer {
                variable,
                binding: *self.bindings.get(&variable)?,
                to,
            });
        } else if class == StorageClass::PushConstant as u32 {
            let (mut inner, mut depth) = (to, 0);
            while let Some(Type::Struct(members)) = self.types.get(&inner) {
                inner = *members.first()?;
                depth += 1;
            }
            self.arguments = Some(Arguments { variable, depth });
        }
        Some(())
    }

    /// What this index is of, in a value of a type.
    pub(super) fn inside(&self, id: u32, index: u32) -> Option<Inside> {
        match self.types.get(&id)? {
            Type::Struct(members) => {
                let number = *self.constants.get(&index)?;
                Some(Inside {
                    to: *members.get(number as usize)?,
                    is_all: members.len() == 1,
                    is_endless: false,
                })
            }
            of @ (Type::Array(element) | Type::Endless { element, .. }) => Some(Inside {
                to: *element,
                is_all: false,
                is_endless: matches!(of, Type::Endless { .. }),
            }),
            Type::Scalar { .. } => None,
        }
    }

    /// The unsigned integers with so many bits.
    pub(super) fn word(&self, bits: u32) -> Option<u32> {
        self.integers.get(&bits).copied()
    }

    /// The vectors of two of these.
    pub(super) fn pair_of(&self, element: u32) -> Option<u32> {
        self.pairs.get(&element).copied()
    }

    /// The bytes at a multiple of which values of a type lie: those of its largest scalar.
    pub(super) fn align(&self, id: u32) -> Option<u32> {
        match self.types.get(&id)? {
            Type::Scalar { bytes } => Some(*bytes),
            Type::Array(element) | Type::Endless { element, .. } => self.align(*element),
            Type::Struct(members) => {
                let mut each = members.iter().map(|&member| self.align(member));
                each.try_fold(1, |most, align| Some(most.max(align?)))
            }
        }
    }
}
