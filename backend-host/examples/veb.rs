//! Times the tree of bitmap words: one thread, and two that share a set.
//!
//! `cargo run --release -p warpheap-host --example veb`

use std::hint::black_box;
use std::time::Instant;
use warpheap_api::HeapMemory;
use warpheap_rt::arch::Words;
use warpheap_rt::bits::VebTree;
use warpheap_rt::sync::hash;

/// Operations that are timed together.
const ROUNDS: u32 = 1 << 20;

/// A set in memory of its own.
struct Set {
    words: Vec<u32>,
    tree: VebTree,
}

impl Set {
    fn new(universe: u32) -> Self {
        Set {
            words: vec![0; VebTree::words(universe) as usize],
            tree: VebTree::new(0, universe),
        }
    }

    fn memory(&mut self) -> Words {
        // SAFETY: the words are used through this handle alone until the set is gone.
        unsafe { Words::from_address(self.words.as_mut_ptr() as u64, self.words.len() as u64) }
    }
}

/// Nanoseconds of each of `ROUNDS` calls of `work`, on `threads` threads that make as many each.
fn time(threads: u32, work: impl Fn(u32) + Sync) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let work = &work;
            scope.spawn(move || (0..ROUNDS).for_each(|i| work(i + thread * ROUNDS)));
        }
    });
    start.elapsed().as_nanos() as f64 / ROUNDS as f64
}

/// What threads share: the address of the words, which outlive them.
#[derive(Clone, Copy)]
struct Shared(u64, u64);

impl Shared {
    fn memory(self) -> Words {
        // SAFETY: `rows` keeps the words until its threads have ended.
        unsafe { Words::from_address(self.0, self.1) }
    }
}

fn rows(universe: u32, threads: u32) {
    let mut set = Set::new(universe);
    let (tree, memory) = (set.tree, set.memory());
    let shared = Shared(memory.address(0) as u64, memory.len() as u64);
    let row = |name: &str, nanoseconds: f64| {
        println!("  {universe:>8} {threads:>8}  {name:24} {nanoseconds:8.1} ns");
    };
    let pair = time(threads, |i| {
        let x = hash(i) % universe;
        black_box(tree.insert(shared.memory(), x));
        black_box(tree.remove(shared.memory(), x));
    });
    row("insert, remove", pair);
    for every in [1, 32, 1024] {
        for x in 0..universe {
            tree.remove(memory, x);
        }
        for x in (0..universe).step_by(every as usize) {
            tree.insert(memory, x);
        }
        let next = time(threads, |i| {
            black_box(tree.successor(shared.memory(), hash(i) % universe));
        });
        row(&format!("successor, 1 of {every} there"), next);
    }
    tree.insert_run(memory, 0, universe);
    let pair = time(threads, |_| {
        if let Some(x) = tree.claim(shared.memory(), 0) {
            tree.insert(shared.memory(), x);
        }
    });
    row("claim, insert", pair);
    let run = time(threads, |_| {
        if let Ok(first) = tree.claim_run(shared.memory(), 40, 1, 0) {
            tree.insert_run(shared.memory(), first, 40);
        }
    });
    row("claim 40, insert 40", run);
}

fn main() {
    println!("  universe  threads  {:24} time of one", "operation");
    for universe in [512, 1 << 15, 1 << 20] {
        for threads in [1, 2] {
            rows(universe, threads);
        }
    }
}
