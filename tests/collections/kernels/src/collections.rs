//! Collections in the global heap. A lane's answer depends on all that it did; `…_of` gives the same on the
//! host, with the collections of `std`.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// Lane `i` pushes `pushes` numbers that follow from `i` onto a vector, one by one, and leaves their sum.
#[kernel(unsafe(slices))]
pub fn push(sums: &mut [u32], pushes: u32) {
    let lane = thread::index() as usize;
    if lane < sums.len() {
        let mut numbers = Vec::new();
        for k in 0..pushes {
            numbers.push(lane as u32 * 31 + k);
        }
        let mut sum = 0u32;
        for number in &numbers {
            sum = sum.wrapping_add(*number);
        }
        sums[lane] = sum;
    }
}

/// Lane `i` makes a vector of vectors, `i % 7` numbers and more in each, keeps those whose sum is even,
/// sorts them by length and leaves a hash of what is left.
#[kernel(unsafe(slices))]
pub fn nested(answers: &mut [u32]) {
    let lane = thread::index();
    if (lane as usize) < answers.len() {
        answers[lane as usize] = nested_of(lane);
    }
}

/// What lane `lane` leaves in [`nested`].
pub fn nested_of(lane: u32) -> u32 {
    let mut lists: Vec<Vec<u32>> = (0..4 + lane % 5)
        .map(|k| (0..lane % 7 + k).map(|j| hash(lane ^ j)).collect())
        .collect();
    lists.retain(|list| list.iter().fold(0u32, |sum, n| sum.wrapping_add(*n)) % 2 == 0);
    lists.sort_by_key(|list| core::cmp::Reverse(list.len()));
    let mut answer = lists.len() as u32;
    for list in lists {
        answer = hash(answer ^ list.len() as u32);
        for number in list {
            answer = hash(answer ^ number);
        }
    }
    answer
}

trait Shape {
    fn area(&self) -> u32;
}

struct Square(u32);
struct Oblong {
    width: u32,
    height: u32,
}

impl Shape for Square {
    fn area(&self) -> u32 {
        self.0 * self.0
    }
}

impl Shape for Oblong {
    fn area(&self) -> u32 {
        self.width * self.height
    }
}

/// Lane `i` boxes shapes of two types, and closures, and adds up what they say.
#[kernel(unsafe(slices))]
pub fn boxes(answers: &mut [u32]) {
    let lane = thread::index();
    if (lane as usize) < answers.len() {
        answers[lane as usize] = boxes_of(lane);
    }
}

/// What lane `lane` leaves in [`boxes`].
pub fn boxes_of(lane: u32) -> u32 {
    let i = lane % 100;
    let mut shapes: Vec<Box<dyn Shape>> = Vec::new();
    for k in 0..5 {
        shapes.push(match (i + k) % 2 == 0 {
            true => Box::new(Square(i + k)),
            false => Box::new(Oblong {
                width: i,
                height: k + 1,
            }),
        });
    }
    let more: Box<dyn Fn(u32) -> u32> = match i % 3 == 0 {
        true => Box::new(move |area| area + i),
        false => Box::new(|area| area * 2),
    };
    shapes.iter().map(|shape| more(shape.area())).sum()
}

/// A number that tells when it is dropped.
struct Told<'a> {
    drops: &'a AtomicWord,
    value: u32,
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.drops.fetch_add(1);
    }
}

/// Lane `i` shares a counted number among a few owners; word 0 of `drops` counts the numbers that went.
#[kernel(unsafe(slices))]
pub fn shares(answers: &mut [u32], drops: &[AtomicWord]) {
    let lane = thread::index() as usize;
    if lane < answers.len() {
        let first = Rc::new(Told {
            drops: &drops[0],
            value: lane as u32,
        });
        let owners: Vec<Rc<Told>> = (0..3).map(|_| first.clone()).collect();
        let weak = Rc::downgrade(&first);
        let mut answer = Rc::strong_count(&first) as u32;
        drop(first);
        answer += owners.iter().map(|owner| owner.value).sum::<u32>();
        drop(owners);
        answers[lane] = answer + weak.upgrade().is_none() as u32;
    }
}

/// Lane `i` writes `lane <i>, half <i / 2.0>, {:#x}` into a string and leaves a hash of the text.
#[kernel(unsafe(slices))]
pub fn texts(answers: &mut [u32]) {
    let lane = thread::index();
    if (lane as usize) < answers.len() {
        answers[lane as usize] = texts_of(lane);
    }
}

/// What lane `lane` leaves in [`texts`].
pub fn texts_of(lane: u32) -> u32 {
    let mut text = String::from("lane ");
    text.push_str(&format!("{lane}, half {:.2}", lane as f32 / 2.0));
    text += &format!(" {:#x} {:>6}", lane, lane % 1000);
    let mut answer = text.len() as u32;
    for byte in text.bytes() {
        answer = hash(answer ^ byte as u32);
    }
    answer
}

/// Lane `i` counts the remainders of hashes in a map, removes a few and leaves a hash of keys and counts in
/// their order.
#[kernel(unsafe(slices))]
pub fn maps(answers: &mut [u32]) {
    let lane = thread::index();
    if (lane as usize) < answers.len() {
        answers[lane as usize] = maps_of(lane);
    }
}

/// What lane `lane` leaves in [`maps`].
pub fn maps_of(lane: u32) -> u32 {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for k in 0..60 {
        *counts.entry(hash(lane * 64 + k) % 41).or_insert(0) += 1;
    }
    for k in 0..10 {
        counts.remove(&(k * 3));
    }
    let mut answer = counts.len() as u32;
    for (key, count) in &counts {
        answer = hash(answer ^ (key << 8) ^ count);
    }
    answer
}

/// Lane `i` boxes and drops arrays in branches that other lanes do not take, and leaves the sum of what it has
/// at the end.
#[kernel(unsafe(slices))]
pub fn branches(answers: &mut [u32]) {
    let lane = thread::index();
    if (lane as usize) < answers.len() {
        answers[lane as usize] = branches_of(lane);
    }
}

/// What lane `lane` leaves in [`branches`].
pub fn branches_of(lane: u32) -> u32 {
    let mut all: Vec<Box<[u32; 25]>> = Vec::new();
    for k in 0..6 {
        if hash(lane * 8 + k) % 3 != 0 {
            all.push(Box::new([lane ^ k; 25]));
        }
        if hash(lane * 8 + k + 1000) % 3 == 0 {
            all.pop();
        }
    }
    all.iter().map(|numbers| numbers[3]).sum()
}
