//! What in the metadata cannot be while no lane runs.

use crate::alloc::ouroboros::geometry::{
    HEAD_EXPECTED, HEAD_RESERVED, HEAD_SPILLED, HEADER_BITS, HEADER_WORDS,
};
use crate::alloc::ouroboros::{Geometry, HEAD_COUNT, HEAD_FREE, QUEUE, count_of, tag_of};
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;
use warpheap_api::HeapParams;
use warpheap_api::host::{Audit, DeviceError, HeapReader};

/// What the chunks of a class have together.
#[derive(Clone, Copy, Default)]
struct Class {
    /// Pages that are free by their chunks' bits.
    free: u64,
}

/// See [`HostAlloc::audit`](warpheap_api::host::HostAlloc::audit): the manager's bits are those of chunks with a use, a chunk's count
/// is that of its bits, and a class counts what its chunks have. Whether the queues of the base instance, and those of larger ones,
/// hold pages is said as for the usage.
pub(super) fn audit(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    [small, large]: [bool; 2],
    found: &mut Audit,
) -> Result<(), DeviceError> {
    let geometry = Geometry::new(*params);
    let mut taken = vec![0u32; geometry.taken_words() as usize];
    heap.read(geometry.taken_word(0) as u64, &mut taken)?;
    let mut headers = vec![0u32; geometry.chunks as usize * HEADER_WORDS];
    heap.read(geometry.header(0) as u64, &mut headers)?;
    let mut classes: Vec<Class> = vec![Class::default(); geometry.classes() as usize];
    let header = |chunk: u32| &headers[chunk as usize * HEADER_WORDS..][..HEADER_WORDS];
    let is_taken = |chunk: u32| taken[chunk as usize / 32] >> (chunk % 32) & 1 == 1;
    let mut chunk = 0;
    while chunk < geometry.chunks {
        let here = |what: String| format!("Ouroboros, chunk {chunk}: {what}");
        let (state, mut units) = (header(chunk)[0], 1);
        if state != 0 {
            let class = (tag_of(state) & !QUEUE).wrapping_sub(1);
            let row = 1u32 << geometry.units_log(class.min(geometry.classes() - 1));
            let fits = chunk % row == 0 && geometry.chunks - chunk >= row;
            let possible = class < geometry.classes() && tag_of(state) & !QUEUE < QUEUE;
            let queue = tag_of(state) & QUEUE != 0;
            found.expect(possible && (queue || fits), || {
                here(format!(
                    "nobody can have left it in the state {state:#010x}"
                ))
            });
            if possible && fits && !queue {
                units = row;
                let free = check_pages(geometry, class, header(chunk), found, &here);
                classes[class as usize].free += u64::from(free);
            }
        }
        let taken = (chunk..chunk + units).filter(|&one| is_taken(one)).count();
        let expected = if state == 0 { 0 } else { units as usize };
        found.expect(taken == expected, || {
            here(format!(
                "its state is {state:#010x}, and {taken} of its {units} chunks are taken from the manager"
            ))
        });
        chunk += units;
    }
    let free = (0..geometry.chunks).filter(|&one| !is_taken(one)).count();
    let counted = word(heap, geometry.manager(HEAD_FREE))?;
    found.expect(counted as usize == free, || {
        format!(
            "Ouroboros, chunks: {} free ones are counted, and {free} are free",
            counted as i32
        )
    });
    for (class, chunks) in (0..).zip(classes) {
        let in_queue = if geometry.units_log(class) == 0 {
            small
        } else {
            large
        };
        check_class(geometry, class, chunks, in_queue, heap, found)?;
    }
    Ok(())
}

/// A chunk of pages; how many are free by its bits.
fn check_pages(
    geometry: Geometry,
    class: u32,
    header: &[u32],
    found: &mut Audit,
    here: &dyn Fn(String) -> String,
) -> u32 {
    let (pages, count) = (geometry.pages(class), count_of(header[0]));
    let bits = &header[HEADER_BITS..][..pages.div_ceil(32) as usize];
    let set: u32 = bits.iter().map(|word| word.count_ones()).sum();
    let last = bits[bits.len() - 1];
    let stray = pages % 32 != 0 && last >> (pages % 32) != 0;
    found.expect(set == count && count <= pages && !stray, || {
        let bytes = 16u64 << geometry.page_log(class);
        here(format!(
            "{count} of {pages} pages of {bytes} bytes are counted as free, and {set} bits are set"
        ))
    });
    set
}

