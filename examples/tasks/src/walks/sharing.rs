//! Warps that share what they have.

use super::begin;
use crate::Walk;
use std::error::Error;
use std::time::Instant;
use warpheap::device::{HeapQueue, HeapVec};
use warpheap::{Device, DeviceBox, DeviceVec, LaunchConfig, Pool};
use warpheap_tasks::{Family, Kernels, Plan, Tree, Walker};

/// Places of a warp's queue at least.
const ROOM: usize = 256;
/// Families in it below which the warp gives.
const HUNGRY: u32 = 32;
/// Steps from one look to the next.
const EVERY: u32 = 8;
/// Looks in vain after which a warp leaves: some milliseconds on a GPU.
const PATIENCE: u32 = 1 << 11;
/// Steps of a launch: a second or so.
const STEPS: u32 = 1 << 20;
/// Launches after which something must be wrong.
const MOST_LAUNCHES: u32 = 10_000;

/// Walks the tree with so many lanes.
pub(crate) fn by_sharing(
    device: &Device,
    kernels: &Kernels,
    tree: Tree,
    lanes: u32,
) -> Result<Walk, Box<dyn Error>> {
    // A warp's stack has a few hundred families of 16 bytes, rarely some thousands.
    let pool: Pool = device.reserve((64 << 20) + 4096 * u64::from(lanes))?;
    let (mut found, families) = begin(tree);
    let open = DeviceVec::from_slice(device, &[families.len() as u32])?;
    let families = DeviceVec::from_slice(device, &families)?;
    let warps = lanes.div_ceil(device.info().warp_width);
    let mut queues = DeviceVec::<HeapQueue<Family>>::zeroed(device, warps as usize)?;
    let mut later = DeviceVec::<HeapVec<Family>>::zeroed(device, lanes as usize)?;
    let mut walkers = DeviceVec::from_slice(device, &vec![Walker::IDLE; lanes as usize])?;
    let plan = DeviceBox::new(
        device,
        Plan {
            tree,
            hungry: HUNGRY,
            every: EVERY,
            patience: PATIENCE,
            steps: STEPS,
        },
    )?;
    let room = ROOM.max(families.len().div_ceil(warps as usize));
    let log2 = room.next_power_of_two().ilog2();
    let each_warp = LaunchConfig::for_num_elems(warps);
    kernels.make_queues(&pool, each_warp, &families, warps, log2, &mut queues)?;

    let shape = LaunchConfig::for_num_elems(lanes);
    let begun = Instant::now();
    let mut launches = 0;
    while open.to_vec()?[0] != 0 {
        if launches == MOST_LAUNCHES {
            return Err(format!("tasks are left after {launches} launches").into());
        }
        launches += 1;
        kernels.walk(
            &pool,
            shape,
            &queues,
            &open,
            &plan,
            &mut later,
            &mut walkers,
        )?;
    }
    let time = begun.elapsed();

    for walker in walkers.to_vec()? {
        found.tasks += u64::from(walker.tasks);
        found.sum = found.sum.wrapping_add(walker.sum);
        found.levels = found.levels.max(walker.deepest);
    }
    kernels.free_queues(&pool, each_warp, &mut queues)?;
    let left = pool.stats()?.usage.used_bytes;
    if left != 0 {
        return Err(format!("{left} bytes are still in use").into());
    }
    Ok(Walk {
        found,
        time,
        launches,
    })
}
