//! As much of a SPIR-V module's word stream as the lint needs: types, names, lines, function bodies.
//!
//! A full parser is heavier than all the rest of this crate together, and every user's build compiles it.

use std::collections::{HashMap, HashSet};

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The file, as the compiler named it: relative to the workspace for its own crates.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Opcodes and enumerants of the SPIR-V specification (sections 3.49 and 3.7).
pub(super) mod op {
    pub const NAME: u16 = 5;
    pub const STRING: u16 = 7;
    pub const LINE: u16 = 8;
    pub const ENTRY_POINT: u16 = 15;
    pub const TYPE_VECTOR: u16 = 23;
    pub const TYPE_MATRIX: u16 = 24;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_RUNTIME_ARRAY: u16 = 29;
    pub const TYPE_STRUCT: u16 = 30;
    pub const TYPE_POINTER: u16 = 32;
    pub const TYPE_FORWARD_POINTER: u16 = 39;
    pub const FUNCTION: u16 = 54;
    pub const FUNCTION_END: u16 = 56;
    pub const VARIABLE: u16 = 59;
    pub const LOAD: u16 = 61;
    pub const STORE: u16 = 62;
    pub const COMPOSITE_EXTRACT: u16 = 81;
    pub const COMPOSITE_INSERT: u16 = 82;
    pub const COPY_OBJECT: u16 = 83;
    pub const PHI: u16 = 245;
    pub const LABEL: u16 = 248;
    pub const SWITCH: u16 = 251;
    pub const NO_LINE: u16 = 317;

    pub const CLASS_PRIVATE: u32 = 6;
    pub const CLASS_FUNCTION: u32 = 7;
}

/// A line as the module gives it: the id of the file's name, and the number.
pub(super) type Line = (u32, u32);

/// One instruction of a function or of the global part.
#[derive(Debug)]
pub(super) struct Instruction {
    pub opcode: u16,
    /// Every word after the first.
    pub operands: Vec<u32>,
    /// The source line in force.
    pub line: Option<Line>,
}

impl Instruction {
    /// The id that it defines, for the instructions that the lint follows.
    pub fn result(&self) -> Option<u32> {
        match self.opcode {
            op::PHI | op::VARIABLE | op::COMPOSITE_INSERT | op::COPY_OBJECT => {
                self.operands.get(1).copied()
            }
            _ => None,
        }
    }

    /// Whether it takes the value `id`. Literals are left out where they could be taken for an id.
    pub fn uses(&self, id: u32) -> bool {
        let values = match self.opcode {
            op::LOAD | op::COMPOSITE_EXTRACT => self.operands.get(2..3),
            op::STORE => self.operands.get(..2),
            op::COMPOSITE_INSERT => self.operands.get(2..4),
            op::SWITCH => self.operands.get(..1),
            op::VARIABLE => self.operands.get(3..),
            _ => Some(&self.operands[..]),
        };
        self.result() != Some(id) && values.is_some_and(|values| values.contains(&id))
    }
}

/// A function and its instructions, without the bookkeeping ones.
#[derive(Debug)]
pub(super) struct Function {
    pub id: u32,
    pub body: Vec<Instruction>,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Module {
    names: HashMap<u32, String>,
    strings: HashMap<u32, String>,
    entry_points: HashMap<u32, String>,
    /// Pointer types with what they point to.
    pointees: HashMap<u32, u32>,
    /// Pointer types and the composites with one within.
    pointer_bearing: HashSet<u32>,
    globals: Vec<Instruction>,
    functions: Vec<Function>,
}

impl Module {
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let words = words(bytes)?;
        let mut module = Module::default();
        let mut open: Option<Function> = None;
        let mut line = None;
        let mut rest = words.get(5..).ok_or("it ends within the header")?;
        while let [first, ..] = rest {
            let (length, opcode) = ((first >> 16) as usize, *first as u16);
            let at = words.len() - rest.len();
            if length == 0 {
                return Err(format!("an instruction of no words at word {at}"));
            }
            let operands = rest
                .get(1..length)
                .ok_or_else(|| format!("it ends within the instruction at word {at}"))?;
            rest = &rest[length..];
            match (opcode, operands) {
                (op::LINE, [file, number, ..]) => line = Some((*file, *number)),
                (op::NO_LINE, _) => line = None,
                (op::FUNCTION, [_, id, ..]) => {
                    open = Some(Function {
                        id: *id,
                        body: Vec::new(),
                    })
                }
                (op::FUNCTION_END, _) => {
                    module.functions.extend(open.take());
                    line = None;
                }
                _ => {
                    if opcode == op::LABEL {
                        // A line holds to the end of its block.
                        line = None;
                    }
                    match &mut open {
                        Some(function) => {
                            function.body.push(Instruction {
                                opcode,
                                operands: operands.to_vec(),
                                line,
                            });
                        }
                        None => module.global(opcode, operands),
                    }
                }
            }
        }
        match open {
            Some(function) => Err(format!("function %{} has no end", function.id)),
            None => Ok(module),
        }
    }

