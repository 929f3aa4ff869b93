//! SPIR-V without the numbers of its values.
//!
//! A stored module begins with [`MAGIC`], then the version, the generator and the schema of its header. Of each instruction there
//! is the opcode, how many words follow it, and these words. Every number is a [varint](put): seven bits to a byte, the lowest
//! first. A word is shifted by three bits, in which its [`Tag`] stands. Results are numbered from 1 on in the order of the module.
//!
//! | an operand that names | is stored as | so it stays the same |
//! |---|---|---|
//! | a value of the same function | how many results lie between | unless the instructions between change |
//! | a type, a constant, a variable of the module | the [`name`] that its own instruction gives it | unless that changes |
//! | a function | its place among the functions | unless functions come or go before it |
//!
//! Reading needs no grammar of SPIR-V, only the tags. Whoever writes needs one, to know which words name values.

use std::collections::HashMap;
use std::io;

/// The first bytes of a stored module.
pub const MAGIC: &[u8] = b"SPIR-V by distance 1\n";

/// The opcode of `OpFunction`. What is defined before the first one belongs to the module.
pub const OP_FUNCTION: u32 = 54;

/// The first word of a SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;

/// How many bits of a stored word are its tag.
const TAG_BITS: u32 = 3;

/// What a stored word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A word as it is.
    Literal = 0,
    /// The result of this instruction; its value is zero.
    Result = 1,
    /// A value that was defined so many results ago, at least one.
    Back = 2,
    /// A value that is defined so many results from here; zero is the next one.
    Ahead = 3,
    /// Something of the module, by its [`name`].
    Named = 4,
    /// Anything, by its number.
    Number = 5,
    /// A function, by its place among the functions.
    Function = 6,
}

impl Tag {
    const ALL: [Tag; 7] = [
        Tag::Literal,
        Tag::Result,
        Tag::Back,
        Tag::Ahead,
        Tag::Named,
        Tag::Number,
        Tag::Function,
    ];
}

/// Appends a number, seven bits to a byte, the lowest first.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7F {
        out.push(0x80 | (number & 0x7F) as u8);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a word with what it is.
pub fn put_word(out: &mut Vec<u8>, tag: Tag, word: u32) {
    put(out, u64::from(word) << TAG_BITS | tag as u64);
}

