//! Which size a request has: a function of its number, the same on host and device.

use warpheap_rt::api::select;
use warpheap_rt::device::HeapData;
use warpheap_rt::sync::hash;

/// A distribution of sizes, from which a hash of the request's number chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Mix {
    /// The smallest size, in bytes.
    pub least: u32,
    /// How many sizes there are.
    pub kinds: u32,
    /// From one size to the next, in bytes; 0: each is twice the one before.
    pub step: u32,
}

impl Mix {
    /// One size.
    pub const fn one(size: u32) -> Self {
        Mix {
            least: size,
            kinds: 1,
            step: 4,
        }
    }

    /// Powers of two from `least` to `most`, which are powers of two.
    pub const fn powers(least: u32, most: u32) -> Self {
        Mix {
            least,
            kinds: (most / least).ilog2() + 1,
            step: 0,
        }
    }

    /// Multiples of 4 from `least` to `most`, which are such.
    pub const fn uniform(least: u32, most: u32) -> Self {
        Mix {
            least,
            kinds: (most - least) / 4 + 1,
            step: 4,
        }
    }

    /// The size of request `number`.
    #[inline(always)]
    pub fn size(self, number: u32) -> u32 {
        let kind = hash(number) % self.kinds;
        let doubled = self.least << (kind & 31);
        let stepped = self.least.wrapping_add(kind.wrapping_mul(self.step));
        select(self.step == 0, doubled, stepped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_mix_and_every_one_occurs() {
        let sizes = |mix: Mix| {
            let mut sizes: Vec<_> = (0..100_000).map(|number| mix.size(number)).collect();
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        };
        assert_eq!(sizes(Mix::one(24)), [24]);
        assert_eq!(sizes(Mix::powers(16, 512)), [16, 32, 64, 128, 256, 512]);
        let uniform = sizes(Mix::uniform(4, 8192));
        assert_eq!(uniform, (1..=2048).map(|k| k * 4).collect::<Vec<_>>());
    }
}
