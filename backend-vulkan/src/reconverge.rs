//! Whether lanes of a subgroup that parted at a branch are together again behind it.
//!
//! Vulkan alone does not say so. A group of lanes (`warpheap_rt::sync::Group`) counts on it: its leader goes a way
//! of its own, and then all of them vote and shuffle. So a module runs in one of these ways:
//!
//! | device | lanes meet again because |
//! |---|---|
//! | has `VK_KHR_shader_maximal_reconvergence` | every entry asks for it (`MaximallyReconvergesKHR`) |
//! | is SwiftShader | it executes no lane by itself. The code of a block stands once, runs for all lanes of a subgroup at a time, and has a mask of those that count. The mask of a block behind a branch is the union of the masks of all edges that lead to it, and the code behind a loop runs when no lane is in the loop any more, with the union of those that left it: which is what maximal reconvergence asks for. What values lanes took along is [another matter](crate::leaving) |
//! | any other | they need not: each lane is a group of its own, by a specialization constant |
//!
//! What the extension does not give, device code does without: instructions in a block that only leaves a loop run as if
//! lanes were still apart by their rounds, and an optimiser that knows nothing of the extension may move them behind the
//! loop. So no group does anything together between the decision to leave a loop and its end.

use crate::leaving::keep_for_each_lane;
use crate::module::{HEADER_WORDS, extension, instructions};
use spirv::Op;

/// The extension as modules name it.
const EXTENSION: &str = "SPV_KHR_maximal_reconvergence";

/// The execution mode `MaximallyReconvergesKHR`, which the crate `spirv` has no name for yet.
const MAXIMALLY_RECONVERGES: u32 = 6023;

/// Number of the specialization constant that is zero where each lane is a group of its own.
pub(crate) const COMPANY: u32 = 0;

/// How a device keeps lanes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reconvergence {
    /// Entries ask for maximal reconvergence.
    Asked,
    /// The driver is made so.
    ByConstruction,
    /// Not known to: each lane is a group of its own.
    Unknown,
}

impl Reconvergence {
    /// What a user should know of it.
    pub(crate) fn remark(self) -> Option<String> {
        (self == Reconvergence::Unknown).then(|| {
            "without VK_KHR_shader_maximal_reconvergence each lane allocates by itself, which is slower: update the driver"
                .to_string()
        })
    }

    /// The module of one entry, as it is to be compiled on such a device.
    ///
    /// # Errors
    /// What is not understood of it.
    pub(crate) fn of(self, words: Vec<u32>) -> Result<Vec<u32>, String> {
        match self {
            Reconvergence::Asked => Ok(asking(words)),
            Reconvergence::ByConstruction => keep_for_each_lane(words),
            Reconvergence::Unknown => Ok(words),
        }
    }
}

/// The module, whose entry asks for maximal reconvergence.
fn asking(words: Vec<u32>) -> Vec<u32> {
    let mut out = words[..HEADER_WORDS.min(words.len())].to_vec();
    let mut before = None;
    let mut entry = 0;
    for instruction in instructions(&words) {
        // Capabilities come first, then extensions; entries come directly before execution modes.
        match before {
            Some(Op::Capability) if !instruction.is(Op::Capability) => {
                out.extend(extension(EXTENSION))
            }
            Some(Op::EntryPoint) if !instruction.is(Op::EntryPoint) => {
                out.extend(maximally_reconverges(entry));
            }
            _ => {}
        }
        before = None;
        if instruction.is(Op::Capability) {
            before = Some(Op::Capability);
        } else if instruction.is(Op::EntryPoint) {
            before = Some(Op::EntryPoint);
            entry = instruction.operands[1];
        }
        out.extend_from_slice(&words[instruction.range.clone()]);
    }
    out
}

/// The instruction that asks for it.
fn maximally_reconverges(entry: u32) -> [u32; 3] {
    [
        3 << 16 | Op::ExecutionMode as u32,
        entry,
        MAXIMALLY_RECONVERGES,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isolate::isolate;
    use crate::module::Module;

    fn modes(words: &[u32]) -> (usize, usize) {
        let extensions = instructions(words).filter(|i| i.is(Op::Extension));
        let named = extensions.filter(|i| {
            let bytes: Vec<u8> = i
                .operands
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            bytes.starts_with(EXTENSION.as_bytes())
        });
        let modes = instructions(words)
            .filter(|i| i.is(Op::ExecutionMode) && i.operands[1] == MAXIMALLY_RECONVERGES);
        (named.count(), modes.count())
    }

    #[test]
    fn modules_ask_for_it_where_it_is_and_say_nothing_elsewhere() {
        let packed = warpheap_kernels::IMAGES.packed[0].2.unwrap();
        let module = Module::parse(&warpheap_api::host::unpack(packed).unwrap()).unwrap();
        for entry in module.entries.iter().take(3) {
            let words = isolate(&module, entry, 64).unwrap();
            assert_eq!(modes(&words), (0, 0), "{}", entry.name);
            let asked = Reconvergence::Asked.of(words.clone()).unwrap();
            assert_eq!(modes(&asked), (1, 1));
            // Still a module, with the same entry.
            let bytes: Vec<u8> = asked.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(Module::parse(&bytes).unwrap().entries.len(), 1);
            let other = Reconvergence::Unknown.of(words.clone());
            assert_eq!(other.unwrap(), words);
        }
    }

    #[test]
    fn only_devices_where_lanes_are_alone_get_a_remark() {
        assert!(
            Reconvergence::Unknown
                .remark()
                .unwrap()
                .contains("maximal_reconvergence")
        );
        assert_eq!(Reconvergence::Asked.remark(), None);
        assert_eq!(Reconvergence::ByConstruction.remark(), None);
    }
}
