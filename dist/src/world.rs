//! [`World`]: the ranks of a job.

use crate::DistError;
use crate::link::Link;
#[cfg(feature = "mpi")]
use crate::nccl::Found;
use std::cell::Cell;
#[cfg(feature = "mpi")]
use std::cell::OnceCell;
use std::fmt::{self, Debug, Display};
use std::marker::PhantomData;
use std::time::Duration;

/// Bytes of a round when nobody says how many.
const ROUND: usize = 256 << 20;

/// The ranks of a job, as one of them sees them. It stays on the thread that joined.
pub struct World {
    link: Link,
    /// Bytes that went to other ranks.
    sent: Cell<u64>,
    round: usize,
    left: bool,
    #[cfg(feature = "mpi")]
    nccl: OnceCell<Found>,
    on_one_thread: PhantomData<*const ()>,
}

impl Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("World");
        shown.field("rank", &self.rank());
        shown.field("size", &self.size()).finish_non_exhaustive()
    }
}

impl World {
    /// Joins the ranks that a launcher of MPI started. A process that was started by itself is a world of one.
    ///
    /// # Errors
    /// [`DistError::NotBuilt`] without the feature `mpi`, in one of several processes; [`DistError::Joined`] if MPI was started in
    /// this process before.
    pub fn join() -> Result<Self, DistError> {
        Ok(World {
            link: Link::join()?,
            sent: Cell::new(0),
            round: ROUND,
            left: false,
            #[cfg(feature = "mpi")]
            nccl: OnceCell::new(),
            on_one_thread: PhantomData,
        })
    }

    /// Which rank this is, from 0.
    pub fn rank(&self) -> usize {
        self.link.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.link.size()
    }

    /// Which of the ranks of this machine this is, from 0.
    pub fn local_rank(&self) -> usize {
        self.link.local_rank()
    }

    /// Bytes that this rank has sent to others with [`exchange`](Self::exchange), what is made of it, and
    /// [`all_gather`](Self::all_gather), where a part counts for each rank that gets it.
    pub fn bytes_sent(&self) -> u64 {
        self.sent.get()
    }

    pub(crate) fn add_sent(&self, bytes: u64) {
        self.sent.set(self.sent.get() + bytes);
    }

    /// How many bytes a rank sends at a time, and how many it receives; 256 MiB unless it is set. An exchange takes as many rounds
    /// as it needs, and twice so much memory beside the parts. All ranks set the same; MPI has no more than 2 GiB.
    pub fn set_round_bytes(&mut self, bytes: usize) {
        self.round = bytes.min(i32::MAX as usize);
    }

    pub(crate) fn round(&self) -> usize {
        self.round
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// NCCL, once the ranks have looked for it.
    #[cfg(feature = "mpi")]
    pub(crate) fn found_nccl(&self) -> &OnceCell<Found> {
        &self.nccl
    }

    /// What happened on this rank, once all ranks are known to be well: a call of all ranks.
    ///
    /// If some are not, the lowest of them gets its error back, and has to end the job with it: all others wait in this call
    /// until it does. So a mistake that all ranks find is told once.
    ///
    /// # Errors
    /// What `outcome` has.
    pub fn agree<T, E>(&self, outcome: Result<T, E>) -> Result<T, E> {
        let me = self.rank() as u64;
        let nobody = self.size() as u64;
        let mut first = [if outcome.is_ok() { nobody } else { me }];
        self.link.reduce(crate::Op::Min, &mut first);
        if first[0] != nobody && first[0] != me {
            self.link.meet();
            self.fail(&format_args!(
                "rank {} went on after it had failed",
                first[0]
            ));
        }
        outcome
    }

    /// Leaves the world, once all ranks do: a call of all ranks.
    pub fn leave(mut self) {
        self.left = true;
    }

    /// Ends the job on all ranks with exit code 1, after a line on standard error that names the rank and the `cause`.
    pub fn fail(&self, cause: &dyn Display) -> ! {
        self.fail_with(1, cause)
    }

    /// As [`fail`](Self::fail), with this exit code.
    pub fn fail_with(&self, code: u8, cause: &dyn Display) -> ! {
        eprintln!("error: {}{cause}", self.named());
        if self.size() > 1 {
            // The launcher passes the line on, unless it ends the job first.
            std::thread::sleep(Duration::from_millis(200));
        }
        self.link.abort(code)
    }

    /// The rank in front of a message; nothing if it is the only one.
    fn named(&self) -> String {
        let (rank, size) = (self.rank(), self.size());
        match self.link.machine() {
            _ if size == 1 => String::new(),
            None => format!("rank {rank} of {size}: "),
            Some(machine) => format!("rank {rank} of {size} ({machine}): "),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The end of MPI waits for all ranks, and this one is no longer where they wait for it.
        if !self.left && self.size() > 1 {
            if std::thread::panicking() {
                self.fail(&"it panicked, with the message above");
            }
            self.fail(&"it gave up its world before the job was done: an error or an early return");
        }
    }
}
