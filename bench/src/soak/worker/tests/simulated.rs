//! A heap of the host that does what plans say, or something wrong.

use crate::soak::heap::{Came, Heap, SIDES};
use crate::soak::plan::{Plan, gives_back};
use crate::soak::table::{NOWHERE, byte_of};
use std::cell::Cell;
use std::collections::BTreeMap;
use warpheap_api::DevicePtr;
use warpheap_api::host::{Audit, DeviceError, PoolStats, Region, RegionUse, Snapshot, Usage};
use warpheap_bench_kernels::churn::{DAMAGED, FAILED, FREED};
use warpheap_bench_kernels::replay::{HAD, Place, RESIZED, SKIPPED};
use warpheap_bench_kernels::soak::{CALLOC, COUNTS, DIRTY, RESIZE};

/// Bytes in front of the blocks.
pub const METADATA: u64 = 4096;
/// Bytes of what it calls a unit.
const UNIT: u64 = 4096;
/// What is wrong begins in this launch.
const BEGINS: u32 = 40;

/// What a heap does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    Nothing,
    /// Hands out memory of another block; memory behind the pool.
    Overlap,
    Outside,
    /// A block that nobody has to do with is gone, lies elsewhere.
    Lost,
    Moved,
    /// Counts a free more; a damaged block.
    Count,
    Damaged,
    /// Counts a block of zeros that are none; hands out a block behind what it has to be a multiple of.
    Dirty,
    Misaligned,
    /// Tells of a block more; contradicts itself.
    Usage,
    Inconsistent,
    /// Refuses what there is room for; calls it impossible.
    Early,
    Unsupported,
    /// Ties up more from cycle to cycle: empty, in use.
    Creep,
    Ratio,
    /// Keeps what was given back in use; keeps it when it is made fresh.
    Leak,
    Stays,
    /// Does not grow; gives back what is in use.
    Size,
    Shrinks,
    /// The device fails.
    Fails,
    /// Never uses again what was given back, as it may.
    Never,
}

pub struct Simulated {
    pool: u64,
    bytes: u64,
    plant: Plant,
    places: [Vec<Place>; SIDES],
    /// Where blocks begin, and their bytes.
    live: BTreeMap<u64, u64>,
    failures: [u32; 3],
    launches: u32,
    looks: Cell<u32>,
}

impl Simulated {
    pub fn new(pool: u64, blocks: u32, plant: Plant) -> Self {
        Simulated {
            pool,
            bytes: pool,
            plant,
            places: [(); SIDES].map(|()| vec![NOWHERE; blocks as usize]),
            live: BTreeMap::new(),
            failures: [0; 3],
            launches: 0,
            looks: Cell::new(0),
        }
    }

    fn is_planted(&self, plant: Plant) -> bool {
        self.plant == plant && self.launches >= BEGINS
    }

    /// The first place that is large enough.
    fn malloc(&mut self, bytes: u32, align: u32) -> Option<Place> {
        let wanted = u64::from(bytes.max(1)).next_multiple_of(16);
        if self.is_planted(Plant::Early) || self.is_planted(Plant::Unsupported) {
            self.failures[if self.plant == Plant::Early { 0 } else { 2 }] += 1;
            self.launches = 0;
            return None;
        }
        let align = u64::from(align);
        let planted = self.is_planted(Plant::Misaligned) && align > 16;
        let behind = if planted { 16 } else { 0 };
        let mut begin = METADATA.next_multiple_of(align);
        for (&at, &length) in &self.live {
            if at >= begin + behind + wanted {
                break;
            }
            begin = begin.max((at + length).next_multiple_of(align));
        }
        begin += behind;
        if self.is_planted(Plant::Outside) {
            begin = self.bytes - 16;
        } else if begin + wanted > self.bytes {
            self.failures[0] += 1;
            return None;
        }
        self.live.insert(begin, wanted);
        if self.is_planted(Plant::Overlap) {
            begin = *self.live.keys().next()?;
        }
        Some(Place {
            block: DevicePtr::from_granule((begin / 16) as u32),
            bytes,
        })
    }

    fn free(&mut self, place: Place) {
        if self.plant != Plant::Never && !self.is_planted(Plant::Leak) {
            self.live.remove(&byte_of(place));
        }
    }

