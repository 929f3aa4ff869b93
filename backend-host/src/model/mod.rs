//! A model of memory that is weaker than the CPU's: which values an access may see, and which accesses race.
//!
//! The model is an operational one, of *views*. `docs/ordering.md` says what it allows, what it forbids, and how
//! that compares with PTX's and Vulkan's models. In short:
//!
//! - Every word has a history of the values that atomic accesses gave it. An atomic load sees any of them that is
//!   not older than one that the lane *knows*: one that it saw or stored itself, or that is ordered before. A
//!   read-modify-write sees the newest. So a store may stay unseen by others for long, whatever the lane stores
//!   afterwards.
//! - A release fence notes what the lane knows, and that goes along with everything it stores afterwards, and
//!   through read-modify-writes of others. An acquire fence makes known what came along with what the lane read
//!   before. A barrier makes known to all of its lanes what any of them knows.
//! - Two accesses of different lanes to a word, at least one of which changes it and at least one of which is
//!   plain, *race* unless the later one's lane knows the earlier one. A race stops the launch, so plain accesses
//!   need no history. To hand a block out and to take it back are plain writes of all of its words.

mod clock;
mod lane;
mod race;
mod shadow;
mod sites;

mod word;

pub use sites::{FenceKind, FenceSite};

use crate::schedule::Random;
use clock::Clock;
use lane::Lane;
pub(crate) use race::Race;
use shadow::Shadow;
pub(crate) use sites::Sites;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use warpheap_rt::arch::simt::{Access, Fence, Site};
use word::{Stamp, What};

/// How often, in sixteenths, a load sees an old value where it may: one of these for each launch.
const STALE: [u32; 5] = [0, 1, 4, 8, 14];

/// The memory of one launch, as its lanes see it. A lane's index here is its seat's number times the width, and
/// its place in the warp.
pub(crate) struct Model {
    lanes: Vec<Lane>,
    words: Shadow,
    random: Random,
    /// How often old values are seen, in sixteenths.
    stale: u32,
    /// By block: what its lanes at the barrier know, and what those at the last complete one knew.
    blocks: BTreeMap<u32, (Clock, Rc<Clock>)>,
    sites: Sites,
}

impl Model {
    pub fn new(seed: u64, launch: u64, sites: Sites) -> Self {
        // Not the scheduler's numbers, so that a seed means the same schedule with the model and without.
        let random = Random::new(!seed, launch);
        let stale = STALE[random.below(STALE.len() as u32) as usize];
        Model {
            lanes: Vec::new(),
            words: Shadow::default(),
            random,
            stale,
            blocks: BTreeMap::new(),
            sites,
        }
    }

    /// Lane `who` is from now on the lane of the launch with this index in this block.
    pub fn begin(&mut self, who: u32, block: u32, thread: u32) {
        for new in self.lanes.len() as u32..=who {
            self.lanes.push(Lane::new(new));
        }
        self.lanes[who as usize].begin(block, thread);
    }

    /// An access to a word of memory, which it makes: what is read, or was there before.
    ///
    /// # Errors
    /// The race, if it is one.
    ///
    /// # Safety
    /// `address` is valid, aligned, and changed by nothing but this while lanes run.
    pub unsafe fn access(
        &mut self,
        who: u32,
        address: *mut u32,
        access: Access,
        site: Site,
    ) -> Result<u32, Race> {
        // SAFETY: the caller's promise.
        let memory = unsafe { AtomicU32::from_ptr(address) };
        let what = match access {
            Access::Read => What::Read,
            Access::Write(_) => What::Write,
            Access::Load => What::Load,
            _ => What::Change,
        };
        let stamp = self.stamp(who, what, site);
        self.make(memory, access, stamp)
            .map_err(|earlier| Race::new(self, address as usize, *earlier, stamp))
    }

