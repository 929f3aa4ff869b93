//! How many matches there can be, without joining.

use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig};
use warpheap_applications::Kernels;
use warpheap_applications::join::Tuple;

/// Most counters, as a power of two.
const MOST_COUNTER_BITS: u32 = 26;
/// Lanes that add up: enough for every device.
const LANES: usize = 1 << 16;

/// The most matches that there can be: those of keys that share a counter.
///
/// # Errors
/// Errors of the device.
pub fn matches(
    device: &Device,
    kernels: &Kernels,
    left: &DeviceVec<Tuple>,
    right: &DeviceVec<Tuple>,
) -> Result<u64, DeviceError> {
    let bits = (left.len().max(1).ilog2() + 2).min(MOST_COUNTER_BITS);
    let shift = 32 - bits;
    let counts = DeviceVec::<u32>::zeroed(device, 1 << bits)?;
    let lanes = LaunchConfig::for_num_elems(left.len() as u32);
    kernels.join_histogram(lanes, left, &counts, shift)?;
    let sums = DeviceVec::<u32>::zeroed(device, right.len().clamp(1, LANES))?;
    let lanes = LaunchConfig::for_num_elems(sums.len() as u32);
    kernels.join_partners(lanes, right, &counts, &sums, shift)?;
    Ok(sums.to_vec()?.into_iter().map(u64::from).sum())
}

#[cfg(test)]
mod tests {
    use super::super::reference::Sorted;
    use super::super::tables::{Generator, Tables};
    use super::*;

    fn most(tables: &Tables) -> u64 {
        let device = crate::device::open(Some("host"), None).unwrap();
        let kernels = warpheap_applications::load(&device).unwrap();
        let upload = |rows: &[Tuple]| DeviceVec::from_slice(&device, rows).unwrap();
        let (left, right) = (upload(&tables.left), upload(&tables.right));
        matches(&device, &kernels, &left, &right).unwrap()
    }

    #[test]
    fn there_are_no_more_matches_than_most_and_a_few_less() {
        for (matches, skew) in [(1, 0), (4, 0), (1, 30)] {
            let generator = Generator {
                left: 30_000,
                right: 50_000,
                matches,
                skew,
                seed: 7,
            };
            let tables = generator.tables();
            let (most, real) = (most(&tables), Sorted::new(&tables).count());
            assert!(most >= real && most < real * 2, "{most} for {real}");
        }
        let none = Tables {
            left: Vec::new(),
            right: Vec::new(),
        };
        assert_eq!(most(&none), 0);
    }

    #[test]
    fn a_sum_that_no_word_holds_is_the_largest_word() {
        let device = crate::device::open(Some("host"), None).unwrap();
        let kernels = warpheap_applications::load(&device).unwrap();
        let right = DeviceVec::from_slice(&device, &[Tuple::default(); 5]).unwrap();
        let counts = DeviceVec::from_slice(&device, &[1 << 31, 0]).unwrap();
        let sums = DeviceVec::<u32>::zeroed(&device, 3).unwrap();
        let lanes = LaunchConfig::for_num_elems(3);
        kernels
            .join_partners(lanes, &right, &counts, &sums, 31)
            .unwrap();
        assert_eq!(sums.to_vec().unwrap(), [u32::MAX, u32::MAX, 1 << 31]);
    }
}
