//! What allocators hold for what programs have, in the emulator at warp width 32; `docs/results/placement.md` has its
//! table: `cargo run --release -p warpheap-tests --no-default-features --example placement -- 256 WarpHeap ScatterAlloc`

use std::process::ExitCode;
use warpheap_tests::heap::{Failures, free, malloc};
use warpheap_tests::{Site, Subject, TestHeap};

/// Sizes that blocks have one after the other.
const SIZES: [u64; 7] = [24, 40, 72, 1050, 4100, 12_345, 100_000];
/// Rounds in which sizes change.
const ROUNDS: usize = 30;
/// Rows that grow and shrink, and rounds of it.
const ROWS: usize = 1 << 17;
const UPDATES: usize = 20;

/// A number for each lane and round.
fn any(lane: usize, round: usize) -> usize {
    let mixed = (lane as u32 ^ (round as u32) << 24).wrapping_mul(0x9e37_79b1);
    ((mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77) >> 8) as usize
}

/// The most that was tied for what was live, and requests that failed.
#[derive(Default)]
struct Seen {
    ratio: f64,
    failed: usize,
}

impl Seen {
    fn look<A: Subject>(&mut self, heap: &TestHeap<'_, A>) {
        let stats = heap.pool.stats().expect("stats");
        let tied = stats.usage.committed_bytes as f64;
        self.ratio = self.ratio.max(tied / heap.live_bytes() as f64);
        self.failed = stats.failures.iter().sum::<u32>() as usize;
    }
}

/// A third of the blocks is freed and asked for at the next size, in a heap that is so full.
fn changing_sizes<A: Subject>(site: &Site, pool: u64, percent: u64) -> Seen {
    let mean = SIZES.iter().sum::<u64>() / SIZES.len() as u64;
    let lanes = (pool * percent / 100 / mean) as usize;
    let mut heap = TestHeap::<A>::new(site, pool, lanes);
    let mut sizes: Vec<usize> = (0..lanes).map(|lane| any(lane, 99) % SIZES.len()).collect();
    let mut seen = Seen::default();
    let program: Vec<_> = (0..lanes)
        .map(|lane| vec![malloc(lane, SIZES[sizes[lane]])])
        .collect();
    heap.run(&program, Failures::Any);
    for round in 0..ROUNDS {
        seen.look(&heap);
        let taken = heap.taken();
        let leaves = |lane: usize| any(lane, round).is_multiple_of(3);
        let mut frees = vec![vec![]; lanes];
        for &lane in taken.iter().filter(|&&lane| leaves(lane)) {
            frees[lane].push(free(lane));
        }
        heap.run(&frees, Failures::Any);
        let mut mallocs = vec![vec![]; lanes];
        let mut there = vec![false; lanes];
        heap.taken().into_iter().for_each(|lane| there[lane] = true);
        for lane in (0..lanes).filter(|&lane| !there[lane]) {
            sizes[lane] = (sizes[lane] + 1) % SIZES.len();
            mallocs[lane].push(malloc(lane, SIZES[sizes[lane]]));
        }
        heap.run(&mallocs, Failures::Any);
    }
    seen.look(&heap);
    seen
}

/// Rows with lengths by a power law that grow for half of the rounds and shrink for the other half; a row is replaced
/// by one of the next power of two. The first ratio is that while they grow.
fn rows<A: Subject>(site: &Site, pool: u64) -> [Seen; 2] {
    let mut heap = TestHeap::<A>::new(site, pool, 2 * ROWS);
    let mut lengths: Vec<usize> = (0..ROWS)
        .map(|row| {
            let share = (any(row, 7) + 1) as f64 / (1 << 24) as f64;
            ((7.0 / share.powf(0.75)) as usize).min(2000)
        })
        .collect();
    let mut held = vec![(0, 0); ROWS];
    let mut seen = [Seen::default(), Seen::default()];
    for round in 0..=UPDATES {
        let (mut mallocs, mut frees) = (vec![vec![]; ROWS], vec![vec![]; ROWS]);
        for (row, held) in held.iter_mut().enumerate() {
            let size = 4 * lengths[row].max(4).next_power_of_two() as u64;
            let (slot, before) = *held;
            if size != before {
                if before != 0 {
                    frees[row].push(free(slot));
                }
                *held = (row + if slot < ROWS { ROWS } else { 0 }, size);
                mallocs[row].push(malloc(held.0, size));
            }
        }
        heap.run(&mallocs, Failures::Any);
        heap.run(&frees, Failures::Any);
        let shrinks = round > UPDATES / 2;
        seen[shrinks as usize].look(&heap);
        for update in 0..ROWS / 4 {
            let length = &mut lengths[any(update, round) % ROWS];
            *length = if round < UPDATES / 2 {
                *length + 8
            } else {
                length.saturating_sub(8).max(1)
            };
        }
    }
    seen
}

