//! An exchange in rounds, beside which the rank works.
//!
//! A round has three steps: parts are cut, exchanged, and taken in. While this thread, which is the one that MPI knows, exchanges a
//! round, another cuts those behind it and takes in those before it. It is two rounds ahead at most: a device that does other work as well
//! cuts when it has time, and the exchange does not wait for that.

use super::overlap::Stretches;
use std::sync::mpsc::{channel, sync_channel};
use std::time::Duration;
use warpheap_dist::{DistError, Op, World};

/// Where the time of an exchange went.
#[derive(Debug, Default, Clone)]
pub struct Times {
    /// Sending and receiving, and waiting for other ranks.
    pub exchange: Stretches,
    /// Cutting, and taking in what came.
    pub work: Stretches,
    /// Of the work, the kernels that cut.
    pub kernels: Duration,
}

impl Times {
    /// Time of the exchange in which the rank cut, took in, or did this other work.
    pub fn with(&self, work: &Stretches) -> Duration {
        self.exchange.overlap(&self.work.or(work))
    }

    /// Puts those of a later exchange behind these.
    pub fn append(&mut self, later: Times) {
        self.exchange.append(later.exchange);
        self.work.append(later.work);
        self.kernels += later.kernels;
    }

    /// Time of the exchange in which the rank cut and took in, too.
    pub fn hidden(&self) -> Duration {
        self.exchange.overlap(&self.work)
    }
}

/// What a rank sends and receives.
pub trait Rounds: Send {
    /// What it sends in a round, a part for each rank.
    type Out: Send;
    /// What comes in a round.
    type In: Send;

    /// What it sends in a round: nothing if this rank has fewer rounds than others.
    fn cut(&mut self, round: u64) -> Self::Out;

    /// Takes what came in a round.
    fn take(&mut self, came: Self::In);
}

/// Rounds that are cut and not exchanged: one that waits, and one that is being cut.
pub const AHEAD: usize = 2;

/// Does as many rounds as the rank needs that has most, each with an `exchange`; `done` is told of each. A call of all ranks.
///
/// # Errors
/// As the exchange; all ranks have it, or it ends the job.
pub fn all<J: Rounds, E: From<DistError>>(
    world: &World,
    rounds: u64,
    job: &mut J,
    mut exchange: impl FnMut(J::Out) -> Result<J::In, E>,
    done: impl Fn(),
) -> Result<Times, E> {
    let mut most = [rounds];
    world.reduce(Op::Max, &mut most)?;
    let (cut, to_send) = sync_channel(AHEAD - 1);
    let (take, came) = channel();
    let (most, mut under_way) = (most[0], Stretches::default());
    let (work, outcome) = std::thread::scope(|scope| {
        let beside = scope.spawn(move || {
            let mut work = Stretches::default();
            for round in 0..most {
                let out = work.during(|| {
                    came.try_iter().for_each(|came| job.take(came));
                    job.cut(round)
                });
                if cut.send(out).is_err() {
                    // The exchange has failed.
                    break;
                }
            }
            drop(cut);
            came.iter().for_each(|came| work.during(|| job.take(came)));
            work
        });
        let outcome = to_send.into_iter().try_for_each(|out| {
            let came = under_way.during(|| exchange(out))?;
            // It is taken until there is no more.
            let _ = take.send(came);
            done();
            Ok(())
        });
        drop(take);
        match beside.join() {
            Ok(work) => (work, outcome),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    outcome.map(|()| Times {
        exchange: under_way,
        work,
        kernels: Duration::ZERO,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Sends the numbers of its rounds.
    struct Numbers<'a> {
        cut: &'a AtomicU64,
        taken: &'a Mutex<Vec<u64>>,
    }

    impl Rounds for Numbers<'_> {
        type Out = u64;
        type In = u64;

        fn cut(&mut self, round: u64) -> u64 {
            self.cut.fetch_add(1, Ordering::Relaxed);
            round
        }

        fn take(&mut self, came: u64) {
            self.taken.lock().unwrap().push(came);
        }
    }

    #[test]
    fn rounds_come_in_order_and_none_is_cut_long_before_its_turn() {
        let world = World::join().unwrap();
        let (cut, taken) = (AtomicU64::new(0), Mutex::default());
        let (mut job, mut exchanged) = (
            Numbers {
                cut: &cut,
                taken: &taken,
            },
            0,
        );
        let exchange = |round: u64| -> Result<u64, DistError> {
            assert_eq!(round, exchanged);
            std::thread::sleep(Duration::from_millis(1));
            let ahead = cut.load(Ordering::Relaxed) - round - 1;
            assert!(ahead <= AHEAD as u64, "{ahead}");
            exchanged += 1;
            Ok(round * 3)
        };
        let times = all(&world, 20, &mut job, exchange, || {}).unwrap();
        let all: Vec<u64> = (0..20).map(|round| round * 3).collect();
        assert_eq!(*taken.lock().unwrap(), all);
        assert!(times.exchange.sum() >= Duration::from_millis(20));
    }

    #[test]
    fn an_exchange_that_fails_ends_the_rounds() {
        let world = World::join().unwrap();
        let (cut, taken) = (AtomicU64::new(0), Mutex::default());
        let mut job = Numbers {
            cut: &cut,
            taken: &taken,
        };
        let exchange = |round: u64| match round {
            5 => Err(DistError::OtherDevice),
            _ => Ok(round),
        };
        let outcome = all(&world, 1 << 40, &mut job, exchange, || {});
        assert!(matches!(outcome, Err(DistError::OtherDevice)));
        assert_eq!(*taken.lock().unwrap(), [0, 1, 2, 3, 4]);
    }
}
