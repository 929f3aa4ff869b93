//! Keys and values beside each other, from the words of all keys and those of all values.

use std::mem::{MaybeUninit, offset_of};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use warpheap_rt::device::HeapData;

/// Pairs that a thread copies at a time.
const PIECE: usize = 1 << 16;
/// More threads than this wait for memory.
const MOST: usize = 16;

/// A key and a value as memory, which any thread may write, whatever the types are.
struct Layout {
    /// Bytes of a pair, and where in it key and value are.
    pair: usize,
    key: usize,
    value: usize,
    /// Words of a key and of a value.
    words: [usize; 2],
}

impl Layout {
    const fn of<K: HeapData + Copy, V: HeapData + Copy>() -> Self {
        assert!(K::WORDS > 0 && size_of::<K>() == K::WORDS as usize * 4);
        assert!(V::WORDS > 0 && size_of::<V>() == V::WORDS as usize * 4);
        Layout {
            pair: size_of::<(K, V)>(),
            key: offset_of!((K, V), 0),
            value: offset_of!((K, V), 1),
            words: [K::WORDS as usize, V::WORDS as usize],
        }
    }
}

/// The pairs of keys and values whose words these are, in their order. Several threads copy where there are many.
pub(super) fn pairs_of<K: HeapData + Copy, V: HeapData + Copy>(
    keys: &[u32],
    values: &[u32],
) -> Vec<(K, V)> {
    // A constant, so that a pair is copied by as many moves as it takes.
    let layout = const { &Layout::of::<K, V>() };
    let [key_words, value_words] = layout.words;
    let count = (keys.len() / key_words).min(values.len() / value_words);
    let mut pairs = Vec::<(K, V)>::with_capacity(count);
    // SAFETY: room for so many pairs, as bytes.
    let room = unsafe {
        std::slice::from_raw_parts_mut(
            pairs.as_mut_ptr().cast::<MaybeUninit<u8>>(),
            count * layout.pair,
        )
    };
    let copy = |room: &mut [MaybeUninit<u8>], keys: &[u32], values: &[u32]| {
        let words = keys
            .chunks_exact(key_words)
            .zip(values.chunks_exact(value_words));
        for (pair, (key, value)) in room.chunks_exact_mut(layout.pair).zip(words) {
            let pair = pair.as_mut_ptr().cast::<u8>();
            // SAFETY: a pair has room for both there, and words are bytes.
            unsafe {
                pair.add(layout.key)
                    .copy_from_nonoverlapping(key.as_ptr().cast(), size_of::<K>());
                pair.add(layout.value)
                    .copy_from_nonoverlapping(value.as_ptr().cast(), size_of::<V>());
            }
        }
    };
    let words = keys
        .chunks(PIECE * key_words)
        .zip(values.chunks(PIECE * value_words));
    let waiting = Mutex::new(room.chunks_mut(PIECE * layout.pair).zip(words));
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.next()
    };
    let work = || {
        while let Some((room, (keys, values))) = next() {
            copy(room, keys, values);
        }
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let others = (count / PIECE).min(processors.min(MOST) - 1);
    thread::scope(|scope| {
        // Where the system gives no thread, this one does all.
        let start = |_| Builder::new().spawn_scoped(scope, work).ok();
        let _others: Vec<_> = (0..others).map_while(start).collect();
        work();
    });
    // SAFETY: of so many pairs keys and values are written, and valid whatever their words are.
    unsafe { pairs.set_len(count) };
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_those_of_keys_and_values_however_many_threads_copy() {
        for count in [0, 1, 5, PIECE - 1, 3 * PIECE + 7] {
            let words = |of_each: usize, add: u32| -> Vec<u32> {
                let numbers = 0..(count * of_each) as u32;
                numbers.map(|number| number * 3 + add).collect()
            };
            let (one, two, three) = (words(1, 1), words(2, 2), words(3, 3));
            let pair = |i: usize| [two[2 * i], two[2 * i + 1]];
            let triple = |i: usize| [three[3 * i], three[3 * i + 1], three[3 * i + 2]];
            let some: Vec<(u32, [u32; 2])> = pairs_of(&one, &two);
            assert!(some.into_iter().eq((0..count).map(|i| (one[i], pair(i)))));
            let some: Vec<([u32; 3], [u32; 2])> = pairs_of(&three, &two);
            assert!(
                some.into_iter()
                    .eq((0..count).map(|i| (triple(i), pair(i))))
            );
        }
    }
}
