//! What a lane does with `Vec` and `Box`: compiled for the GPU and, by the host program, for the CPU.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// A hash of one more word.
fn hash(so_far: u32, word: u32) -> u32 {
    let mixed = (so_far.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b1);
    mixed ^ (mixed >> 15)
}

/// What a lane comes to. Lanes of a warp go different ways, and it depends on everything that they did.
pub fn answer(lane: u32) -> u32 {
    match lane % 4 {
        0 => pushes(lane),
        1 => nested(lane),
        2 => plates(lane),
        _ => 0x5eed ^ lane, // has nothing to do
    }
}

/// A vector that grows: mostly a little, sometimes to 1024 elements.
fn pushes(lane: u32) -> u32 {
    let len = (4096 / (hash(1, lane) % 4096 + 1)).min(1024);
    let mut numbers = Vec::new();
    for k in 0..len {
        numbers.push(hash(lane, k));
    }
    numbers.truncate(len as usize / 2);
    numbers.shrink_to_fit();
    numbers
        .iter()
        .fold(len, |so_far, &number| hash(so_far, number))
}

/// Vectors in a vector.
fn nested(lane: u32) -> u32 {
    let mut parts: Vec<Vec<u16>> = Vec::new();
    for k in 0..lane % 7 {
        let mut part = Vec::new();
        for j in 0..k + lane % 3 {
            part.push(hash(k, j) as u16);
        }
        parts.push(part);
    }
    parts.retain(|part| part.len() % 2 == 0);
    let numbers = parts.iter().flatten();
    numbers.fold(parts.len() as u32, |so_far, &number| {
        hash(so_far, number.into())
    })
}

/// A plate of a stack.
struct Plate {
    number: u32,
    below: Option<Box<Plate>>,
}

/// Puts plates on a stack of boxes and takes some off.
fn plates(lane: u32) -> u32 {
    let mut top: Option<Box<Plate>> = None;
    let mut seen = 0;
    for k in 0..24 {
        let number = hash(lane, k);
        if number % 3 != 0 {
            let below = top.take();
            top = Some(Box::new(Plate { number, below }));
        } else if let Some(plate) = top.take() {
            seen = hash(seen, plate.number);
            top = plate.below;
        }
    }
    // One after the other: the stack's own drop would need a stack as deep.
    while let Some(plate) = top {
        seen = hash(seen, plate.number);
        top = plate.below;
    }
    seen
}
