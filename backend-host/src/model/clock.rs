//! What a lane knows of the others.

use std::rc::Rc;

/// For each lane of the model, up to which of its epochs everything is known: a vector clock. An epoch ends where
/// the lane releases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<u32>);

impl Clock {
    pub fn get(&self, who: u32) -> u32 {
        self.0.get(who as usize).copied().unwrap_or(0)
    }

    pub fn set(&mut self, who: u32, epoch: u32) {
        let at = who as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = epoch;
    }

    /// Knows what the other knows, too.
    pub fn join(&mut self, other: &Clock) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether all that the other knows is known.
    pub fn covers(&self, other: &Clock) -> bool {
        let common = self.0.len().min(other.0.len());
        let (first, rest) = other.0.split_at(common);
        first
            .iter()
            .zip(&self.0)
            .all(|(theirs, mine)| theirs <= mine)
            && rest.iter().all(|&theirs| theirs == 0)
    }
}

/// What is known after both, shared where one of them is enough.
pub(super) fn both(first: &Rc<Clock>, second: &Rc<Clock>) -> Rc<Clock> {
    if Rc::ptr_eq(first, second) || first.covers(second) {
        first.clone()
    } else if second.covers(first) {
        second.clone()
    } else {
        let mut all = Clock::clone(first);
        all.join(second);
        Rc::new(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(epochs: &[u32]) -> Rc<Clock> {
        Rc::new(Clock(epochs.to_vec()))
    }

    #[test]
    fn joins_are_shared_where_one_is_enough() {
        let (small, large) = (clock(&[1, 2]), clock(&[1, 3, 0]));
        assert!(Rc::ptr_eq(&both(&small, &large), &large));
        assert!(Rc::ptr_eq(&both(&large, &small), &large));
        assert!(clock(&[1, 3]).covers(&large));
        let other = clock(&[2, 0, 0, 7]);
        assert_eq!(both(&large, &other), clock(&[2, 3, 0, 7]));
    }
}
