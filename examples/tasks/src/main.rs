//! A tree of tasks that nobody knows before it is walked, done in two ways: `cargo run --release -p warpheap-tasks --
//! [SEED [ROOTS [LANES]]]`. `--features cuda` or `--features vulkan` for a GPU; `WARPHEAP_BACKEND=host` chooses another device.
//!
//! - *Sharing*: one launch. Each lane has a stack that grows in the heap. Each warp has a queue, to which its lanes give, and from
//!   which lanes that have nothing take, also those of other warps.
//! - *Levels*: a launch for each level, which writes down the tasks of the next.
//!
//! Both do the tasks that a walk on the CPU finds. By default the tree is small. `46 2000 65536` is one for a GPU: 110,711,355 tasks on
//! 7,667 levels, more levels than launches are cheap for, and too few tasks on most of them to keep a GPU busy.

mod walks;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;
use warpheap::Device;
use warpheap_tasks::{CHILDREN, Family, Tree};

/// The most lanes and roots.
const MOST: u32 = 1 << 20;

/// What a walk found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    /// Tasks.
    tasks: u64,
    /// The sum of their hashes.
    sum: u32,
    /// Levels below the root.
    levels: u32,
}

impl Found {
    /// Counts the task above a family.
    fn visit(&mut self, below: Family) {
        self.tasks += 1;
        self.sum = self.sum.wrapping_add(below.hash);
        self.levels = self.levels.max(below.level - 1);
    }
}

/// A walk on the device.
struct Walk {
    /// What it found.
    found: Found,
    /// From the first launch until the host knew that all is done.
    time: Duration,
    /// How many launches that took.
    launches: u32,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let (seed, roots, lanes) = arguments()?;
    let device = Device::open()?;
    println!("device: {} ({})", device.info().name, device.info().backend);
    let tree = Tree {
        seed,
        roots,
        inner: u32::MAX / CHILDREN,
    };
    let expected = on_the_cpu(tree);
    println!(
        "{} tasks on {} levels below {roots} roots",
        expected.tasks, expected.levels
    );

    let kernels = warpheap_tasks::load(&device)?;
    let mut right = true;
    let mut tell = |name: &str, walk: &Walk| {
        right &= walk.found == expected;
        println!(
            "{name:<8}{:>12}{:>14.1} Mtasks/s{:>8} launches{}",
            format!("{:.2?}", walk.time),
            walk.found.tasks as f64 / walk.time.as_secs_f64() / 1e6,
            walk.launches,
            if walk.found == expected {
                ""
            } else {
                ": wrong"
            }
        );
    };
    // The first walk of each kind is for a driver that compiles at first use.
    for _ in 0..2 {
        tell(
            "sharing",
            &walks::by_sharing(&device, &kernels, tree, lanes)?,
        );
        tell(
            "levels",
            &walks::by_levels(&device, &kernels, tree, expected.levels, lanes)?,
        );
    }
    if !right {
        return Err("not all walks found what the CPU found".into());
    }
    println!("all walks are right");
    Ok(())
}

/// Which tree, its roots, and how many lanes walk it: for any device a small one.
fn arguments() -> Result<(u32, u32, u32), String> {
    let mut numbers = [1, 200, 256];
    for (at, text) in std::env::args().skip(1).enumerate() {
        let usage = "too many arguments: warpheap-tasks [SEED [ROOTS [LANES]]]";
        let number = numbers.get_mut(at).ok_or(usage)?;
        *number = match text.parse() {
            Ok(seed) if at == 0 => seed,
            Ok(other @ 1..=MOST) => other,
            _ => return Err(format!("`{text}` is no number from 1 to {MOST}")),
        };
    }
    Ok((numbers[0], numbers[1], numbers[2]))
}

/// The walk on the CPU, one task after the other.
fn on_the_cpu(tree: Tree) -> Found {
    let mut found = Found::default();
    let mut families = Vec::new();
    for n in 0..tree.roots {
        let mut below = tree.root(n);
        loop {
            found.visit(below);
            if tree.is_inner(below) {
                families.push(below);
            }
            let Some(family) = families.pop() else { break };
            below = family.below();
            if !family.rest().is_done() {
                families.push(family.rest());
            }
        }
    }
    found
}