/// The name of what an instruction outside functions defines, from its stored bytes: 21 bits. The first of two with the
/// same name keeps it.
pub fn name(instruction: &[u8]) -> u32 {
    // FNV-1a, of which the bits in the middle are mixed best.
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    for &byte in instruction {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    (hash >> 20) as u32 & 0x001F_FFFF
}

/// The module that is stored as these bytes. Its results are numbered in their order.
///
/// # Errors
/// They are no stored module.
pub fn restore(stored: &[u8]) -> io::Result<Vec<u8>> {
    let Some(rest) = stored.strip_prefix(MAGIC) else {
        return Err(bad("it does not begin as one"));
    };
    let mut from = Bytes { rest };
    let (version, generator, schema) = (from.word()?, from.word()?, from.word()?);
    let mut module = Module {
        words: vec![SPIRV_MAGIC, version, generator, 0, schema],
        next: 1,
        named: HashMap::new(),
        functions: Vec::new(),
        calls: Vec::new(),
    };
    while !from.rest.is_empty() {
        module.instruction(&mut from)?;
    }
    module.finish()
}

/// The module as far as it is read.
struct Module {
    words: Vec<u32>,
    /// The number of the next result.
    next: u32,
    /// What belongs to the module, by its name.
    named: HashMap<u32, u32>,
    /// The functions' numbers.
    functions: Vec<u32>,
    /// Where a function is named, and which: it may come later.
    calls: Vec<(usize, u32)>,
}

impl Module {
    fn instruction(&mut self, from: &mut Bytes<'_>) -> io::Result<()> {
        let begin = from.rest;
        let (opcode, count) = (from.word()?, from.word()?);
        if opcode > 0xFFFF || count > 0xFFFE {
            return Err(bad("an instruction is too long"));
        }
        self.words.push((count + 1) << 16 | opcode);
        let here = self.next;
        for _ in 0..count {
            let (tag, value) = from.tagged()?;
            let word = match tag {
                Tag::Literal | Tag::Number => Some(value),
                Tag::Result if self.next == here => {
                    self.next = here.checked_add(1).ok_or_else(|| bad("too many results"))?;
                    Some(here)
                }
                Tag::Result => return Err(bad("an instruction has two results")),
                Tag::Back => here.checked_sub(value).filter(|&id| id > 0),
                Tag::Ahead => here.checked_add(value),
                Tag::Named => self.named.get(&value).copied(),
                Tag::Function => {
                    self.calls.push((self.words.len(), value));
                    Some(0)
                }
            };
            self.words
                .push(word.ok_or_else(|| bad("it names what there is not"))?);
        }
        if self.next > here && opcode == OP_FUNCTION {
            self.functions.push(here);
        } else if self.next > here && self.functions.is_empty() {
            let bytes = &begin[..begin.len() - from.rest.len()];
            self.named.entry(name(bytes)).or_insert(here);
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<Vec<u8>> {
        for (at, function) in self.calls {
            let id = self.functions.get(function as usize);
            self.words[at] = *id.ok_or_else(|| bad("it names a function that there is not"))?;
        }
        self.words[3] = self.next;
        Ok(self.words.into_iter().flat_map(u32::to_le_bytes).collect())
    }
}

/// What is still to be read.
struct Bytes<'a> {
    rest: &'a [u8],
}

impl Bytes<'_> {
    fn number(&mut self) -> io::Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let Some((&byte, rest)) = self.rest.split_first() else {
                return Err(bad("it is cut off"));
            };
            self.rest = rest;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
            shift += 7;
            if shift > 56 {
                return Err(bad("a number is too long"));
            }
        }
    }

    fn word(&mut self) -> io::Result<u32> {
        u32::try_from(self.number()?).map_err(|_| bad("a number is too large"))
    }

    fn tagged(&mut self) -> io::Result<(Tag, u32)> {
        let number = self.number()?;
        let tag = Tag::ALL.get((number & ((1 << TAG_BITS) - 1)) as usize);
        let word = u32::try_from(number >> TAG_BITS);
        match (tag, word) {
            (Some(&tag), Ok(word)) => Ok((tag, word)),
            _ => Err(bad("a word is not one")),
        }
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("no stored SPIR-V module: {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `OpCapability 1`; `OpTypeVoid`; `OpFunction` of that type; a label; a branch to it; `OpFunctionEnd`.
    fn stored() -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for number in [0x1_0500, 0, 0] {
            put(&mut out, number);
        }
        let void = {
            let mut out = Vec::new();
            put(&mut out, 19);
            put(&mut out, 1);
            put_word(&mut out, Tag::Result, 0);
            name(&out)
        };
        let mut add = |opcode, words: &[(Tag, u32)]| {
            put(&mut out, opcode);
            put(&mut out, words.len() as u64);
            for &(tag, word) in words {
                put_word(&mut out, tag, word);
            }
        };
        add(17, &[(Tag::Literal, 1)]);
        add(15, &[(Tag::Literal, 5), (Tag::Function, 0)]);
        add(19, &[(Tag::Result, 0)]);
        let function = [
            (Tag::Named, void),
            (Tag::Result, 0),
            (Tag::Literal, 0),
            (Tag::Number, 1),
        ];
        add(OP_FUNCTION.into(), &function);
        add(248, &[(Tag::Result, 0)]);
        add(249, &[(Tag::Back, 1)]);
        add(56, &[]);
        out
    }

    #[test]
    fn distances_and_names_become_numbers_again() {
        let module = restore(&stored()).unwrap();
        let words: Vec<u32> = module
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let head = [SPIRV_MAGIC, 0x1_0500, 0, 4, 0];
        let body = [
            2 << 16 | 17,
            1, //
            3 << 16 | 15,
            5,
            2, //
            2 << 16 | 19,
            1, //
            5 << 16 | 54,
            1,
            2,
            0,
            1, //
            2 << 16 | 248,
            3, //
            2 << 16 | 249,
            3, //
            1 << 16 | 56,
        ];
        assert_eq!(words, [&head[..], &body].concat());
    }

    #[test]
    fn what_is_cut_off_or_changed_is_an_error_or_another_module_but_no_panic() {
        let whole = stored();
        let right = restore(&whole).unwrap();
        for end in 0..whole.len() {
            assert!(restore(&whole[..end]).is_err() || restore(&whole[..end]).unwrap() != right);
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut other = whole.clone();
                other[at] ^= 1 << bit;
                // Whatever it is now, it has to be read to its end.
                let _ = restore(&other);
            }
        }
        assert!(restore(b"").is_err() && restore(b"\x03\x02\x23\x07").is_err());
    }
}