    fn global(&mut self, opcode: u16, operands: &[u32]) {
        match (opcode, operands) {
            (op::NAME, [id, text @ ..]) => {
                self.names.insert(*id, string(text));
            }
            (op::STRING, [id, text @ ..]) => {
                self.strings.insert(*id, string(text));
            }
            (op::ENTRY_POINT, [_model, id, text @ ..]) => {
                self.entry_points.insert(*id, string(text));
            }
            (op::TYPE_POINTER, [id, _class, to]) => {
                self.pointees.insert(*id, *to);
                self.pointer_bearing.insert(*id);
            }
            (op::TYPE_FORWARD_POINTER, [id, _class]) => {
                self.pointer_bearing.insert(*id);
            }
            // Types stand in the order of their use, so the members are known by now.
            (op::TYPE_STRUCT, [id, members @ ..]) => self.composite(*id, members),
            (
                op::TYPE_VECTOR | op::TYPE_MATRIX | op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY,
                [id, element, ..],
            ) => {
                self.composite(*id, &[*element]);
            }
            (op::VARIABLE, _) => {
                self.globals.push(Instruction {
                    opcode,
                    operands: operands.to_vec(),
                    line: None,
                });
            }
            _ => {}
        }
    }

    fn composite(&mut self, id: u32, members: &[u32]) {
        if members
            .iter()
            .any(|member| self.pointer_bearing.contains(member))
        {
            self.pointer_bearing.insert(id);
        }
    }

    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The variables outside of functions.
    pub fn globals(&self) -> &[Instruction] {
        &self.globals
    }

    /// Whether a value of this type is, or has somewhere within, a pointer.
    pub fn holds_pointer(&self, ty: u32) -> bool {
        self.pointer_bearing.contains(&ty)
    }

    /// What a pointer type points to.
    pub fn pointee(&self, ty: u32) -> Option<u32> {
        self.pointees.get(&ty).copied()
    }

    /// How to call a type in a message.
    pub fn type_name(&self, ty: u32) -> String {
        match self.names.get(&ty) {
            Some(name) if !name.is_empty() => name.clone(),
            _ if self.pointees.contains_key(&ty) => "pointer".to_owned(),
            _ => format!("%{ty}"),
        }
    }

    pub fn function_name(&self, id: u32) -> String {
        let name = self.entry_points.get(&id).or_else(|| self.names.get(&id));
        name.cloned().unwrap_or_else(|| format!("%{id}"))
    }

    pub fn location(&self, (file, line): Line) -> Location {
        let file = self
            .strings
            .get(&file)
            .cloned()
            .unwrap_or_else(|| format!("%{file}"));
        Location { file, line }
    }
}

fn words(bytes: &[u8]) -> Result<Vec<u32>, String> {
    const MAGIC: u32 = 0x0723_0203;
    if !bytes.len().is_multiple_of(4) {
        return Err(format!(
            "its {} bytes are no whole number of words",
            bytes.len()
        ));
    }
    let mut words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    match words.first() {
        Some(&MAGIC) => {}
        Some(magic) if magic.swap_bytes() == MAGIC => {
            words.iter_mut().for_each(|word| *word = word.swap_bytes())
        }
        _ => return Err("it does not begin with SPIR-V's magic number".to_owned()),
    }
    Ok(words)
}

/// A literal string: bytes, packed four to a word, up to the first zero.
fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|&byte| byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
