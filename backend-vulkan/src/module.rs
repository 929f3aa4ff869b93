//! What the backend needs to know of a SPIR-V module: its entries and what they bind.

use spirv::{Capability, Decoration, ExecutionMode, Op, StorageClass};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Words before the first instruction.
pub(crate) const HEADER_WORDS: usize = 5;

/// A parsed module.
pub(crate) struct Module {
    pub(crate) words: Vec<u32>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) capabilities: Vec<u32>,
}

/// A compute entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Id of its function.
    pub(crate) function: u32,
    /// Offset in words of the literal x of its `LocalSize`.
    pub(crate) local_size: Option<usize>,
    /// One more than the highest binding in descriptor set 0 that it declares.
    pub(crate) bindings: u32,
    /// It declares a resource in another descriptor set.
    pub(crate) other_sets: bool,
}

/// One instruction: where it is, its opcode, and its operands.
pub(crate) struct Instruction<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) op: u16,
    pub(crate) operands: &'a [u32],
}

impl Instruction<'_> {
    pub(crate) fn is(&self, op: Op) -> bool {
        self.op as u32 == op as u32
    }
}

/// The instructions of a module; ends early at one that reaches beyond the end.
pub(crate) fn instructions(words: &[u32]) -> impl Iterator<Item = Instruction<'_>> {
    let mut at = HEADER_WORDS;
    std::iter::from_fn(move || {
        let head = *words.get(at)?;
        let range = at..at + (head >> 16) as usize;
        let operands = words.get(range.clone())?.get(1..)?;
        at = range.end;
        Some(Instruction {
            range,
            op: head as u16,
            operands,
        })
    })
}

/// The instruction that names an extension.
pub(crate) fn extension(name: &str) -> Vec<u32> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let name = bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let length = bytes.len() as u32 / 4 + 1;
    std::iter::once(length << 16 | Op::Extension as u32)
        .chain(name)
        .collect()
}

impl Module {
    /// Reads a module from its bytes, little-endian words.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() % 4 != 0 || bytes.len() < HEADER_WORDS * 4 {
            return Err(format!("{} bytes are no SPIR-V module", bytes.len()));
        }
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        if words[0] != spirv::MAGIC_NUMBER {
            return Err(format!(
                "it begins with {:#x}, SPIR-V begins with {:#x}",
                words[0],
                spirv::MAGIC_NUMBER
            ));
        }
        let end = instructions(&words).last().map_or(0, |last| last.range.end);
        if end != words.len() {
            return Err(format!(
                "instructions end at word {end} of {}: the file is cut off or damaged",
                words.len()
            ));
        }
        let entries = entries(&words)?;
        check_functions(&words, &entries)?;
        let capabilities = instructions(&words)
            .filter(|instruction| instruction.is(Op::Capability))
            .filter_map(|instruction| instruction.operands.first().copied())
            .collect();
        Ok(Module {
            words,
            entries,
            capabilities,
        })
    }

    /// The entry point called `name`.
    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Why there is no entry called `name`, from the names that there are.
    pub(crate) fn why_missing(&self, name: &str) -> String {
        let stem = stem(name);
        let versions: Vec<&str> = self
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .filter(|other| self::stem(other) == stem)
            .collect();
        if !versions.is_empty() {
            return format!(
                "it has `{}`: it was built for another version of the layout that host and kernels \
                 share; build the device crate again",
                versions.join("`, `")
            );
        }
        // A kernel that is not built for this allocator has others of the same kernel.
        let kernel = stem.split("__").next().unwrap_or(stem);
        let related: Vec<&str> = self
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .filter(|other| self::stem(other).split("__").next() == Some(kernel))
            .collect();
        if !related.is_empty() {
            return format!(
                "the kernel has `{}`: add the allocator to the kernel's list, or build the device \
                 crate again",
                related.join("`, `")
            );
        }
        format!(
            "none of its {} entries is of this kernel: build the device crate again, unless it keeps the kernel from \
             Vulkan on purpose",
            self.entries.len()
        )
    }

    /// Names of capabilities that the module asks for and `has` denies.
    pub(crate) fn missing_capabilities(
        &self,
        has: impl Fn(Capability) -> Option<bool>,
    ) -> Vec<String> {
        let wanted = self.capabilities.iter();
        wanted
            .filter_map(|&number| Capability::from_u32(number))
            .filter(|&capability| has(capability) == Some(false))
            .map(|capability| format!("{capability:?}"))
            .collect()
    }
}

/// The name of an entry without its layout version.
fn stem(name: &str) -> &str {
    match name.rsplit_once("_l") {
        Some((stem, version))
            if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) =>
        {
            stem
        }
        _ => name,
    }
}

