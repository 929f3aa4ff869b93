//! The family of queues that everything runs on.

use ash::vk;

/// A family of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) index: u32,
    pub(crate) queues: u32,
    pub(crate) timestamp_bits: u32,
    /// Its queues draw, too.
    draws: bool,
}

/// The queue family that everything runs on.
pub(crate) fn pick_queue(instance: &ash::Instance, device: vk::PhysicalDevice) -> Option<Family> {
    // SAFETY: the instance is alive, and the device is one of its own.
    let families = unsafe { instance.get_physical_device_queue_family_properties(device) };
    let usable = families.iter().enumerate().filter(|(_, family)| {
        family.queue_count > 0 && family.queue_flags.contains(vk::QueueFlags::COMPUTE)
    });
    best_queue(usable.map(|(index, family)| Family {
        index: index as u32,
        queues: family.queue_count,
        timestamp_bits: family.timestamp_valid_bits,
        draws: family.queue_flags.contains(vk::QueueFlags::GRAPHICS),
    }))
}

/// The first compute queue family with the most timestamp bits; among these rather one with several queues that do not draw. On NVIDIA's
/// GPUs queues that draw take turns, so that two streams take 2.2 times as long as one; those that do not work at the same time.
fn best_queue(mut families: impl Iterator<Item = Family>) -> Option<Family> {
    let rank = |family: &Family| (family.timestamp_bits, family.queues > 1 && !family.draws);
    let first = families.next()?;
    Some(families.fold(first, |best, next| {
        if rank(&next) > rank(&best) {
            next
        } else {
            best
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_that_do_not_draw_are_taken_if_there_are_several() {
        let family = |index, queues, timestamp_bits, draws| Family {
            index,
            queues,
            timestamp_bits,
            draws,
        };
        let best = |families: &[Family]| best_queue(families.iter().copied()).map(|f| f.index);
        // As an H100 has them.
        let both = [family(0, 16, 64, true), family(2, 8, 64, false)];
        assert_eq!(best(&both), Some(2));
        assert_eq!(best(&[both[0], family(1, 1, 64, false)]), Some(0));
        // Times come first.
        assert_eq!(best(&[both[0], family(1, 8, 32, false)]), Some(0));
        assert_eq!(best(&[both[0], both[0]]), Some(0));
        assert_eq!(best(&[]), None);
    }
}