/// One lane of forty asks, four times.
fn alone<A: Subject>(site: &Site, pool: u64, size: u64) -> Seen {
    let lanes = 1 << 16;
    let mut heap = TestHeap::<A>::new(site, pool, 4 * lanes);
    let program: Vec<_> = (0..lanes)
        .map(|lane| match any(lane, 3).is_multiple_of(40) {
            true => (0..4).map(|k| malloc(4 * lane + k, size)).collect(),
            false => vec![],
        })
        .collect();
    heap.run(&program, Failures::Any);
    let mut seen = Seen::default();
    seen.look(&heap);
    seen
}

/// From the first to the last byte of blocks of one size in a fresh heap, over what they take as they are rounded.
fn range<A: Subject>(site: &Site, pool: u64, size: u64) -> f64 {
    let lanes = (pool / 3 / size).min(1 << 14) as usize;
    let mut heap = TestHeap::<A>::new(site, pool, lanes);
    heap.block_dim = 128;
    let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, size)]).collect();
    let outcomes = heap.run(&program, Failures::Any);
    let places: Vec<u64> = outcomes
        .iter()
        .flatten()
        .filter(|outcome| outcome.code == 0)
        .map(|outcome| outcome.granule as u64 * 16)
        .collect();
    let (first, last) = (places.iter().min(), places.iter().max());
    let used = heap.pool.stats().expect("stats").usage.used_bytes;
    (last.expect("blocks") + size - first.expect("blocks")) as f64 / used as f64
}

fn show<A: Subject>(name: &str, pool: u64) {
    let site = Site::host(32);
    let churn = [60, 70].map(|percent| changing_sizes::<A>(&site, pool, percent));
    let [grow, shrink] = rows::<A>(&site, pool);
    let lone = [64, 1024].map(|size| alone::<A>(&site, pool, size));
    let ranges = SIZES.map(|size| format!("{:.2}", range::<A>(&site, pool, size)));
    println!(
        "| `{name}` | {:.2}, {} | {:.2}, {} | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
        churn[0].ratio,
        churn[0].failed,
        churn[1].ratio,
        churn[1].failed,
        grow.ratio,
        shrink.ratio,
        lone[0].ratio,
        lone[1].ratio,
        ranges.join(", "),
    );
}

macro_rules! by_name {
    ($($allocator:ident),* $(,)?) => {
        /// Whether there is an allocator of this name.
        fn by_name(name: &str, pool: u64) -> bool {
            match name {
                $(stringify!($allocator) => {
                    show::<warpheap_rt::alloc::$allocator>(name, pool);
                    true
                })*
                _ => false,
            }
        }
    };
}

warpheap_rt::for_each_allocator! { by_name }

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(mib) = arguments.next().and_then(|mib| mib.parse::<u64>().ok()) else {
        eprintln!("placement MIB ALLOCATOR...: the size of the heap, and whose");
        return ExitCode::from(2);
    };
    println!(
        "| | 60 % full: tied / live, failed | 70 % full | rows that grow | that shrink | alone: 64 B | 1 KiB | range / bytes of {SIZES:?} B |\n|---|---|---|---|---|---|---|---|"
    );
    for name in arguments {
        if !by_name(&name, mib << 20) {
            eprintln!("no allocator is called {name}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