fn entries(words: &[u32]) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    let mut interfaces: Vec<Vec<u32>> = Vec::new();
    let mut sizes: HashMap<u32, usize> = HashMap::new();
    let mut bindings: HashMap<u32, u32> = HashMap::new();
    let mut sets: HashMap<u32, u32> = HashMap::new();
    let mut buffers: HashSet<u32> = HashSet::new();
    for instruction in instructions(words) {
        let operands = instruction.operands;
        if instruction.is(Op::EntryPoint) {
            let [_, function, rest @ ..] = operands else {
                return Err("an entry point is cut off".to_string());
            };
            let (name, used) = literal(rest).ok_or("an entry point has no name")?;
            interfaces.push(rest[used..].to_vec());
            entries.push(Entry {
                name,
                function: *function,
                local_size: None,
                bindings: 0,
                other_sets: false,
            });
        } else if instruction.is(Op::ExecutionMode) {
            if let [function, mode, _, _, _] = *operands
                && mode == ExecutionMode::LocalSize as u32
            {
                sizes.insert(function, instruction.range.start + 3);
            }
        } else if instruction.is(Op::Decorate) {
            match *operands {
                [id, kind, number] if kind == Decoration::Binding as u32 => {
                    bindings.insert(id, number);
                }
                [id, kind, number] if kind == Decoration::DescriptorSet as u32 => {
                    sets.insert(id, number);
                }
                [_, kind, built_in]
                    if kind == Decoration::BuiltIn as u32
                        && built_in == spirv::BuiltIn::WorkgroupSize as u32 =>
                {
                    return Err(
                        "it fixes the block size by a WorkgroupSize constant, which a \
                                launch could not change"
                            .to_string(),
                    );
                }
                _ => {}
            }
        } else if instruction.is(Op::Variable) {
            if let [_, id, class, ..] = *operands
                && class == StorageClass::StorageBuffer as u32
            {
                buffers.insert(id);
            }
        } else if instruction.is(Op::Function) {
            break;
        }
    }
    for (entry, interface) in entries.iter_mut().zip(&interfaces) {
        entry.local_size = sizes.get(&entry.function).copied();
        for id in interface.iter().filter(|id| buffers.contains(id)) {
            let binding = bindings.get(id).copied().unwrap_or(0);
            entry.bindings = entry.bindings.max(binding.saturating_add(1));
            entry.other_sets |= sets.get(id).copied().unwrap_or(0) != 0;
        }
    }
    Ok(entries)
}

/// Finds a module that was cut off between two instructions: drivers crash on those.
///
/// # Errors
/// A function does not end, or one that is entered or called is missing.
fn check_functions(words: &[u32], entries: &[Entry]) -> Result<(), String> {
    let mut defined: HashSet<u32> = HashSet::new();
    let mut wanted: Vec<u32> = entries.iter().map(|entry| entry.function).collect();
    let mut inside = false;
    for instruction in instructions(words) {
        if instruction.is(Op::Function) {
            defined.extend(instruction.operands.get(1));
            inside = true;
        } else if instruction.is(Op::FunctionEnd) {
            inside = false;
        } else if instruction.is(Op::FunctionCall) {
            wanted.extend(instruction.operands.get(2));
        }
    }
    if inside {
        return Err("its last function does not end: the file is cut off or damaged".to_string());
    }
    match wanted.iter().find(|function| !defined.contains(*function)) {
        Some(function) => Err(format!(
            "function %{function} is missing: the file is cut off or damaged"
        )),
        None => Ok(()),
    }
}

/// A literal string at the beginning of `words`, and the number of words it takes.
fn literal(words: &[u32]) -> Option<(String, usize)> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    Some((text, end / 4 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems() {
        assert_eq!(stem("double_l1"), "double");
        assert_eq!(stem("push__Bump_l12"), "push__Bump");
        assert_eq!(stem("scatter_lanes"), "scatter_lanes");
        assert_eq!(stem("x_l"), "x_l");
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let parse = |bytes: &[u8]| Module::parse(bytes).err().unwrap();
        assert!(parse(&[1, 2, 3]).contains("3 bytes"));
        assert!(parse(&[0; 20]).contains("begins with 0x0"));
        let mut cut: Vec<u8> = spirv::MAGIC_NUMBER.to_le_bytes().to_vec();
        cut.resize(20, 0);
        cut.extend(0x0005_0011u32.to_le_bytes());
        assert!(parse(&cut).contains("cut off"));
    }
    #[test]
    fn modules_that_are_cut_off_anywhere_are_refused() {
        let packed = warpheap_kernels::IMAGES.packed[0].2.unwrap();
        let whole = warpheap_api::host::unpack(packed).unwrap();
        let words = Module::parse(&whole).unwrap().words;
        let ends: Vec<usize> = instructions(&words)
            .filter(|instruction| !instruction.is(Op::EntryPoint))
            .enumerate()
            // All of them would take long; the ends of functions are the ones that matter.
            .filter(|(i, instruction)| i % 101 == 0 || instruction.is(Op::FunctionEnd))
            .map(|(_, instruction)| instruction.range.end)
            .filter(|&end| end < words.len())
            .collect();
        let entries_end = instructions(&words)
            .filter(|instruction| instruction.is(Op::EntryPoint))
            .last()
            .unwrap()
            .range
            .end;
        for end in ends.into_iter().filter(|&end| end > entries_end) {
            let message = Module::parse(&whole[..4 * end]).err();
            assert!(message.is_some(), "cut off after word {end}");
            let message = Module::parse(&whole[..4 * end + 2]).err();
            assert!(message.is_some(), "cut off inside word {end}");
        }
    }
}
