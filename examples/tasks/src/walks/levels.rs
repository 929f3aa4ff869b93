//! A launch for each level.

use super::begin;
use crate::Walk;
use std::error::Error;
use std::mem::swap;
use std::time::Instant;
use warpheap::{Device, DeviceBox, DeviceVec, LaunchConfig};
use warpheap_tasks::{CHILDREN, Family, Kernels, SUMS, Tree};

/// Families of a level for which there is room.
const ROOM: usize = 1 << 21;
/// Levels that are queued before the host looks whether one was the last.
const TOGETHER: u32 = 64;

/// Walks the tree, which has at most so many levels, with so many lanes in each launch.
pub(crate) fn by_levels(
    device: &Device,
    kernels: &Kernels,
    tree: Tree,
    most: u32,
    lanes: u32,
) -> Result<Walk, Box<dyn Error>> {
    let (mut found, families) = begin(tree);
    let mut first = vec![Family::DONE; ROOM];
    first[..families.len()].copy_from_slice(&families);
    let mut from = DeviceVec::from_slice(device, &first)?;
    let mut to = DeviceVec::<Family>::zeroed(device, ROOM)?;
    let most = most.next_multiple_of(TOGETHER) as usize;
    let mut sizes = vec![0; most + 1];
    sizes[0] = families.len() as u32;
    let sizes = DeviceVec::from_slice(device, &sizes)?;
    let sums = DeviceVec::<u32>::zeroed(device, SUMS)?;
    let tree = DeviceBox::new(device, tree)?;
    let shape = LaunchConfig::for_num_elems(lanes);
    let stream = device.stream()?;

    let begun = Instant::now();
    let mut level = 0;
    let mut last = u32::MAX;
    while last != 0 {
        if level as usize == most {
            return Err(format!("tasks are left after {level} levels").into());
        }
        let mut queued = Vec::new();
        for _ in 0..TOGETHER {
            queued.push(kernels.one_level_launch(shape, &tree, &from, &to, &sizes, &sums, level));
            swap(&mut from, &mut to);
            level += 1;
        }
        stream.launch_all(queued)?;
        last = stream.read(&sizes)?.wait()?[level as usize];
    }
    stream.wait()?;
    let time = begun.elapsed();

    for (size, level) in sizes.to_vec()?.into_iter().zip(2..) {
        if size as usize > ROOM {
            return Err(format!("level {level} has more than {ROOM} families").into());
        }
        if size != 0 {
            found.tasks += u64::from(size * CHILDREN);
            found.levels = level;
        }
    }
    found.sum = sums
        .to_vec()?
        .into_iter()
        .fold(found.sum, u32::wrapping_add);
    Ok(Walk {
        found,
        time,
        launches: level,
    })
}
