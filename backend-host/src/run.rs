//! Run mode: several OS threads, each runs one block after the other, and of a block one warp after
//! the other until it ends or waits for the others.

use crate::job::Job;
use crate::team::{Alone, Team};
use crate::warp::Warp;
use crate::workgroup::Block;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::{io, thread};
use warpheap_rt::arch::simt::set_current;

/// Runs the launch on up to `threads` OS threads.
pub(crate) fn run(job: &Arc<Job>, threads: usize) {
    let blocks = job.grid_dim as u64;
    let most = (256 / job.warps_per_block as u64).max(1);
    let chunk = (blocks / (threads as u64 * 16)).clamp(1, most);
    let workers = blocks.div_ceil(chunk).min(threads as u64);
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
    let _alone = Alone::new(!job.unwritten.is_empty());
    if job.block_dim == 1 {
        return work_single(job, chunk);
    }
    let mut crew = Crew {
        job,
        teams: Vec::new(),
        block: Rc::new(Block::new(job.block_dim)),
    };
    loop {
        let blocks = take_blocks(job, chunk);
        if blocks.is_empty() {
            return;
        }
        for block in blocks {
            if job.stopped() {
                return;
            }
            if let Err(error) = crew.run_block(block) {
                job.no_stack(&error);
            }
            if job.stopped() {
                return crew.teams.iter_mut().for_each(Team::cancel);
            }
        }
    }
}

/// Takes up to `most` blocks that no worker has taken: their numbers.
fn take_blocks(job: &Job, most: u64) -> Range<u64> {
    let per_block = job.warps_per_block as u64;
    let warps = job.take(most * per_block);
    warps.start / per_block..warps.end / per_block
}

/// Blocks of one lane need no fibers: nothing ever waits.
fn work_single(job: &Arc<Job>, chunk: u64) {
    let warp = Warp::new(job, None);
    let block = Rc::new(Block::new(1));
    loop {
        let numbers = take_blocks(job, chunk);
        if numbers.is_empty() {
            return;
        }
        for number in numbers {
            if job.stopped() {
                return;
            }
            block.begin();
            warp.begin(number, &block);
            // SAFETY: the warp outlives the guard of the caller's caller only in that nothing runs
            // as a lane after this loop; it is replaced before anything else is called.
            unsafe { set_current(warp.slot(0)) };
            warp.run_lane(0, std::ptr::null());
        }
    }
}

/// What a worker runs blocks with.
struct Crew<'a> {
    job: &'a Arc<Job>,
    /// As many as there were warps that waited for their block at the same time, and one more.
    teams: Vec<Team>,
    block: Rc<Block>,
}

impl Crew<'_> {
    /// Runs all warps of a block to their ends, or until the launch is stopped.
    ///
    /// # Errors
    /// As [`Team::new`].
    fn run_block(&mut self, number: u64) -> io::Result<()> {
        let per_block = self.job.warps_per_block as u64;
        self.block.begin();
        // A warp that waits for its block keeps its team. Where none does, one team runs them all.
        let mut waiting = 0;
        for warp in number * per_block..(number + 1) * per_block {
            if waiting == self.teams.len() {
                self.teams.push(Team::new(self.job, None)?);
            }
            let team = &mut self.teams[waiting];
            team.warp.begin(warp, &self.block);
            run_warp(team);
            if self.job.stopped() {
                return Ok(());
            }
            waiting += !team.warp.done() as usize;
        }
        let teams = &mut self.teams[..waiting];
        while !self.block.done() {
            let mut woken = false;
            for team in &mut *teams {
                if team.warp.wake_block() {
                    woken = true;
                    run_warp(team);
                }
                if self.job.stopped() {
                    return Ok(());
                }
            }
            if !woken {
                let what = self.block.diverged("");
                self.job.fail(&format!("block {number}: {what}"));
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Runs a warp until all its lanes have ended or wait for their block.
fn run_warp(team: &mut Team) {
    while !team.warp.done() && !team.warp.waits_for_block() {
        let runnable = team.warp.runnable();
        if runnable != 0 {
            team.resume(runnable.trailing_zeros());
        } else if !team.warp.release_first() {
            team.warp.diverged();
        }
        if team.warp.job.stopped() {
            return;
        }
    }
}
