//! An exchange in rounds, beside which the rank works.
//!
//! A round has three steps: parts are cut, exchanged, and taken in. While this thread, which is the one that MPI knows, exchanges a
//! round, another takes in the one before and cuts the next.

use super::overlap::Stretches;
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
    let mut times = Times::default();
    let mut came = None;
    let mut out = (most[0] > 0).then(|| times.work.during(|| job.cut(0)));
    let mut round = 0;
    while let Some(sent) = out {
        round += 1;
        let (mut under_way, mut work) = (Stretches::default(), Stretches::default());
        let (next, outcome) = std::thread::scope(|scope| {
            let beside = scope.spawn(|| {
                work.during(|| {
                    if let Some(came) = came.take() {
                        job.take(came);
                    }
                    (round < most[0]).then(|| job.cut(round))
                })
            });
            let outcome = under_way.during(|| exchange(sent));
            match beside.join() {
                Ok(next) => (next, outcome),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        times.exchange.append(under_way);
        times.work.append(work);
        came = Some(outcome?);
        out = next;
        done();
    }
    times
        .work
        .during(|| came.into_iter().for_each(|came| job.take(came)));
    Ok(times)
}