/// What a class counts.
fn check_class(
    geometry: Geometry,
    class: u32,
    chunks: Class,
    in_queue: bool,
    heap: &mut dyn HeapReader,
    found: &mut Audit,
) -> Result<(), DeviceError> {
    let bytes = 16u64 << geometry.page_log(class);
    let here = |what: String| format!("Ouroboros, pages of {bytes} bytes: {what}");
    let [count, expected, reserved, spilled] =
        [HEAD_COUNT, HEAD_EXPECTED, HEAD_RESERVED, HEAD_SPILLED]
            .map(|which| geometry.head(class, which));
    let count = word(heap, count)? as i32;
    found.expect(count >= 0, || here(format!("{count} can be had")));
    for (what, at) in [("expected", expected), ("waited for", reserved)] {
        let number = word(heap, at)? as i32;
        found.expect(number == 0, || {
            here(format!("{number} are {what}, and nobody runs"))
        });
    }
    let (counted, which) = match in_queue {
        true => (word(heap, spilled)? as i32, "beside the queue"),
        false => (count, "in all"),
    };
    found.expect(i64::from(counted) == chunks.free as i64, || {
        here(format!(
            "{counted} are counted {which}, and the chunks' bits have {}",
            chunks.free
        ))
    });
    Ok(())
}

fn word(heap: &mut dyn HeapReader, at: usize) -> Result<u32, DeviceError> {
    let mut word = [0];
    heap.read(at as u64, &mut word)?;
    Ok(word[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::ouroboros::chunk::state;
    use crate::alloc::{OuroborosCS, OuroborosPS};
    use crate::host::OuroborosConfig;
    use crate::host::planted::{Planted, each_is_told, told};
    use warpheap_api::host::HostAlloc;

    /// A heap of chunks in which chunk 3 has pages of class 2, all but two in use, and a row from chunk 16 on those of a larger
    /// instance.
    fn heap() -> (Planted, Geometry, u32) {
        let plan = OuroborosCS::plan(8 << 20, &OuroborosConfig::default()).unwrap();
        let geometry = Geometry::new(plan.params);
        let mut heap = Planted::new(&plan);
        let large = (0..geometry.classes()).find(|&class| geometry.units_log(class) > 0);
        let large = large.expect("a larger instance");
        let row = 1u32 << geometry.units_log(large);
        assert!(row <= 16);
        heap.words[geometry.header(3)] = state(3, 2);
        heap.words[geometry.header(3) + HEADER_BITS] = 0b1010;
        heap.words[geometry.header(16)] = state(large + 1, 0);
        heap.words[geometry.taken_word(0)] |= ((1 << row) - 1) << 16 | 1 << 3;
        heap.words[geometry.manager(HEAD_FREE)] -= row + 1;
        heap.words[geometry.head(2, HEAD_COUNT)] = 2;
        (heap, geometry, large)
    }

    #[test]
    fn what_cannot_be_is_told_with_its_chunk() {
        let (_, geometry, large) = heap();
        let header = |chunk| geometry.header(chunk);
        let manager = geometry.manager(HEAD_FREE);
        let free = heap().0.words[manager];
        let bits = geometry.taken_word(0);
        let taken = heap().0.words[bits];
        let head = |which| geometry.head(2, which);
        let changes = [
            (
                header(3),
                state(3, 3),
                "chunk 3: 3 of 128 pages of 64 bytes are counted",
            ),
            (header(3), state(100, 2), "chunk 3: nobody can have left it"),
            (
                header(3),
                0,
                "chunk 3: its state is 0x00000000, and 1 of its 1",
            ),
            (
                header(3) + HEADER_BITS,
                0b1011,
                "as free, and 3 bits are set",
            ),
            (header(16), 0, "chunk 16: its state is 0x00000000"),
            (
                header(7),
                state(large + 1, 0),
                "chunk 7: nobody can have left it",
            ),
            (bits, taken & !(1 << 17), "chunk 16: its state is"),
            (
                bits,
                taken | 1 << 4,
                "chunk 4: its state is 0x00000000, and 1",
            ),
            (manager, free + 1, "free ones are counted"),
            (
                head(HEAD_COUNT),
                3,
                "64 bytes: 3 are counted in all, and the chunks' bits have 2",
            ),
            (head(HEAD_COUNT), u32::MAX, "64 bytes: -1 can be had"),
            (head(HEAD_EXPECTED), 1, "64 bytes: 1 are expected"),
            (head(HEAD_RESERVED), 4, "64 bytes: 4 are waited for"),
        ];
        each_is_told::<OuroborosCS>(|| heap().0, &changes);
        // Where pages are in the queue, chunks have those that were spilled.
        let told = told::<OuroborosPS>(&mut heap().0);
        assert!(told.contains("0 are counted beside the queue"), "{told}");
    }
}
