//! What connects the ranks: nothing if there is one, MPI otherwise. Its calls take and give plain bytes and numbers.

#[cfg(feature = "mpi")]
mod by_mpi;

use crate::DistError;
use crate::launched;
use crate::reduce::Op;

/// The connection of this rank to all.
pub enum Link {
    /// There are no others.
    Alone,
    /// The processes that MPI knows.
    #[cfg(feature = "mpi")]
    Mpi(by_mpi::Mpi),
}

/// What goes to each rank in one call, or comes from each: the lengths of the pieces of a buffer, one after the other.
pub type Lengths<'a> = &'a [usize];

impl Link {
    /// Joins the others, if somebody started several processes.
    pub fn join() -> Result<Self, DistError> {
        #[cfg(feature = "mpi")]
        if launched::by_mpi() {
            return by_mpi::Mpi::join().map(Link::Mpi);
        }
        #[cfg(not(feature = "mpi"))]
        if let Some((rank, size)) = launched::one_of_several() {
            return Err(DistError::NotBuilt { rank, size });
        }
        Ok(Link::Alone)
    }

    pub fn rank(&self) -> usize {
        match self {
            Link::Alone => 0,
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.rank(),
        }
    }

    pub fn size(&self) -> usize {
        match self {
            Link::Alone => 1,
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.size(),
        }
    }

    /// The rank among those of the same machine.
    pub fn local_rank(&self) -> usize {
        match self {
            Link::Alone => 0,
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.local_rank(),
        }
    }

    /// The name of the machine, if it matters.
    pub fn machine(&self) -> Option<String> {
        match self {
            Link::Alone => None,
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.machine(),
        }
    }

    /// One number from each rank, of the numbers that each has for all.
    pub fn exchange_numbers(&self, numbers: &[u64]) -> Vec<u64> {
        match self {
            Link::Alone => numbers.to_vec(),
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.exchange_numbers(numbers),
        }
    }

    /// Sends the pieces of `out`, and fills those of `into`. Each buffer has less than 2 GiB.
    pub fn exchange_bytes(&self, out: &[u8], sent: Lengths<'_>, into: &mut [u8], got: Lengths<'_>) {
        match self {
            // A rank's own part does not travel.
            Link::Alone => {
                let _ = (out, sent, into, got);
            }
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.exchange_bytes(out, sent, into, got),
        }
    }

    /// Puts what each rank has, of these lengths, into `all`, one behind the other. They have less than 2 GiB together.
    pub fn all_gather_bytes(&self, mine: &[u8], all: &mut [u8], lengths: Lengths<'_>) {
        match self {
            Link::Alone => {
                let _ = (mine, all, lengths);
            }
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.all_gather_bytes(mine, all, lengths),
        }
    }

    /// Reduces arrays of the same length on all ranks.
    pub fn reduce(&self, op: Op, numbers: &mut [u64]) {
        match self {
            Link::Alone => {
                let _ = (op, numbers);
            }
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.reduce(op, numbers),
        }
    }

    /// Waits for all.
    pub fn meet(&self) {
        match self {
            Link::Alone => {}
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.meet(),
        }
    }

    /// Ends the job on all ranks.
    pub fn abort(&self, code: u8) -> ! {
        match self {
            Link::Alone => std::process::exit(code.into()),
            #[cfg(feature = "mpi")]
            Link::Mpi(mpi) => mpi.abort(code),
        }
    }
}
