//! Demands, read from the arguments of a launch where there is one: nothing is put aside for it.

use super::Demand;
use crate::host::{Arg, BufferId, Launch};
use std::collections::HashSet;
use std::vec::Vec;

/// What somebody is about to do: what a launch does with its arguments, and some more.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Demands<'a> {
    args: &'a [Arg],
    bound: Option<BufferId>,
    more: &'a [Demand],
}

impl<'a> Demands<'a> {
    /// There are none.
    pub(in crate::host) const NONE: Self = Demands {
        args: &[],
        bound: None,
        more: &[],
    };

    /// Those of a launch.
    pub(in crate::host) fn of(launch: &Launch<'a>) -> Self {
        Demands {
            args: launch.args,
            bound: launch.bound,
            ..Self::NONE
        }
    }

    pub(in crate::host) fn iter(self) -> impl Iterator<Item = Demand> + 'a {
        let given = Demand::of(self.args).chain(self.bound.map(Demand::heap));
        given.chain(self.more.iter().copied())
    }

    pub(in crate::host) fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }
}

impl<'a> From<&'a [Demand]> for Demands<'a> {
    fn from(more: &'a [Demand]) -> Self {
        Demands {
            more,
            ..Demands::NONE
        }
    }
}

impl Demand {
    /// The demands of several launches, each once.
    pub(in crate::host) fn of_all(launches: &[Launch<'_>]) -> Vec<Demand> {
        let all = launches
            .iter()
            .flat_map(|launch| Demands::of(launch).iter());
        all.collect::<HashSet<_>>().into_iter().collect()
    }
}
