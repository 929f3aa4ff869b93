//! An exchange in rounds, beside which the rank works.
//!
//! A round has three steps: parts are cut, exchanged, and taken in. While this thread, which is the one that MPI knows, exchanges a
//! round, another takes in the one before and cuts the next.

use super::overlap::Stretches;
use std::time::Duration;
use warpheap::api::Element;
use warpheap_dist::{DistError, Op, World};

/// Where the time of an exchange went.
#[derive(Debug, Default, Clone)]
pub struct Times {
    /// Sending and receiving, and waiting for other ranks.
    pub exchange: Stretches,
    /// Cutting, and taking in what came.
    pub work: Stretches,
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
    }

    /// Time of the exchange in which the rank cut and took in, too.
    pub fn hidden(&self) -> Duration {
        self.exchange.overlap(&self.work)
    }
}

/// What a rank sends and receives.
pub trait Rounds<T>: Send {
    /// The parts of a round, one for each rank; empty ones if this rank has fewer rounds than others.
    fn cut(&mut self, round: u64) -> Vec<Vec<T>>;

    /// What came in a round, from each rank a part.
    fn take(&mut self, parts: Vec<Vec<T>>);
}

/// Exchanges as many rounds as the rank needs that has most; `done` is told of each. A call of all ranks.
///
/// # Errors
/// As [`World::exchange`].
pub fn all<T: Element + Copy + Send>(
    world: &World,
    rounds: u64,
    job: &mut impl Rounds<T>,
    done: impl Fn(),
) -> Result<Times, DistError> {
    let mut most = [rounds];
    world.reduce(Op::Max, &mut most)?;
    let mut times = Times::default();
    let mut came = None;
    let mut out = match most {
        [0] => return Ok(times),
        _ => times.work.during(|| job.cut(0)),
    };
    for round in 0..most[0] {
        let (mut exchange, mut work) = (Stretches::default(), Stretches::default());
        let (next, outcome) = std::thread::scope(|scope| {
            let beside = scope.spawn(|| {
                work.during(|| {
                    if let Some(parts) = came.take() {
                        job.take(parts);
                    }
                    (round + 1 < most[0]).then(|| job.cut(round + 1))
                })
            });
            let outcome = exchange.during(|| world.exchange(&out));
            match beside.join() {
                Ok(next) => (next, outcome),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        times.exchange.append(exchange);
        times.work.append(work);
        came = Some(outcome?);
        out = next.unwrap_or_default();
        done();
    }
    times
        .work
        .during(|| came.into_iter().for_each(|parts| job.take(parts)));
    Ok(times)
}
