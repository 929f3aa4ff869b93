//! Writes images in the form in which they are stored ([`warpheap_build::stored`], which reads it and says why it is as it is).

use crate::error::{Result, message};
use rspirv::binary::{Assemble, Consumer, ParseAction, Parser};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use std::collections::HashMap;
use warpheap_build::Format;
use warpheap_build::stored::{self, spirv};

/// An image as it is stored.
///
/// # Errors
/// When it is no module, or would be another one when it is read.
pub(super) fn store(format: Format, image: &[u8]) -> Result<Vec<u8>> {
    match format {
        Format::Ptx => Ok(image.to_vec()),
        Format::Spirv => {
            let out = by_distance(image)?;
            match spirv::restore(&out) {
                // Numbers may differ, the form in which they are stored does not.
                Ok(again) if again.len() == image.len() && by_distance(&again)? == out => Ok(out),
                _ => message("SPIR-V does not survive being stored; please report it"),
            }
        }
    }
}

/// An image with the numbers that it has when it was stored and read.
///
/// # Errors
/// As [`store`].
pub(super) fn renumbered(format: Format, image: Vec<u8>) -> Result<Vec<u8>> {
    match format {
        Format::Ptx => Ok(image),
        Format::Spirv => stored::restore(format, store(format, &image)?)
            .or_else(|error| message(error.to_string())),
    }
}

fn by_distance(image: &[u8]) -> Result<Vec<u8>> {
    let mut parsed = Parsed::default();
    if let Err(error) = Parser::new(image, &mut parsed).parse() {
        return message(format!("not a SPIR-V module: {error}"));
    }
    let Some(header) = &parsed.header else {
        return message("not a SPIR-V module: it has no header");
    };
    let mut out = spirv::MAGIC.to_vec();
    for word in [header.version, header.generator, header.reserved_word] {
        spirv::put(&mut out, word.into());
    }
    let mut writer = Writer::new(&parsed.instructions);
    for instruction in &parsed.instructions {
        let bytes = writer.instruction(instruction);
        out.extend(bytes);
    }
    Ok(out)
}

/// A module's instructions as they come.
#[derive(Default)]
struct Parsed {
    header: Option<ModuleHeader>,
    instructions: Vec<Instruction>,
}

impl Consumer for Parsed {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        self.header = Some(header);
        ParseAction::Continue
    }
    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        self.instructions.push(instruction);
        ParseAction::Continue
    }
}

/// What is known of a module when one of its instructions is written.
struct Writer {
    /// Numbers of results in their order, by the identifiers of the module.
    numbers: HashMap<u32, u32>,
    /// Functions' places, by number.
    functions: HashMap<u32, u32>,
    /// The number of the first function.
    first_function: u32,
    /// What belongs to the module, by number, and which names are taken.
    names: HashMap<u32, u32>,
    taken: HashMap<u32, u32>,
    /// The number of the next result.
    next: u32,
}