    fn one(&mut self, side: usize, plan: &Plan) -> Came {
        let mut counts = vec![0; COUNTS];
        for step in plan.of_blocks() {
            let mut place = self.places[side][step.block as usize];
            let there = !place.block.is_null();
            match step.what {
                _ if gives_back(step) && !there => counts[SKIPPED] += 1,
                _ if gives_back(step) => {
                    self.free(place);
                    counts[FREED] += 1;
                    place.block = DevicePtr::NULL;
                }
                what => match self.malloc(step.bytes, step.align) {
                    None => {
                        counts[FAILED] += 1;
                        place = if what == RESIZE { place } else { NOWHERE };
                    }
                    Some(new) if what == RESIZE && there => {
                        self.free(place);
                        counts[RESIZED] += 1;
                        place = new;
                    }
                    Some(new) => {
                        let planted = what == CALLOC && self.is_planted(Plant::Dirty);
                        counts[DIRTY] += u32::from(planted);
                        counts[HAD] += 1;
                        place = new;
                    }
                },
            }
            self.places[side][step.block as usize] = place;
        }
        self.launches += 1;
        counts[FREED] += u32::from(self.is_planted(Plant::Count));
        counts[DAMAGED] += u32::from(self.is_planted(Plant::Damaged));
        let is_idle = |block: usize| plan.steps.iter().all(|step| step.block as usize != block);
        let places = &mut self.places[side];
        let mut blocks = 0..places.len();
        let idle = blocks.find(|&block| !places[block].block.is_null() && is_idle(block));
        if let (Some(block), true) = (idle, self.launches >= BEGINS) {
            match self.plant {
                Plant::Lost => places[block].block = DevicePtr::NULL,
                Plant::Moved => places[block].block = DevicePtr::from_granule(5),
                _ => {}
            }
        }
        Came {
            counts,
            places: self.places[side].clone(),
        }
    }

    fn usage(&self) -> Usage {
        let used: u64 = self.live.values().sum();
        let looks = u64::from(self.looks.replace(self.looks.get() + 1));
        let tied = match self.plant {
            Plant::Creep if used == 0 => 40 * looks,
            Plant::Ratio => used * looks / 50,
            _ => 0,
        };
        Usage {
            used_bytes: used,
            committed_bytes: used + tied,
            live_blocks: Some(self.live.len() as u64 + u64::from(self.is_planted(Plant::Usage))),
            ..Usage::default()
        }
    }
}

impl Heap for Simulated {
    fn run(&mut self, plans: &[(usize, &Plan)]) -> Result<Vec<Came>, DeviceError> {
        if self.is_planted(Plant::Fails) {
            let what = "the emulator found a race".to_owned();
            return Err(DeviceError::Driver {
                device: "simulated".to_owned(),
                call: "submit",
                what,
            });
        }
        Ok(plans
            .iter()
            .map(|(side, plan)| self.one(*side, plan))
            .collect())
    }

    fn snapshot(&self) -> Result<Snapshot, DeviceError> {
        let stats = PoolStats {
            allocator: "Simulated",
            pool_bytes: self.bytes,
            metadata_bytes: METADATA,
            usage: self.usage(),
            failures: self.failures,
            refused_bytes: 0,
            mallocs: 0,
            frees: 0,
            malloc_bytes: 0,
            free_bytes: 0,
            budget: None,
        };
        let opaque = Region {
            offset: 0,
            bytes: self.bytes,
            usage: RegionUse::Opaque,
            units: 0,
            places: 0,
            live_blocks: None,
            used_bytes: 0,
        };
        Ok(Snapshot {
            sequence: 0,
            stats,
            unit: "pool",
            unit_bytes: UNIT,
            regions: vec![opaque],
        })
    }

    fn audit(&self) -> Result<Audit, DeviceError> {
        let mut audit = Audit::default();
        let right = !self.is_planted(Plant::Inconsistent);
        audit.expect(right, || "chunk 7 is wrong".to_owned());
        Ok(audit)
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        if self.plant != Plant::Stays {
            self.live.clear();
        }
        self.failures = [0; 3];
        self.places
            .iter_mut()
            .for_each(|places| places.fill(NOWHERE));
        Ok(())
    }

    fn grow_to(&mut self, bytes: u64) -> Result<(), DeviceError> {
        if self.plant != Plant::Size {
            self.bytes = bytes;
        }
        Ok(())
    }

    fn shrink(&mut self) -> Result<u64, DeviceError> {
        let last = self.live.last_key_value();
        let mut end = last.map_or(METADATA, |(begin, length)| begin + length);
        if self.plant == Plant::Shrinks {
            end = METADATA;
        }
        let least = end.max(self.pool / 2).min(self.bytes);
        let end = if self.plant == Plant::Shrinks {
            end
        } else {
            least
        };
        let given = self.bytes - end.max(METADATA);
        self.bytes -= given;
        Ok(given)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn metadata_bytes(&self) -> u64 {
        METADATA
    }
}
