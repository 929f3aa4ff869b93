//! Things sorted by whom they belong to: on the host, and on the device.

use crate::threads::in_parts;
use warpheap::api::Element;
use warpheap::{Device, DeviceError, DeviceVec};

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

/// Sorting on a device: lanes count what they have for each rank, and then put it where the sums of these counts say.
pub struct Cutting<'a> {
    device: &'a Device,
    /// Parts, one for each rank.
    pub parts: u32,
    /// Lanes that count.
    pub lanes: u32,
    counts: DeviceVec<u32>,
}

/// Most lanes: enough for every device.
const MOST_LANES: usize = 1 << 18;
/// Counters of all lanes, unless there are more than a thousand ranks.
const COUNTERS: usize = 1 << 20;

impl<'a> Cutting<'a> {
    /// Of so many things, of which `each` are worth a lane, for so many ranks.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(
        device: &'a Device,
        things: usize,
        each: usize,
        ranks: usize,
    ) -> Result<Self, DeviceError> {
        let most = (COUNTERS / ranks).clamp(1 << 10, MOST_LANES);
        let lanes = things.div_ceil(each).clamp(1, most);
        Ok(Cutting {
            device,
            parts: ranks as u32,
            lanes: lanes as u32,
            counts: DeviceVec::zeroed(device, ranks * lanes)?,
        })
    }

    /// Where lane `i` counts what it has for rank `r`: number `r * lanes + i`.
    pub fn counts(&self) -> &DeviceVec<u32> {
        &self.counts
    }

    /// Sorts what was counted: `scatter` gets the first place of each lane for each rank, and room for all.
    ///
    /// # Errors
    /// Those of `scatter`, and of the device.
    pub fn cut<T: Element + Copy>(
        mut self,
        scatter: impl FnOnce(&DeviceVec<u32>, &DeviceVec<T>) -> Result<(), DeviceError>,
    ) -> Result<Cut<T>, DeviceError> {
        let mut places = self.counts.to_vec()?;
        let mut end = 0;
        for place in &mut places {
            let begin = end;
            end += *place;
            *place = begin;
        }
        let begins: Vec<usize> = places
            .iter()
            .step_by(self.lanes as usize)
            .map(|&begin| begin as usize)
            .chain([end as usize])
            .collect();
        self.counts.copy_from(&places)?;
        let all = DeviceVec::uninit(self.device, end as usize)?;
        scatter(&self.counts, &all)?;
        let lengths = begins.windows(2).map(|two| two[1] - two[0]).collect();
        Ok(Cut { all, lengths })
    }
}