impl Writer {
    fn new(instructions: &[Instruction]) -> Self {
        let (mut numbers, mut functions) = (HashMap::new(), HashMap::new());
        let mut first_function = u32::MAX;
        for (id, instruction) in instructions
            .iter()
            .filter_map(|i| i.result_id.map(|id| (id, i)))
        {
            let number = numbers.len() as u32 + 1;
            numbers.insert(id, number);
            if instruction.class.opcode as u32 == spirv::OP_FUNCTION {
                first_function = first_function.min(number);
                functions.insert(number, functions.len() as u32);
            }
        }
        Writer {
            numbers,
            functions,
            first_function,
            names: HashMap::new(),
            taken: HashMap::new(),
            next: 1,
        }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Vec<u8> {
        let mut words = Vec::new();
        let mut count = 0;
        let mut add = |tag, word| {
            spirv::put_word(&mut words, tag, word);
            count += 1;
        };
        let mut name = |id| {
            let (tag, word) = self.reference(id);
            add(tag, word);
        };
        instruction.result_type.into_iter().for_each(&mut name);
        if instruction.result_id.is_some() {
            add(spirv::Tag::Result, 0);
        }
        let mut literal = Vec::new();
        for operand in &instruction.operands {
            match operand {
                Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => {
                    let (tag, word) = self.reference(*id);
                    add(tag, word);
                }
                other => {
                    literal.clear();
                    other.assemble_into(&mut literal);
                    literal
                        .iter()
                        .for_each(|&word| add(spirv::Tag::Literal, word));
                }
            }
        }
        let mut bytes = Vec::new();
        spirv::put(&mut bytes, instruction.class.opcode as u64);
        spirv::put(&mut bytes, count);
        bytes.extend(words);
        if instruction.result_id.is_some() {
            if self.next < self.first_function {
                let name = spirv::name(&bytes);
                if *self.taken.entry(name).or_insert(self.next) == self.next {
                    self.names.insert(self.next, name);
                }
            }
            self.next += 1;
        }
        bytes
    }

    /// How an operand names a value.
    fn reference(&self, id: u32) -> (spirv::Tag, u32) {
        let Some(&number) = self.numbers.get(&id) else {
            // Nothing defines it: whoever wrote the module meant it as it is.
            return (spirv::Tag::Number, id);
        };
        if let Some(&place) = self.functions.get(&number) {
            return (spirv::Tag::Function, place);
        }
        if number < self.first_function {
            return match self.names.get(&number) {
                Some(&name) => (spirv::Tag::Named, name),
                None => (spirv::Tag::Number, number),
            };
        }
        match number < self.next {
            true => (spirv::Tag::Back, self.next - number),
            false => (spirv::Tag::Ahead, number - self.next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::dr::Builder;
    use rspirv::spirv::{FunctionControl, LoopControl, SelectionControl};

    /// Two functions: one with a loop that adds, `more` times in a round, and one that calls it and switches. A name is
    /// a string; there is a constant of two words, and with `more` a second one.
    fn module(more: u32) -> Vec<u8> {
        let mut b = Builder::new();
        b.set_version(1, 5);
        let (void, word, truth) = (b.type_void(), b.type_int(32, 0), b.type_bool());
        let long = b.type_int(64, 0);
        b.constant_bit64(long, 1 << 40);
        for value in 0..more {
            b.constant_bit32(word, 100 + value);
        }
        let one = b.constant_bit32(word, 1);
        let signature = b.type_function(void, []);

        let first = b
            .begin_function(void, None, FunctionControl::NONE, signature)
            .unwrap();
        b.name(first, "adds");
        let (before, head, body, end) = (b.id(), b.id(), b.id(), b.id());
        b.begin_block(Some(before)).unwrap();
        b.branch(head).unwrap();
        b.begin_block(Some(head)).unwrap();
        let next = b.id();
        let sum = b.phi(word, None, [(one, before), (next, body)]).unwrap();
        let go_on = b.i_equal(truth, None, sum, one).unwrap();
        b.loop_merge(end, body, LoopControl::NONE, []).unwrap();
        b.branch_conditional(go_on, body, end, []).unwrap();
        b.begin_block(Some(body)).unwrap();
        for _ in 0..more {
            b.i_add(word, None, sum, one).unwrap();
        }
        b.i_add(word, Some(next), sum, one).unwrap();
        b.branch(head).unwrap();
        b.begin_block(Some(end)).unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();

        b.begin_function(void, None, FunctionControl::NONE, signature)
            .unwrap();
        let (begin, other) = (b.id(), b.id());
        b.begin_block(Some(begin)).unwrap();
        b.function_call(void, None, first, []).unwrap();
        let two = b.i_add(word, None, one, one).unwrap();
        b.i_mul(word, None, two, two).unwrap();
        b.selection_merge(other, SelectionControl::NONE).unwrap();
        b.switch(one, other, [(Operand::LiteralBit32(7), other)])
            .unwrap();
        b.begin_block(Some(other)).unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();
        let words = b.module().assemble();
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// A module's instructions without the numbers of values.
    fn shape(image: &[u8]) -> Vec<String> {
        let mut parsed = Parsed::default();
        Parser::new(image, &mut parsed).parse().unwrap();
        let operand = |operand: &Operand| match operand {
            Operand::IdRef(_) => "%".to_owned(),
            other => format!("{other:?}"),
        };
        let line = |i: &Instruction| {
            let operands: Vec<_> = i.operands.iter().map(operand).collect();
            format!("{:?} {operands:?}", i.class.opcode)
        };
        parsed.instructions.iter().map(line).collect()
    }

    #[test]
    fn what_was_stored_is_the_same_module_with_numbers_in_order() {
        let image = module(2);
        let again = renumbered(Format::Spirv, image.clone()).unwrap();
        assert_eq!(shape(&again), shape(&image));
        let mut parsed = Parsed::default();
        Parser::new(&again, &mut parsed).parse().unwrap();
        let results = parsed.instructions.iter().filter_map(|i| i.result_id);
        assert!(results.eq(1..parsed.header.unwrap().bound));
        assert_eq!(renumbered(Format::Spirv, again.clone()).unwrap(), again);
    }

    /// That is what this form is for.
    #[test]
    fn what_did_not_change_is_stored_as_it_was() {
        let (few, many) = (module(0), module(9));
        let (few, many) = (
            store(Format::Spirv, &few).unwrap(),
            store(Format::Spirv, &many).unwrap(),
        );
        let same = few.iter().rev().zip(many.iter().rev());
        let same = same.take_while(|(a, b)| a == b).count();
        // All of the second function, which is about 65 bytes, and of the first one what comes behind the additions.
        assert!(same > 70, "{same} of {}", few.len());
        assert!(many.len() - few.len() < 9 * 30);
    }

    #[test]
    fn what_is_no_module_is_an_error() {
        assert!(store(Format::Spirv, b"words").is_err());
        assert_eq!(store(Format::Ptx, b"text").unwrap(), b"text");
    }
}
