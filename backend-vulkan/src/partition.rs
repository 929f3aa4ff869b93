//! Which lanes have the same value, by an instruction, on devices that have it (`VK_NV_shader_subgroup_partitioned`).
//!
//! Device code asks whether all lanes have the same value, and takes a ballot of the answer (`alike` in `device-rt/src/arch/spirv/subgroup.rs`): all
//! lanes, or none, and then it goes through the values one by one. With the extension the ballot becomes an instruction that tells each lane
//! which ones have its value. So there is always one, and nothing to go through.

use crate::module::{HEADER_WORDS, extension, instructions};
use spirv::{Capability, Op};
use std::collections::HashMap;

/// The extension as modules name it.
const EXTENSION: &str = "SPV_NV_shader_subgroup_partitioned";

/// A module in which ballots of votes about equal values are that instruction.
pub(crate) fn partitioned(words: Vec<u32>) -> Vec<u32> {
    let mut values: HashMap<u32, u32> = HashMap::new();
    let mut out = words[..HEADER_WORDS.min(words.len())].to_vec();
    let mut after_capabilities = None;
    let mut found = false;
    for instruction in instructions(&words) {
        if after_capabilities.is_none() && !instruction.is(Op::Capability) {
            after_capabilities = Some(out.len());
        }
        match *instruction.operands {
            [_, result, _, value] if instruction.is(Op::GroupNonUniformAllEqual) => {
                values.insert(result, value);
            }
            [kind, result, _, vote] if instruction.is(Op::GroupNonUniformBallot) => {
                if let Some(&value) = values.get(&vote) {
                    out.extend([
                        4 << 16 | Op::GroupNonUniformPartitionNV as u32,
                        kind,
                        result,
                        value,
                    ]);
                    found = true;
                    continue;
                }
            }
            _ => {}
        }
        out.extend_from_slice(&words[instruction.range]);
    }
    let Some(at) = after_capabilities.filter(|_| found) else {
        return words;
    };
    let capability = [
        2 << 16 | Op::Capability as u32,
        Capability::GroupNonUniformPartitionedNV as u32,
    ];
    out.splice(at..at, capability.into_iter().chain(extension(EXTENSION)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isolate::isolate;
    use crate::module::Module;

    fn count(words: &[u32], op: Op) -> usize {
        instructions(words).filter(|i| i.is(op)).count()
    }

    #[test]
    fn the_instruction_comes_where_lanes_ask_for_equal_values_and_nowhere_else() {
        let packed = warpheap_kernels::IMAGES.packed[0].2.unwrap();
        let module = Module::parse(&warpheap_api::host::unpack(packed).unwrap()).unwrap();
        let of = |name: &str| {
            let named = |entry: &&crate::module::Entry| entry.name.starts_with(name);
            let entry = module.entries.iter().find(named).unwrap();
            isolate(&module, entry, 64).unwrap()
        };
        // `match_any` stands in it once.
        let words = of("selftest_divergence");
        let changed = partitioned(words.clone());
        assert_eq!(count(&words, Op::GroupNonUniformPartitionNV), 0);
        assert_eq!(count(&changed, Op::GroupNonUniformPartitionNV), 1);
        let ballots = |words: &[u32]| count(words, Op::GroupNonUniformBallot);
        assert_eq!(ballots(&changed), ballots(&words) - 1);
        let bytes: Vec<u8> = changed.iter().flat_map(|word| word.to_le_bytes()).collect();
        let again = Module::parse(&bytes).unwrap();
        let capability = Capability::GroupNonUniformPartitionedNV as u32;
        assert_eq!(again.capabilities.last(), Some(&capability));
        assert_eq!(
            count(&changed, Op::Extension),
            count(&words, Op::Extension) + 1
        );
        let none = of("selftest_index");
        assert_eq!(partitioned(none.clone()), none);
    }
}
