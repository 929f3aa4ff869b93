//! Particles in a box that push each other away, with lists of neighbours that the device makes anew in each
//! step: `cargo run --release -p warpheap-particles -- [PARTICLES [STEPS]]`, by default 4000 particles and 50
//! steps. `--features cuda` or `--features vulkan` for a GPU; `WARPHEAP_BACKEND=host` chooses another device.
//!
//! The CPU looks for the neighbours again in some of the steps, by comparing all with all, and the energy of
//! all particles together has to stay what it was.

mod check;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;
use warpheap::device::{HeapList, HeapVec};
use warpheap::{Device, DeviceVec, LaunchConfig, Pool, read_vectors};
use warpheap_particles::{CELLS, Particle, Push};

/// The most particles, which the CPU compares all with all, and the most steps.
const MOST: u32 = 1 << 15;
/// Time of a step.
const STEP: f32 = 0.001;
/// Steps from one whose neighbours are checked to the next.
const CHECKED: u32 = 10;

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
    let (count, steps) = arguments()?;
    let device = Device::open()?;
    println!("device: {} ({})", device.info().name, device.info().backend);

    let n = count as usize;
    let mean = u64::from(count / (CELLS * CELLS) + 1); // particles of a cell
    let pool: Pool = device.reserve((64 << 20) + 64 * mean * u64::from(count))?;
    // In the heap, not only beside it: lanes push to these lists at the same time.
    let cells = DeviceVec::<HeapList<u32>>::zeroed_in(&pool, (CELLS * CELLS) as usize)?;
    let lists = cells.heap_ptr().ok_or("the cells are not in the heap")?;
    let mut particles = DeviceVec::from_slice(&device, &scattered(n))?;
    let mut neighbours = DeviceVec::<HeapVec<u32>>::zeroed(&device, n)?;
    let mut pushes = DeviceVec::<Push>::zeroed(&device, n)?;
    let kernels = warpheap_particles::load(&device)?;
    let shape = LaunchConfig::for_num_elems(count);

    let mut time = Duration::ZERO;
    let mut energy = check::Energy::default();
    for step in 0..steps {
        // SAFETY: here and below, the lists are those of the cells, which nothing but these kernels uses.
        let sorted = unsafe { kernels.sort_into_cells(&pool, shape, lists, &particles)? };
        // SAFETY: the same.
        let found =
            unsafe { kernels.find_neighbours(&pool, shape, lists, &particles, &mut neighbours)? };
        let pushed = kernels.push_apart(&pool, shape, &particles, &neighbours, &mut pushes)?;
        let now = particles.to_vec()?;
        energy.check(step, &now, &pushes.to_vec()?)?;
        if step % CHECKED == 0 || step + 1 == steps {
            let pairs = check::neighbours(&now, read_vectors(&pool, &neighbours)?)?;
            println!(
                "step {step}: {pairs} pairs, energy {:.3}; {}",
                energy.last,
                pool.stats()?
            );
        }
        let (of, near) = (&mut particles, &mut neighbours);
        // SAFETY: the same.
        let moved = unsafe { kernels.move_on(&pool, shape, lists, of, near, &pushes, STEP)? };
        time += [sorted, found, pushed, moved]
            .iter()
            .map(|report| report.device_time)
            .sum::<Duration>();
    }

    drop(cells); // the only block that is left
    let left = pool.stats()?.usage.used_bytes;
    if left != 0 {
        return Err(format!("{left} bytes are still in use").into());
    }
    println!("all {steps} steps of {count} particles are right, {time:.1?} on the device");
    Ok(())
}

/// How many particles and steps.
fn arguments() -> Result<(u32, u32), String> {
    let mut numbers = [4000, 50];
    for (at, text) in std::env::args().skip(1).enumerate() {
        let usage = "too many arguments: warpheap-particles [PARTICLES [STEPS]]";
        *numbers.get_mut(at).ok_or(usage)? = match text.parse() {
            Ok(number @ 1..=MOST) => number,
            _ => return Err(format!("`{text}` is no number from 1 to {MOST}")),
        };
    }
    Ok((numbers[0], numbers[1]))
}

/// Particles anywhere in the box, at rest.
fn scattered(count: usize) -> Vec<Particle> {
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let particle = |_| Particle {
        x: random(),
        y: random(),
        vx: 0.0,
        vy: 0.0,
    };
    (0..count).map(particle).collect()
}
