//! The calls of MPI. Its errors end the job with its own message: that is how an MPI library comes.

use super::Lengths;
use crate::DistError;
use crate::reduce::Op;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::{Count, Threading};

/// MPI in this process; it ends when this is dropped, which waits for all ranks.
pub struct Mpi {
    world: SimpleCommunicator,
    local_rank: usize,
    // Last: what communicates goes before it.
    _universe: Universe,
}

impl Mpi {
    pub fn join() -> Result<Self, DistError> {
        // A device may have threads of its own, which do not call MPI.
        let started = mpi::initialize_with_threading(Threading::Funneled);
        let (universe, _) = started.ok_or(DistError::Joined)?;
        let world = universe.world();
        let local = world.split_shared(world.rank());
        Ok(Mpi {
            local_rank: unsigned(local.rank()),
            world,
            _universe: universe,
        })
    }

    pub fn rank(&self) -> usize {
        unsigned(self.world.rank())
    }

    pub fn size(&self) -> usize {
        unsigned(self.world.size())
    }

    pub fn local_rank(&self) -> usize {
        self.local_rank
    }

    pub fn machine(&self) -> Option<String> {
        mpi::environment::processor_name().ok()
    }

    pub fn exchange_numbers(&self, numbers: &[u64]) -> Vec<u64> {
        let mut received = vec![0; numbers.len()];
        self.world.all_to_all_into(numbers, &mut received[..]);
        received
    }

    pub fn exchange_bytes(&self, out: &[u8], sent: Lengths<'_>, into: &mut [u8], got: Lengths<'_>) {
        // The pointer of an empty vector is what some libraries take for `MPI_IN_PLACE`.
        let mut spare = [0; 2];
        let (none, no_room) = spare.split_at_mut(1);
        let out = if out.is_empty() { none } else { out };
        let into = if into.is_empty() { no_room } else { into };
        let (counts, begins) = places(sent);
        let out = Partition::new(out, counts, begins);
        let (counts, begins) = places(got);
        let mut into = PartitionMut::new(into, counts, begins);
        self.world.all_to_all_varcount_into(&out, &mut into);
    }

    pub fn all_gather_bytes(&self, mine: &[u8], all: &mut [u8], lengths: Lengths<'_>) {
        // As above.
        let mut spare = [0; 2];
        let (none, no_room) = spare.split_at_mut(1);
        let all = if all.is_empty() { no_room } else { all };
        let (counts, begins) = places(lengths);
        let mut all = PartitionMut::new(all, counts, begins);
        // One byte is nothing if the rank's length says so: the slice has as many as it sends.
        match mine.is_empty() {
            true => self.world.all_gather_varcount_into(&none[..0], &mut all),
            false => self.world.all_gather_varcount_into(mine, &mut all),
        }
    }

    pub fn reduce(&self, op: Op, numbers: &mut [u64]) {
        let op = match op {
            Op::Sum => SystemOperation::sum(),
            Op::Min => SystemOperation::min(),
            Op::Max => SystemOperation::max(),
        };
        // As many as MPI counts, and no large copy.
        for some in numbers.chunks_mut(1 << 16) {
            let mine = some.to_vec();
            self.world.all_reduce_into(&mine[..], some, op);
        }
    }

    pub fn meet(&self) {
        self.world.barrier();
    }

    pub fn abort(&self, code: u8) -> ! {
        self.world.abort(code.into())
    }
}

/// A rank or a number of ranks: MPI's are signed, and never negative.
fn unsigned(number: Count) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Lengths of pieces as MPI counts them, and where each begins. They are less than 2 GiB together.
fn places(lengths: Lengths<'_>) -> (Vec<Count>, Vec<Count>) {
    let mut end = 0;
    let place = |&length: &usize| {
        let begin = end;
        end += length as Count;
        (length as Count, begin)
    };
    lengths.iter().map(place).unzip()
}
