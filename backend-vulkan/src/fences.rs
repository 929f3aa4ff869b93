//! Leaving fences out of a module, for tests that have to see what happens then.

use crate::config::VulkanConfig;
use crate::module::{HEADER_WORDS, instructions};
use spirv::{MemorySemantics, Op};
use std::collections::HashMap;

/// Which memory barriers a module loses. Control barriers stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    release: bool,
    acquire: bool,
}

impl LeftOut {
    pub(crate) fn of(config: &VulkanConfig) -> Self {
        LeftOut {
            release: config.without_release,
            acquire: config.without_acquire,
        }
    }

    /// The module without them.
    pub(crate) fn from(self, words: Vec<u32>) -> Vec<u32> {
        if !self.release && !self.acquire {
            return words;
        }
        let constants: HashMap<u32, u32> = instructions(&words)
            .filter(|instruction| instruction.is(Op::Constant))
            .filter_map(|instruction| match instruction.operands {
                [_, id, value] => Some((*id, *value)),
                _ => None,
            })
            .collect();
        let leaves = |semantics: u32| {
            let has = |bit: MemorySemantics| semantics & bit.bits() != 0;
            self.release && has(MemorySemantics::RELEASE)
                || self.acquire && has(MemorySemantics::ACQUIRE)
        };
        let mut out = words[..HEADER_WORDS.min(words.len())].to_vec();
        for instruction in instructions(&words) {
            let semantics = instruction.operands.get(1).and_then(|id| constants.get(id));
            if !instruction.is(Op::MemoryBarrier) || !semantics.is_some_and(|&s| leaves(s)) {
                out.extend_from_slice(&words[instruction.range]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Module;

    #[test]
    fn a_module_loses_the_fences_that_it_is_to_lose() {
        let packed = warpheap_kernels::IMAGES.packed[0].2.unwrap();
        let module = Module::parse(&warpheap_api::host::unpack(packed).unwrap()).unwrap();
        let fences = |release, acquire| {
            let words = LeftOut { release, acquire }.from(module.words.clone());
            let barriers = instructions(&words).filter(|i| i.is(Op::MemoryBarrier));
            barriers.count()
        };
        let (all, none) = (fences(false, false), fences(true, true));
        let (acquires, releases) = (fences(true, false), fences(false, true));
        assert!(acquires > 0 && releases > 0, "{acquires} and {releases}");
        assert_eq!(acquires + releases, all);
        assert_eq!(none, 0);
    }
}
