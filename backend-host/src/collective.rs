//! What collective operations over a set of lanes compute, and what is wrong with a call of one.

use crate::describe::Lanes;
use warpheap_api::LaneMask;

/// A collective operation over a set of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ballot,
    Shuffle,
    MatchAny,
    Barrier,
}

impl Kind {
    /// The name of the device function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Ballot => "ballot",
            Kind::Shuffle => "shuffle",
            Kind::MatchAny => "match_any",
            Kind::Barrier => "warp_barrier",
        }
    }
}

/// One lane's call of a collective operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub kind: Kind,
    /// The lanes that take part.
    pub mask: u64,
    /// What the lane brings.
    pub value: u32,
    /// The lane to shuffle from.
    pub source: u32,
    /// Whether it orders the accesses of its lanes in the model of memory.
    pub orders: bool,
}

/// A set of lanes as one number.
#[inline]
pub(crate) fn wide(mask: LaneMask) -> u64 {
    mask.lo as u64 | (mask.hi as u64) << 32
}

/// A set of lanes as the device code has it.
#[inline]
pub(crate) fn narrow(mask: u64) -> LaneMask {
    LaneMask {
        lo: mask as u32,
        hi: (mask >> 32) as u32,
    }
}

/// The lanes of a set, in order.
#[inline]
pub(crate) fn lanes(mut mask: u64) -> impl Iterator<Item = u32> + Clone {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        (mask != 0).then(|| {
            mask &= mask - 1;
            lane
        })
    })
}

impl Op {
    /// Whether two lanes are at the same operation.
    #[inline]
    pub(crate) fn meets(&self, other: &Op) -> bool {
        self.kind == other.kind && self.mask == other.mask
    }

    /// What is wrong with this call by `lane` of a warp with the lanes `present`, if something is.
    #[inline]
    pub(crate) fn wrong(&self, lane: u32, present: u64) -> Option<String> {
        let outside =
            self.kind == Kind::Shuffle && (self.source > 63 || self.mask >> self.source & 1 == 0);
        if self.mask >> lane & 1 == 1 && self.mask & !present == 0 && !outside {
            return None;
        }
        Some(self.explain(lane, present))
    }

    #[cold]
    fn explain(&self, lane: u32, present: u64) -> String {
        let name = self.kind.name();
        let mask = Lanes(self.mask);
        if self.mask >> lane & 1 == 0 {
            format!("{name} over {mask}: the set does not contain the calling lane")
        } else if self.mask & !present != 0 {
            format!("{name} over {mask}: the warp has only {}", Lanes(present))
        } else {
            format!(
                "{name} over {mask} from lane {}, which is not in the set",
                self.source
            )
        }
    }

    /// The answer where `lane` takes part alone.
    #[inline]
    pub(crate) fn alone(&self, lane: u32) -> u64 {
        match self.kind {
            Kind::Ballot if self.value == 0 => 0,
            Kind::Ballot | Kind::MatchAny => 1 << lane,
            Kind::Shuffle => self.value as u64,
            Kind::Barrier => 0,
        }
    }

    /// The answers of all lanes of the set, whose calls are `call`.
    pub(crate) fn answer(&self, call: impl Fn(u32) -> Op, give: impl Fn(u32, u64)) {
        match self.kind {
            Kind::Ballot => {
                let votes = lanes(self.mask).filter(|&lane| call(lane).value != 0);
                let answer = votes.fold(0, |set, lane| set | 1 << lane);
                lanes(self.mask).for_each(|lane| give(lane, answer));
            }
            Kind::Shuffle => {
                for lane in lanes(self.mask) {
                    give(lane, call(call(lane).source).value as u64);
                }
            }
            Kind::MatchAny => {
                let mut left = self.mask;
                while left != 0 {
                    let value = call(left.trailing_zeros()).value;
                    let equal = lanes(left).filter(|&lane| call(lane).value == value);
                    let group = equal.fold(0, |set, lane| set | 1 << lane);
                    lanes(group).for_each(|lane| give(lane, group));
                    left &= !group;
                }
            }
            Kind::Barrier => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn answers(kind: Kind, mask: u64, value: fn(u32) -> u32, source: fn(u32) -> u32) -> Vec<u64> {
        let call = |lane| Op {
            kind,
            mask,
            value: value(lane),
            source: source(lane),
            orders: false,
        };
        let given = RefCell::new(vec![0; 64]);
        call(0).answer(call, |lane, answer| {
            given.borrow_mut()[lane as usize] = answer;
        });
        given.into_inner()
    }

    #[test]
    fn each_operation_computes_what_it_says() {
        let mask = 0xffff_0000_ffff_0001;
        let odd = answers(Kind::Ballot, mask, |lane| lane & 1, |_| 0);
        assert_eq!(odd[63], mask & 0xaaaa_aaaa_aaaa_aaaa);
        assert_eq!(odd[1], 0, "lane 1 takes no part");
        let moved = answers(Kind::Shuffle, mask, |lane| lane * 3, |lane| lane ^ 1);
        assert_eq!(moved[17], 48);
        let equal = answers(Kind::MatchAny, mask, |lane| lane % 16, |_| 0);
        assert_eq!(equal[16], 1 | 1 << 16 | 1 << 48);
        assert_eq!(equal[63], 1 << 31 | 1 << 63);
    }

    #[test]
    fn wrong_calls_are_told() {
        let op = |kind, mask, source| Op {
            kind,
            mask,
            value: 0,
            source,
            orders: false,
        };
        let right = op(Kind::Shuffle, 0b1011, 3);
        assert_eq!(right.wrong(0, 0xff), None);
        let wrong = |op: Op, lane, present| op.wrong(lane, present).unwrap_or_default();
        assert!(wrong(right, 2, 0xff).contains("does not contain the calling lane"));
        assert!(wrong(right, 0, 0b111).contains("the warp has only lanes 0-2"));
        assert!(wrong(op(Kind::Shuffle, 0b1011, 2), 0, 0xff).contains("from lane 2"));
        assert!(wrong(op(Kind::Shuffle, 0b1011, 1 << 20), 0, 0xff).contains("not in the set"));
        assert_eq!(op(Kind::Ballot, 0b1011, 2).wrong(0, 0xff), None);
    }
}
