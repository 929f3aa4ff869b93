//! Things sorted by whom they belong to: on the host, and on the device.

use crate::room::Summed;
use crate::threads::in_parts;
use std::time::Duration;
use warpheap::api::Element;
use warpheap::{Device, DeviceError, DeviceVec, LaunchReport};
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
    /// What goes to rank 0, behind it what goes to rank 1, and so on.
    pub all: DeviceVec<T>,
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
    places: Summed,
    /// Time of kernels.
    pub time: Duration,
}

/// How many lanes sort for how many ranks: lane `i` counts what it has for rank `r` in number `r * lanes + i`.
#[derive(Clone, Copy)]
pub struct Lanes {
    /// Ranks.
    pub parts: u32,
    /// Lanes.
    pub lanes: u32,
}

/// Most lanes: enough for every device.
const MOST_LANES: usize = 1 << 18;
/// Counters of all lanes, unless there are more than a thousand ranks.
const COUNTERS: usize = 1 << 20;

impl<'a> Cutting<'a> {
    /// For so many ranks, on a device with these kernels; so many things are worth a lane.
    pub fn new(device: &'a Device, kernels: &'a Kernels, ranks: usize, each: usize) -> Self {
        Cutting {
            device,
            kernels,
            ranks,
            each,
            places: Summed::new(device),
            time: Duration::ZERO,
        }
    }

    /// The lanes for so many things.
    pub fn lanes(&self, things: usize) -> Lanes {
        let most = (COUNTERS / self.ranks).clamp(1 << 10, MOST_LANES);
        Lanes {
            parts: self.ranks as u32,
            lanes: things.div_ceil(self.each).clamp(1, most) as u32,
        }
    }

    /// Sorts: `count` adds to the counters of all lanes, which are zero, and `scatter` gets the first place of each lane for each rank,
    /// and room for all.
    ///
    /// # Errors
    /// Those of the two, and of the device.
    pub fn cut<T: Element + Copy>(
        &mut self,
        Lanes { parts, lanes }: Lanes,
        count: impl FnOnce(&DeviceVec<u32>) -> Result<LaunchReport, DeviceError>,
        scatter: impl FnOnce(&DeviceVec<u32>, &DeviceVec<T>) -> Result<LaunchReport, DeviceError>,
    ) -> Result<Cut<T>, DeviceError> {
        // Behind the last counter there is one more, so that the sum of all is there.
        let (counters, lanes) = (parts as usize * lanes as usize, lanes as usize);
        let (places, time) = self.places.of(self.kernels, counters + 1, |counts| {
            counts.fill_zero()?;
            Ok(count(counts)?.device_time)
        })?;
        self.time += time;
        let mut begins = Vec::new();
        for begin in (0..=counters).step_by(lanes) {
            let mut place = [0];
            places.copy_range_to(begin, &mut place)?;
            begins.push(place[0] as usize);
        }
        let all = begins.last().copied().unwrap_or_default();
        let all = DeviceVec::uninit(self.device, all)?;
        self.time += scatter(&places, &all)?.device_time;
        let lengths = begins.windows(2).map(|two| two[1] - two[0]).collect();
        Ok(Cut { all, lengths })
    }
}
