//! Things sorted by whom they belong to: on the host, and on the device.

use crate::room::{Borrowed, Spare, Summed};
use crate::threads::in_parts;
use std::time::Duration;
use warpheap::api::Element;
use warpheap::{Device, DeviceError, DeviceVec, Prepared};
use warpheap_applications::Kernels;

/// Things that are worth a thread.
const LEAST: u32 = 1 << 14;

/// Some of `things` for each of so many ranks, as `owner` says, in their order; on several threads.
pub fn by_owner<T: Copy + Send + Sync>(
    things: &[T],
    ranks: usize,
    owner: impl Fn(&T) -> usize + Sync,
) -> Vec<Vec<T>> {
    let sorted = in_parts(things.len() as u32, LEAST, |range| {
        let mut parts = vec![Vec::new(); ranks];
        for thing in &things[range.start as usize..range.end as usize] {
            parts[owner(thing)].push(*thing);
        }
        parts
    });
    let mut parts = vec![Vec::new(); ranks];
    for some in sorted {
        for (part, things) in parts.iter_mut().zip(some) {
            part.extend(things);
        }
    }
    parts
}

/// What a device has sorted by ranks.
pub struct Cut<T: Element> {
    /// What goes to rank 0, behind it what goes to rank 1, and so on; behind the last there is anything.
    pub all: Borrowed<T>,
    /// How much goes to each.
    pub lengths: Vec<usize>,
}

/// Sorting on a device, round by round: lanes count what they have for each rank, and then put it where the sums of these counts say.
pub struct Cutting<'a> {
    device: &'a Device,
    kernels: &'a Kernels,
    ranks: usize,
    /// Things that are worth a lane.
    each: usize,
    /// Lanes that count together.
    sharing: u32,
    places: Summed,
    /// For what was cut: the memory of a round that was sent is used again.
    spare: Spare,
    /// Time of kernels.
    pub time: Duration,
}

/// How many lanes sort for how many ranks: those that count together, `i` of so many, count what they have for rank `r` in number
/// `r * counting + i`.
#[derive(Clone, Copy)]
pub struct Lanes {
    /// Ranks.
    pub parts: u32,
    /// Lanes.
    pub lanes: u32,
    /// Counters of a rank.
    counting: u32,
}

/// Most lanes: enough for every device.
const MOST_LANES: usize = 1 << 20;
/// Counters of all lanes, unless there are more than a thousand ranks.
const COUNTERS: usize = 1 << 20;

impl<'a> Cutting<'a> {
    /// For so many ranks, on a device with these kernels; so many things are worth a lane, and so many lanes count together.
    pub fn new(
        device: &'a Device,
        kernels: &'a Kernels,
        ranks: usize,
        each: usize,
        sharing: u32,
    ) -> Self {
        Cutting {
            device,
            kernels,
            ranks,
            each,
            sharing,
            places: Summed::new(device),
            spare: Spare::default(),
            time: Duration::ZERO,
        }
    }

    /// Gets memory for `rounds` that are there at the same time, each of so many things.
    ///
    /// # Errors
    /// Those of the device.
    pub fn reserve<T: Element + Copy>(
        &mut self,
        rounds: usize,
        things: usize,
    ) -> Result<(), DeviceError> {
        let Lanes {
            parts, counting, ..
        } = self.lanes(things);
        self.places.reserve(parts as usize * counting as usize)?;
        let round = |_| self.spare.vec::<T>(self.device, things);
        (0..rounds)
            .map(round)
            .collect::<Result<Vec<_>, _>>()
            .map(drop)
    }

    /// The lanes for so many things.
    pub fn lanes(&self, things: usize) -> Lanes {
        let most = (COUNTERS / self.ranks).saturating_mul(self.sharing as usize);
        let most = most.clamp(1 << 10, MOST_LANES);
        let lanes = things.div_ceil(self.each).clamp(1, most) as u32;
        Lanes {
            parts: self.ranks as u32,
            lanes,
            counting: lanes.div_ceil(self.sharing),
        }
    }

    /// Sorts up to `most` things: the launches of `count` add to the counters, which are zero, and that of `scatter` gets the first place
    /// of each for each rank, which it leaves behind the last, and room for all.
    ///
    /// # Errors
    /// Those of the device.
    pub fn cut<T: Element + Copy>(
        &mut self,
        Lanes {
            parts, counting, ..
        }: Lanes,
        most: usize,
        count: impl FnOnce(&DeviceVec<u32>) -> Vec<Prepared>,
        scatter: impl FnOnce(&DeviceVec<u32>, &DeviceVec<T>) -> Prepared,
    ) -> Result<Cut<T>, DeviceError> {
        let each = counting as usize;
        let all = self.spare.vec(self.device, most)?;
        // All at once: between two launches others of the device would have their turn.
        let (places, time) =
            self.places
                .of(self.kernels, parts as usize * each, count, |places| {
                    scatter(places, &all)
                })?;
        self.time += time;
        let (mut lengths, mut begin) = (Vec::new(), 0);
        for part in 1..=parts as usize {
            let mut end = [0];
            places.copy_range_to(part * each - 1, &mut end)?;
            lengths.push((end[0] - begin) as usize);
            begin = end[0];
        }
        Ok(Cut { all, lengths })
    }
}

impl<T: Element + Copy> Cut<T> {
    /// What was cut, in host memory.
    ///
    /// # Errors
    /// Those of the device.
    #[cfg(test)]
    pub fn to_vec(&self) -> Result<Vec<T>, DeviceError> {
        let mut all = self.all.to_vec()?;
        all.truncate(self.lengths.iter().sum());
        Ok(all)
    }
}
