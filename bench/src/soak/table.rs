//! Which blocks there are, and what may become of them in a launch.

use super::fault::Fault;
use super::plan::{Operation, Plan, gives_back};
use super::sizes::GRANULE;
use std::collections::HashMap;
use warpheap_api::DevicePtr;
use warpheap_bench_kernels::churn::{DAMAGED, FAILED, FREED};
use warpheap_bench_kernels::replay::{HAD, Place, RESIZED, SKIPPED};
use warpheap_bench_kernels::soak::{DIRTY, RESIZE, Step};

/// No block.
pub(super) const NOWHERE: Place = Place {
    block: DevicePtr::NULL,
    bytes: 0,
};

/// The blocks with numbers, and where they lie: what the table on the device has to be.
#[derive(Clone, Debug)]
pub(super) struct Table {
    places: Vec<Place>,
    /// What each block that is there has to lie at a multiple of: the power of two.
    aligns: Vec<u8>,
    /// Numbers of blocks that are there, and of those that are not.
    live: Vec<u32>,
    free: Vec<u32>,
    /// Where each number stands in one of them.
    at: Vec<u32>,
    bytes: u64,
}

/// What came of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Settled {
    /// Requests that were served, and blocks that were given back.
    pub operations: u64,
    /// Requests that failed.
    pub failed: u32,
}

/// What is known of the steps of one block.
#[derive(Clone, Copy)]
struct Steps {
    last: Step,
    /// Bytes that the block has if the last step, a resize, failed; none if it is not there then.
    otherwise: Option<u32>,
    /// Whether it may be that it is not there.
    gone: bool,
}

impl Table {
    /// A table of so many numbers, none of which is a block.
    pub fn new(numbers: u32) -> Self {
        Table {
            places: vec![NOWHERE; numbers as usize],
            aligns: vec![0; numbers as usize],
            live: Vec::new(),
            free: (0..numbers).rev().collect(),
            at: (0..numbers).rev().collect(),
            bytes: 0,
        }
    }

    /// Numbers of the blocks that are there, in no order.
    pub fn live(&self) -> &[u32] {
        &self.live
    }

    /// Numbers that are no block, in no order.
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// Where a block lies.
    pub fn place(&self, block: u32) -> Place {
        self.places[block as usize]
    }

    /// What a block that is there has to lie at a multiple of, in bytes.
    pub fn align(&self, block: u32) -> u32 {
        1 << self.aligns[block as usize]
    }

    /// The bytes of all blocks, as they were asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Forgets all blocks: the heap was made fresh.
    pub fn clear(&mut self) {
        *self = Table::new(self.places.len() as u32);
    }

    /// Compares what came of a launch with what may have come of it, and takes it over.
    ///
    /// # Errors
    /// What is not so.
    pub fn settle(
        &mut self,
        plan: &Plan,
        after: &[Place],
        counts: &[u32],
    ) -> Result<Settled, Fault> {
        if counts[DAMAGED] != 0 {
            return Err(Fault::Damaged(counts[DAMAGED]));
        }
        if counts[DIRTY] != 0 {
            return Err(Fault::Dirty(counts[DIRTY]));
        }
        let steps = self.steps_of(plan);
        self.compare(&steps, after)?;
        let before = self.live.len() as i64;
        // In the lanes' order, so that the same is done when it is repeated.
        for step in plan.of_blocks() {
            self.set(step, after[step.block as usize]);
        }
        let count = |which: usize| i64::from(counts[which]);
        let served = count(HAD) + count(RESIZED);
        let frees = plan.of_blocks().filter(|step| gives_back(step));
        let expect = |what, told, expected| match told == expected {
            true => Ok(()),
            false => Err(Fault::Count {
                what,
                told,
                expected,
            }),
        };
        let requests = i64::from(plan.requests());
        expect(
            "requests, served or failed",
            served + count(FAILED),
            requests,
        )?;
        let frees = frees.count() as i64;
        expect("frees", count(FREED) + count(SKIPPED), frees)?;
        let live = before + count(HAD) - count(FREED);
        expect("blocks", live, self.live.len() as i64)?;
        Ok(Settled {
            operations: (served + count(FREED)) as u64,
            failed: counts[FAILED],
        })
    }

    fn steps_of(&self, plan: &Plan) -> HashMap<u32, Steps> {
        let mut all: HashMap<u32, Steps> = HashMap::new();
        for &step in plan.of_blocks() {
            let place = self.place(step.block);
            let here = !place.block.is_null();
            let (otherwise, gone) = match (step.what, all.get(&step.block)) {
                (RESIZE, None) => (here.then_some(place.bytes), !here),
                (RESIZE, Some(before)) => (Some(before.last.bytes), before.gone),
                _ => (None, true),
            };
            let steps = Steps {
                last: step,
                otherwise,
                gone,
            };
            all.insert(step.block, steps);
        }
        all
    }

    fn compare(&self, steps: &HashMap<u32, Steps>, after: &[Place]) -> Result<(), Fault> {
        for (block, (&old, &new)) in (0..).zip(self.places.iter().zip(after)) {
            let (was, is) = (!old.block.is_null(), !new.block.is_null());
            let (right, last) = match steps.get(&block) {
                None => ((was, is) == (false, false) || old == new, None),
                Some(steps) => {
                    let failed = is && Some(new.bytes) == steps.otherwise;
                    // Who failed to resize a block that was there left it where it was.
                    let stays = old.block == new.block || !was;
                    let right = match is {
                        _ if gives_back(&steps.last) => !is,
                        true => new.bytes == steps.last.bytes || failed && stays,
                        false => steps.gone,
                    };
                    (right, Some(steps.last))
                }
            };
            if !right {
                return Err(Fault::Became {
                    block,
                    bytes: if was { old.bytes } else { 0 },
                    became: match is {
                        true => format!("one of {} bytes at {}", new.bytes, byte_of(new)),
                        false => "none".to_owned(),
                    },
                    last: Operation(last),
                });
            }
        }
        Ok(())
    }

    /// Takes over what became of the block of a step.
    fn set(&mut self, step: &Step, place: Place) {
        let block = step.block;
        self.aligns[block as usize] = step.align.max(GRANULE).ilog2() as u8;
        let old = self.places[block as usize];
        let (was, is) = (!old.block.is_null(), !place.block.is_null());
        self.bytes -= if was { u64::from(old.bytes) } else { 0 };
        self.bytes += if is { u64::from(place.bytes) } else { 0 };
        self.places[block as usize] = place;
        if was != is {
            let (from, to) = match is {
                true => (&mut self.free, &mut self.live),
                false => (&mut self.live, &mut self.free),
            };
            let at = self.at[block as usize] as usize;
            from.swap_remove(at);
            if let Some(&moved) = from.get(at) {
                self.at[moved as usize] = at as u32;
            }
            self.at[block as usize] = to.len() as u32;
            to.push(block);
        }
    }
}

/// The byte of the pool at which a block begins.
pub(super) fn byte_of(place: Place) -> u64 {
    u64::from(place.block.granule()) * u64::from(DevicePtr::<u8>::GRANULE_BYTES as u32)
}

#[cfg(test)]
mod tests;
