//! The kernels of a particle simulation: compiled to PTX, to SPIR-V, and for the host.
//!
//! Each step: every particle is put into the list of its cell, finds its neighbours in the cells around
//! and keeps them in a vector, is pushed away by them, and moves. Lists and vectors are made anew in each step.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// Cells along each side of the box, whose sides have length 1.
pub const CELLS: u32 = 32;

/// Particles repel each other when they are nearer than this: the side of a cell.
pub const REACH: f32 = 1.0 / CELLS as f32;

/// How strongly they do.
pub const STRENGTH: f32 = 50.0;

/// A particle of mass 1.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Particle {
    /// Where it is: 0 to 1.
    pub x: f32,
    /// The same, upwards.
    pub y: f32,
    /// How fast it is.
    pub vx: f32,
    /// The same, upwards.
    pub vy: f32,
}

/// What acts on a particle.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Push {
    /// Acceleration.
    pub x: f32,
    /// The same, upwards.
    pub y: f32,
    /// Its half of the potential energies between it and its neighbours.
    pub energy: f32,
}

/// The square of the distance of two particles.
#[inline(always)]
pub fn distance2(a: Particle, b: Particle) -> f32 {
    (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)
}

/// The number of the row or column in which a coordinate is.
#[inline(always)]
pub fn cell(coordinate: f32) -> u32 {
    let cell = (coordinate * CELLS as f32) as u32;
    if cell < CELLS { cell } else { CELLS - 1 }
}

/// Lane `i` puts particle `i` into the list of its cell. `cells` has `CELLS * CELLS` lists in the heap, which
/// all lanes push to at the same time.
///
/// # Safety
/// `cells` is a live block of this heap with `CELLS * CELLS` lists, which nothing else uses in this launch.
#[kernel]
pub unsafe fn sort_into_cells(
    heap: Heap<WarpHeap>,
    cells: DevicePtr<HeapList<u32>>,
    particles: &[Particle],
) -> Result<(), AllocError> {
    let i = thread::index();
    if (i as usize) < particles.len() {
        let particle = particles[i as usize];
        let place = cell(particle.y) * CELLS + cell(particle.x);
        // SAFETY: the caller's promise; in this launch the lists are used by `push_at` alone.
        unsafe { HeapList::push_at(heap, heap.word_of(cells) + place as usize, i)? };
    }
    Ok(())
}

/// Lane `i` looks for the neighbours of particle `i` in its cell and the eight around it. `neighbours` is its vector, which
/// is empty at first.
///
/// # Safety
/// As for [`sort_into_cells`], whose lists nobody changes in this launch.
#[kernel]
pub unsafe fn find_neighbours(
    heap: Heap<WarpHeap>,
    cells: DevicePtr<HeapList<u32>>,
    particles: &[Particle],
    neighbours: &mut HeapVec<u32>,
) -> Result<(), AllocError> {
    let i = thread::index();
    if (i as usize) < particles.len() {
        let own = particles[i as usize];
        let (column, row) = (cell(own.x), cell(own.y));
        for around in 0..9 {
            // Cells beyond the walls: the subtraction wraps, and they are too far.
            let x = (column + around % 3).wrapping_sub(1);
            let y = (row + around / 3).wrapping_sub(1);
            if (x < CELLS) & (y < CELLS) {
                // SAFETY: the caller's promise; the list is only looked at.
                let list = unsafe { heap.load_at(cells, y * CELLS + x) };
                let mut cursor = list.cursor(heap);
                while !cursor.is_done() {
                    let other = cursor.next_or(heap, i);
                    let near = distance2(own, particles[other as usize]) < REACH * REACH;
                    if near & (other != i) {
                        neighbours.push(heap, other)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Lane `i` adds up what the neighbours of particle `i` do to it. The potential of two particles at distance `r` is
/// `STRENGTH * REACH² / 4 * (1 - r² / REACH²)²`: it ends smoothly, and needs no square root.
#[kernel]
pub fn push_apart(
    heap: Heap<WarpHeap>,
    particles: &[Particle],
    neighbours: &[HeapVec<u32>],
    push: &mut Push,
) {
    let i = thread::index() as usize;
    if (i < particles.len()) & (i < neighbours.len()) {
        let (own, list) = (particles[i], &neighbours[i]);
        let (mut x, mut y, mut energy) = (0.0, 0.0, 0.0);
        for n in 0..list.len() {
            let other = particles[list.get_or(heap, n, 0) as usize];
            let near = 1.0 - distance2(own, other) / (REACH * REACH);
            x += STRENGTH * near * (own.x - other.x);
            y += STRENGTH * near * (own.y - other.y);
            energy += STRENGTH * REACH * REACH / 8.0 * near * near;
        }
        *push = Push { x, y, energy };
    }
}

/// Lane `i` moves particle `i` on by a time, reflects it at the walls, and frees the vector of its neighbours;
/// the lanes together, also those without a particle, free the lists of the cells.
///
/// # Safety
/// As for [`sort_into_cells`].
#[kernel]
pub unsafe fn move_on(
    heap: Heap<WarpHeap>,
    cells: DevicePtr<HeapList<u32>>,
    mut particles: PerLane<Particle>,
    mut neighbours: PerLane<HeapVec<u32>>,
    pushes: &[Push],
    time: f32,
) {
    if let Some(i) = particles.lane_index() {
        let (old, push) = (particles[i], pushes[i.get() as usize]);
        let (vx, vy) = (old.vx + push.x * time, old.vy + push.y * time);
        let (x, y) = (old.x + vx * time, old.y + vy * time);
        particles[i] = Particle {
            x: inside(x),
            y: inside(y),
            vx: if x == inside(x) { vx } else { -vx },
            vy: if y == inside(y) { vy } else { -vy },
        };
    }
    if let Some(i) = neighbours.lane_index() {
        neighbours[i].free(heap);
    }
    let mut place = thread::index();
    while place < CELLS * CELLS {
        // SAFETY: the caller's promise; of the lanes this one alone has this list.
        let mut list = unsafe { heap.load_at(cells, place) };
        list.free(heap);
        // SAFETY: as above.
        unsafe { heap.store_at(cells, place, list) };
        place += thread::count();
    }
}

/// A coordinate, reflected at the walls.
#[inline(always)]
fn inside(coordinate: f32) -> f32 {
    if coordinate < 0.0 {
        -coordinate
    } else if coordinate > 1.0 {
        2.0 - coordinate
    } else {
        coordinate
    }
}
