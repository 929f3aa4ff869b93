//! Filters: of a key, either "is not in the group", or "perhaps". Three words for the keys of a full group that go the same way
//! below it, about eight: one answer in 250 is "perhaps" without need.

use crate::sync;
use warpheap_api::HeapMemory;

/// The bits of a key, two in each word of a filter.
#[derive(Clone, Copy)]
pub struct Bits {
    a: u32,
    b: u32,
    c: u32,
}

impl Bits {
    /// Those of a key with this hash.
    #[inline(always)]
    pub fn of(hash: u32) -> Self {
        // Keys that come to the same filter have bits of the hash in common.
        let mixed = sync::hash(hash);
        Bits {
            a: two_bits(mixed),
            b: two_bits(mixed >> 10),
            c: two_bits(mixed >> 20),
        }
    }

    /// Whether all of them are in the filter of this header.
    #[inline(always)]
    pub fn are_in(self, header: [u32; 4]) -> bool {
        let missing = (self.a & !header[1]) | (self.b & !header[2]) | (self.c & !header[3]);
        missing == 0
    }

    /// Puts them into the filter of the header at this word, which is this lane's.
    #[inline(always)]
    pub fn put<M: HeapMemory>(self, memory: M, header: usize) {
        memory.write(header + 1, memory.read(header + 1) | self.a);
        memory.write(header + 2, memory.read(header + 2) | self.b);
        memory.write(header + 3, memory.read(header + 3) | self.c);
    }
}

/// Takes all keys out of the filter of the header at this word.
#[inline(always)]
pub fn clear<M: HeapMemory>(memory: M, header: usize) {
    memory.write(header + 1, 0);
    memory.write(header + 2, 0);
    memory.write(header + 3, 0);
}

/// Two bits, or one. Added and not or-ed: NVIDIA's compiler would keep them apart, in a register each.
#[inline(always)]
fn two_bits(numbers: u32) -> u32 {
    let one = 1u32 << (numbers & 31);
    one.wrapping_add(1 << ((numbers >> 5) & 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keys_seem_to_be_there() {
        let mut wrong = 0;
        for round in 0..200u32 {
            // Keys of one group differ in some bits alone.
            let hash = |i: u32| (round << 10) | (i << 20) | (i & 7);
            let mut header = [0; 4];
            for i in 0..8 {
                let bits = Bits::of(hash(i));
                header[1] |= bits.a;
                header[2] |= bits.b;
                header[3] |= bits.c;
            }
            assert!((0..8).all(|i| Bits::of(hash(i)).are_in(header)));
            wrong += (8..508)
                .filter(|&i| Bits::of(hash(i)).are_in(header))
                .count();
        }
        assert!((100..800).contains(&wrong), "{wrong} of 100,000");
    }
}
