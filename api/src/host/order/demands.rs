//! Demands, read from the arguments of a launch where there is one: nothing is put aside for it.

use super::Demand;
use crate::host::{Arg, Launch};
use std::collections::HashSet;
use std::vec::Vec;

/// What somebody is about to do: what a launch does with its arguments, and some more.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Demands<'a> {
    args: &'a [Arg],
    more: &'a [Demand],
}

impl<'a> Demands<'a> {
    /// Those of a launch with these arguments.
    pub(in crate::host) fn of(args: &'a [Arg]) -> Self {
        Demands { args, more: &[] }
    }

    pub(in crate::host) fn iter(self) -> impl Iterator<Item = Demand> + 'a {
        Demand::of(self.args).chain(self.more.iter().copied())
    }

    pub(in crate::host) fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }
}

impl<'a> From<&'a [Demand]> for Demands<'a> {
    fn from(more: &'a [Demand]) -> Self {
        Demands { args: &[], more }
    }
}

impl Demand {
    /// The demands of several launches, each once.
    pub(in crate::host) fn of_all(launches: &[Launch<'_>]) -> Vec<Demand> {
        let all = launches.iter().flat_map(|launch| Demand::of(launch.args));
        all.collect::<HashSet<_>>().into_iter().collect()
    }
}
