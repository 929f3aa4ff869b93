//! [`FixedSlots`] on the host.

use super::{BITS_WORD, FixedSlots, MOST_BYTES, PARAM_DATA, PARAM_SHIFT, PARAM_SLOTS};
use std::vec;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{DeviceError, Fill, HeapPlan, HeapReader, HostAlloc, PlanError, Usage};
use warpheap_api::{DeviceAlloc, HeapParams};

/// Settings of [`FixedSlots`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedSlotsConfig {
    /// Bytes of a slot: a power of two from 16 to 4096, the default.
    pub slot_bytes: u32,
}

impl Default for FixedSlotsConfig {
    fn default() -> Self {
        FixedSlotsConfig {
            slot_bytes: MOST_BYTES,
        }
    }
}

impl HostAlloc for FixedSlots {
    const KIND: u32 = kind_of(Self::NAME);
    const LEAST_BLOCK: u64 = MOST_BYTES as u64;
    type Config = FixedSlotsConfig;

    fn config_for(bytes: u32) -> FixedSlotsConfig {
        FixedSlotsConfig {
            slot_bytes: bytes.clamp(16, MOST_BYTES).next_power_of_two(),
        }
    }

    fn largest_block(config: &FixedSlotsConfig) -> u64 {
        config.slot_bytes.into()
    }

    fn plan(bytes: u64, config: &FixedSlotsConfig) -> Result<HeapPlan, PlanError> {
        let slot = config.slot_bytes as u64;
        if !slot.is_power_of_two() || !(16..=MOST_BYTES as u64).contains(&slot) {
            return Err(PlanError::BadSetting {
                allocator: Self::NAME,
                setting: "slot_bytes",
                value: slot,
                why: "give a power of two from 16 to 4096",
            });
        }
        // Words of bits for all slots that the heap could have if it had nothing else, and where slots begin behind these.
        let words = (bytes / slot).div_ceil(32).max(1);
        let data = ((BITS_WORD as u64 + words) * 4).next_multiple_of(slot);
        if bytes < data + slot {
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: data + slot,
            });
        }
        let slots = (bytes - data) / slot;
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_DATA] = (data / 16) as u32;
        params[PARAM_SLOTS] = slots as u32;
        params[PARAM_SHIFT] = (slot / 16).ilog2();
        let fill = |first: u64, words, value| Fill {
            word: BITS_WORD as u64 + first,
            words,
            value,
        };
        let mut fills = vec![fill(0, slots.div_ceil(32), 0)];
        if slots % 32 != 0 {
            // The bits of the last word that stand for no slot are taken for ever.
            fills.push(fill(slots / 32, 1, u32::MAX << (slots % 32)));
        }
        Ok(HeapPlan {
            params,
            fills,
            metadata_bytes: bytes - slots * slot,
        })
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        let slots = params[PARAM_SLOTS] as u64;
        let words = slots.div_ceil(32);
        let (mut first, mut taken) = (0, 0);
        while first < words {
            let mut part = [0; 1024];
            let part = &mut part[..(words - first).min(1024) as usize];
            heap.read(BITS_WORD as u64 + first, part)?;
            taken += part
                .iter()
                .map(|word| word.count_ones() as u64)
                .sum::<u64>();
            first += part.len() as u64;
        }
        // Kernels may run meanwhile: there is never more than all slots.
        let used = taken.saturating_sub(words * 32 - slots).min(slots);
        let bytes = used * (16 << params[PARAM_SHIFT]);
        Ok(Usage {
            used_bytes: bytes,
            committed_bytes: bytes,
            ..Usage::default()
        })
    }
}
