//! Run mode: several OS threads, each runs one warp after the other to its end.

use crate::job::Job;
use crate::team::{Alone, Team};
use crate::warp::Warp;
use std::sync::Arc;
use std::thread;
use warpheap_rt::arch::simt::set_current;

/// Runs the launch on up to `threads` OS threads.
pub(crate) fn run(job: &Arc<Job>, threads: usize) {
    let chunk = (job.warps() / (threads as u64 * 16)).clamp(1, 256);
    let workers = job.warps().div_ceil(chunk).min(threads as u64);
    // A thread that is unwinding cannot run lanes, see `simt`.
    let helps = !thread::panicking();
    thread::scope(|scope| {
        let mut others = 0;
        for _ in helps as u64..workers {
            let job = job.clone();
            let name = thread::Builder::new().name("warpheap-host".into());
            match name.spawn_scoped(scope, move || work(&job, chunk)) {
                Ok(_) => others += 1,
                // Fewer workers do the same work.
                Err(error) => tracing::warn!(%error, "an emulator thread could not be started"),
            }
        }
        if helps {
            work(job, chunk);
        } else if others == 0 {
            job.fail("no thread could be started to run it");
        }
    });
}

fn work(job: &Arc<Job>, chunk: u64) {
    let _alone = Alone::new();
    if job.width == 1 || job.block_dim == 1 {
        return work_single(job, chunk);
    }
    let mut team = match Team::new(job, None) {
        Ok(team) => team,
        Err(error) => return job.no_stack(&error),
    };
    loop {
        let numbers = job.take(chunk);
        if numbers.is_empty() {
            return;
        }
        for number in numbers {
            if job.stopped() {
                return;
            }
            run_warp(&mut team, number);
        }
    }
}

/// Warps of one lane need no fibers: nothing ever waits.
fn work_single(job: &Arc<Job>, chunk: u64) {
    let warp = Warp::new(job, None);
    loop {
        let numbers = job.take(chunk);
        if numbers.is_empty() {
            return;
        }
        for number in numbers {
            if job.stopped() {
                return;
            }
            warp.begin(number);
            // SAFETY: the warp outlives the guard of the caller's caller only in that nothing runs
            // as a lane after this loop; it is replaced before anything else is called.
            unsafe { set_current(warp.slot(0)) };
            warp.run_lane(0, std::ptr::null());
        }
    }
}

fn run_warp(team: &mut Team, number: u64) {
    team.warp.begin(number);
    while !team.warp.done() {
        let runnable = team.warp.runnable();
        if runnable != 0 {
            team.resume(runnable.trailing_zeros());
        } else if !team.warp.release_first() {
            team.warp.diverged();
        }
        if team.warp.job.stopped() {
            return team.cancel();
        }
    }
}
