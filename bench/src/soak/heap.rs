//! The heap that is worked on.

use super::plan::{MOST_STEPS, Plan};
use super::table::NOWHERE;
use crate::lab::Lab;
use warpheap_api::host::{
    Audit, Device, DeviceError, DeviceVec, HostAlloc, Pool, Prepared, Snapshot, Stream,
};
use warpheap_bench_kernels::Kernels;
use warpheap_bench_kernels::replay::Place;
use warpheap_bench_kernels::soak::{COUNTS, SoakEntry, Step};

/// Tables of blocks, of each of which a launch knows one: two launches run at the same time.
pub(super) const SIDES: usize = 2;

/// An allocator for which the kernel is compiled.
pub(super) trait Worked: HostAlloc + SoakEntry {}

impl<A: HostAlloc + SoakEntry> Worked for A {}

/// What came of a launch, as the lanes tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Came {
    /// As the kernel counts.
    pub counts: Vec<u32>,
    /// The table of places.
    pub places: Vec<Place>,
}

/// A heap that is worked on, and what it says of itself.
pub(super) trait Heap {
    /// Runs plans, each on the table of this number, at the same time if there are two.
    fn run(&mut self, plans: &[(usize, &Plan)]) -> Result<Vec<Came>, DeviceError>;

    /// Its parts.
    fn snapshot(&self) -> Result<Snapshot, DeviceError>;

    /// What contradicts itself in it.
    fn audit(&self) -> Result<Audit, DeviceError>;

    /// Makes it fresh.
    fn reset(&mut self) -> Result<(), DeviceError>;

    /// Enlarges it, to so many bytes.
    fn grow_to(&mut self, bytes: u64) -> Result<(), DeviceError>;

    /// Gives back what is behind the last block; how many bytes.
    fn shrink(&mut self) -> Result<u64, DeviceError>;

    /// Its bytes, metadata included.
    fn bytes(&self) -> u64;

    /// Bytes that can never be handed out.
    fn metadata_bytes(&self) -> u64;
}

/// What a launch works with.
struct Side {
    stream: Stream,
    steps: DeviceVec<Step>,
    begins: DeviceVec<u32>,
    places: DeviceVec<Place>,
    counts: DeviceVec<u32>,
}

/// A pool on a device.
pub(super) struct OnDevice<'a, A> {
    kernels: &'a Kernels,
    pool: Pool<A>,
    sides: Vec<Side>,
}

impl<'a, A: Worked> OnDevice<'a, A> {
    /// A pool for launches of up to so many lanes, on tables of so many blocks.
    pub fn new(
        kernels: &'a Kernels,
        device: &Device,
        pool: Pool<A>,
        lanes: u32,
        blocks: u32,
    ) -> Result<Self, DeviceError> {
        let steps = lanes as usize * MOST_STEPS as usize;
        let side = || {
            Ok::<_, DeviceError>(Side {
                stream: device.stream()?,
                steps: DeviceVec::zeroed(device, steps)?,
                begins: DeviceVec::zeroed(device, lanes as usize + 1)?,
                places: DeviceVec::from_slice(device, &vec![NOWHERE; blocks as usize])?,
                counts: DeviceVec::zeroed(device, COUNTS)?,
            })
        };
        Ok(OnDevice {
            kernels,
            pool,
            sides: (0..SIDES).map(|_| side()).collect::<Result<_, _>>()?,
        })
    }

    fn prepared(&mut self, side: usize, plan: &Plan) -> Result<Prepared, DeviceError> {
        let number = side as u32;
        let side = &mut self.sides[side];
        side.steps.copy_range_from(0, &plan.steps)?;
        side.begins.copy_range_from(0, &plan.begins)?;
        side.counts.fill_zero()?;
        Ok(self.kernels.soak_launch(
            &self.pool,
            Lab::shape(plan.lanes()),
            &side.steps,
            &side.begins,
            &side.places,
            &side.counts,
            number,
            plan.lanes(),
        ))
    }
}

impl<A: Worked> Heap for OnDevice<'_, A> {
    fn run(&mut self, plans: &[(usize, &Plan)]) -> Result<Vec<Came>, DeviceError> {
        let launches = plans.iter().map(|(side, plan)| self.prepared(*side, plan));
        let launches = launches.collect::<Result<Vec<_>, _>>()?;
        let together = plans.len() > 1;
        for (launch, (side, _)) in launches.into_iter().zip(plans) {
            match together {
                true => self.sides[*side].stream.launch(launch)?,
                false => launch.run().map(|_| ())?,
            }
        }
        for (side, _) in plans.iter().filter(|_| together) {
            self.sides[*side].stream.wait()?;
        }
        let came = plans.iter().map(|(side, _)| {
            let side = &self.sides[*side];
            Ok(Came {
                counts: side.counts.to_vec()?,
                places: side.places.to_vec()?,
            })
        });
        came.collect()
    }

    fn snapshot(&self) -> Result<Snapshot, DeviceError> {
        self.pool.snapshot()
    }

    fn audit(&self) -> Result<Audit, DeviceError> {
        self.pool.audit()
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.pool.reset()?;
        for side in &mut self.sides {
            side.places.copy_from(&vec![NOWHERE; side.places.len()])?;
        }
        Ok(())
    }

    fn grow_to(&mut self, bytes: u64) -> Result<(), DeviceError> {
        self.pool.grow_to(bytes)
    }

    fn shrink(&mut self) -> Result<u64, DeviceError> {
        self.pool.shrink_to_fit()
    }

    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }

    fn metadata_bytes(&self) -> u64 {
        self.pool.metadata_bytes()
    }
}

#[cfg(test)]
mod tests;
