//! Explore mode: one OS thread runs all lanes; the scheduler says which, step by step.

use crate::HostConfig;
use crate::describe::describe;
use crate::job::Job;
use crate::model::{Model, Sites};
use crate::schedule::{Scheduler, Seat};
use crate::team::{Alone, Team};
use crate::warp::Explored;
use crate::workgroup::Block;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

/// Runs the launch, which is number `number` of its device, as `seed` says.
pub(crate) fn explore(job: &Arc<Job>, config: &HostConfig, seed: u64, number: u64) {
    let run = || match Explorer::new(job, config, seed, number) {
        Ok(mut explorer) => explorer.run(),
        Err(error) => job.no_stack(&error),
    };
    if !thread::panicking() {
        return run();
    }
    // A thread that is unwinding cannot run lanes, see `simt`.
    thread::scope(|scope| {
        let name = thread::Builder::new().name("warpheap-host".into());
        if let Err(error) = name.spawn_scoped(scope, run) {
            job.fail(&format!("no thread could be started to run it: {error}"));
        }
    });
}

struct Explorer<'a> {
    // Dropped in this order: lanes that the teams unwind may still call the emulator.
    teams: Vec<Team>,
    /// What the lanes of each team can do.
    seats: Vec<Seat>,
    /// The blocks that have begun and not ended.
    blocks: BTreeMap<u32, Rc<Block>>,
    scheduler: Rc<Scheduler>,
    model: Option<Rc<RefCell<Model>>>,
    job: &'a Arc<Job>,
    _alone: Alone,
}

impl<'a> Explorer<'a> {
    fn new(
        job: &'a Arc<Job>,
        config: &HostConfig,
        seed: u64,
        number: u64,
    ) -> std::io::Result<Self> {
        let count = job.warps().min(config.window as u64) as usize;
        let scheduler = Rc::new(Scheduler::new(seed, number, count, config.max_steps));
        let alone = Alone::new(config.races || !job.unwritten.is_empty());
        let model = config.races.then(|| {
            let sites = Sites::without(config.left_out.clone());
            Rc::new(RefCell::new(Model::new(seed, number, sites)))
        });
        let team = |seat| {
            let explored = Explored {
                scheduler: scheduler.clone(),
                seat,
                model: model.clone(),
            };
            Team::new(job, Some(explored))
        };
        Ok(Explorer {
            teams: (0..count).map(team).collect::<Result<_, _>>()?,
            seats: vec![Seat::default(); count],
            blocks: BTreeMap::new(),
            scheduler,
            model,
            job,
            _alone: alone,
        })
    }

    fn run(&mut self) {
        for seat in 0..self.teams.len() {
            self.fill(seat);
        }
        loop {
            while let Some((seat, lane)) = self.scheduler.next(&self.seats) {
                let block = self.teams[seat].warp.block();
                let rounds = block.rounds();
                self.go_on(seat, lane);
                if self.scheduler.gave_up() {
                    self.give_up(seat, lane);
                }
                if self.job.stopped() {
                    return self.teams.iter_mut().for_each(Team::cancel);
                }
                self.look(seat);
                if block.rounds() != rounds {
                    self.wake_all();
                }
            }
            // Blocks are left only if warps wait for others that have no seat yet.
            if self.blocks.is_empty() {
                return;
            }
            if !self.add_seat() {
                return self.teams.iter_mut().for_each(Team::cancel);
            }
        }
    }

    /// The next warp of the launch, if there is one, takes the seat.
    fn fill(&mut self, seat: usize) {
        self.seats[seat] = Seat::default();
        let Some(number) = self.job.take(1).next() else {
            return;
        };
        let lanes = self.job.block_dim;
        let block = self.blocks.entry(self.job.block_of(number));
        let block = block.or_insert_with(|| Rc::new(Block::new(lanes)));
        self.scheduler.seated(seat);
        let warp = &self.teams[seat].warp;
        warp.begin(number, block);
        self.seats[seat].runnable = warp.runnable();
    }

    /// One more seat, with the next warp of the launch; whether that worked.
    fn add_seat(&mut self) -> bool {
        let seat = self.teams.len();
        let explored = Explored {
            scheduler: self.scheduler.clone(),
            seat,
            model: self.model.clone(),
        };
        match Team::new(self.job, Some(explored)) {
            Ok(team) => self.teams.push(team),
            Err(error) => {
                self.job.no_stack(&error);
                return false;
            }
        }
        self.seats.push(Seat::default());
        self.scheduler.add_seat();
        self.fill(seat);
        let filled = self.seats[seat] != Seat::default();
        if !filled {
            // All warps have seats, so lanes wait for such as never come.
            for (index, block) in &self.blocks {
                self.job
                    .fail(&format!("block {index}: {}", block.diverged("")));
            }
        }
        filled
    }

    /// Lets go on who waits for a block whose operation is complete.
    fn wake_all(&mut self) {
        for (team, seat) in self.teams.iter().zip(&mut self.seats) {
            if team.warp.wake_block() {
                seat.runnable = team.warp.runnable();
            }
        }
    }

    /// Lets a lane run until it leaves or is made to.
    fn go_on(&mut self, seat: usize, lane: u32) {
        let team = &mut self.teams[seat];
        if team.warp.at_active() >> lane & 1 == 1 {
            let group = team.warp.group_of(lane);
            team.warp.release(self.scheduler.part(group, lane));
        }
        team.resume(lane);
    }

    /// Looks at what a warp can do after one of its lanes has run.
    fn look(&mut self, seat: usize) {
        let warp = &self.teams[seat].warp;
        if warp.done() {
            if warp.block().done() {
                self.blocks.remove(&warp.block_index());
            }
            return self.fill(seat);
        }
        self.seats[seat] = Seat {
            runnable: warp.runnable(),
            at_active: warp.at_active(),
        };
        if self.seats[seat] == Seat::default() && !warp.waits_for_block() {
            warp.diverged();
        }
    }

    #[cold]
    fn give_up(&self, seat: usize, lane: u32) {
        let warp = &self.teams[seat].warp;
        let steps = self.scheduler.max_steps();
        warp.fail(
            None,
            &format!(
                "deadlock or livelock: no lane has ended in {steps} steps; lane {lane} is running; {}",
                describe(warp)
            ),
        );
    }
}