    fn make(
        &mut self,
        memory: &AtomicU32,
        access: Access,
        stamp: Stamp,
    ) -> Result<u32, Box<Stamp>> {
        let word = self.words.word(memory.as_ptr() as usize);
        let lane = &mut self.lanes[stamp.who as usize];
        let newest = memory.load(Ordering::Relaxed);
        let new = match access {
            Access::Read => return word.read(lane, stamp).map(|()| newest),
            Access::Write(value) => {
                word.write(lane, stamp)?;
                memory.store(value, Ordering::Relaxed);
                return Ok(value);
            }
            Access::Load => {
                let (random, stale) = (&self.random, self.stale);
                let old = |values| (random.below(16) < stale).then(|| random.below(values));
                return Ok(word.atomic(lane, stamp, newest)?.see(lane, old));
            }
            Access::CompareExchange { current, .. } if current != newest => {
                // One that fails is a load.
                let what = What::Load;
                let shared = word.atomic(lane, Stamp { what, ..stamp }, newest)?;
                return Ok(shared.see(lane, |_| None));
            }
            Access::CompareExchange { new, .. } => new,
            Access::Store(value) => value,
            Access::Change(change, value) => change.of(newest, value),
            Access::ReleaseSub(value) => newest.wrapping_sub(value),
        };
        let changes = !matches!(access, Access::Store(_));
        let shared = word.atomic(lane, stamp, newest)?;
        if let Access::ReleaseSub(_) = access
            && self.sites.counts(stamp.site, FenceKind::Release)
        {
            // It is of the epoch that the release covers.
            lane.release();
        }
        shared.push(lane, stamp.epoch, new, changes);
        memory.store(new, Ordering::Relaxed);
        Ok(newest)
    }

    fn stamp(&self, who: u32, what: What, site: Site) -> Stamp {
        let epoch = self.lanes[who as usize].epoch();
        Stamp {
            who,
            epoch,
            what,
            site,
        }
    }

    /// A block of so many words is handed out to a lane, or taken back from it: as if it wrote all of them.
    ///
    /// # Errors
    /// The first race.
    pub fn change_owner(
        &mut self,
        who: u32,
        block: std::ops::Range<usize>,
        handed_out: bool,
        site: Site,
    ) -> Result<(), Race> {
        let what = if handed_out { What::Malloc } else { What::Free };
        let stamp = self.stamp(who, what, site);
        for address in block.step_by(4) {
            let word = self.words.word(address);
            word.write(&self.lanes[who as usize], stamp)
                .map_err(|earlier| Race::new(self, address, *earlier, stamp))?;
        }
        Ok(())
    }

    /// A fence of lane `who`.
    pub fn fence(&mut self, who: u32, fence: Fence, site: Site) {
        let lane = &mut self.lanes[who as usize];
        match fence {
            Fence::Release if self.sites.counts(site, FenceKind::Release) => lane.release(),
            Fence::Acquire if self.sites.counts(site, FenceKind::Acquire) => lane.acquire(),
            _ => {}
        }
    }

    /// Whether the barrier in this place orders anything.
    pub fn orders(&mut self, site: Site) -> bool {
        self.sites.counts(site, FenceKind::Barrier)
    }

    /// These lanes are at a barrier together.
    pub fn barrier(&mut self, lanes: impl Iterator<Item = u32> + Clone) {
        if lanes.clone().nth(1).is_none() {
            // Nobody to learn from, and hearing of itself would blur what it knows of its seat.
            return;
        }
        let mut all = Clock::default();
        for who in lanes.clone() {
            all.join(self.lanes[who as usize].gives());
        }
        let all = Rc::new(all);
        for who in lanes {
            self.lanes[who as usize].learn(&all);
        }
    }

    /// Lane `who` comes to a barrier of its block; `last` says whether all others have come. Whether the barrier
    /// orders anything.
    pub fn comes_to_block(&mut self, who: u32, block: u32, site: Site, last: bool) -> bool {
        let orders = self.sites.counts(site, FenceKind::BlockBarrier);
        let (gathered, known) = self.blocks.entry(block).or_default();
        if orders {
            gathered.join(self.lanes[who as usize].gives());
        }
        if last {
            *known = Rc::new(std::mem::take(gathered));
        }
        orders
    }

    /// Lane `who` leaves the barrier of its block that is complete.
    pub fn leaves_block(&mut self, who: u32, block: u32) {
        if let Some((_, known)) = self.blocks.get(&block) {
            self.lanes[who as usize].learn(known);
        }
    }
}
