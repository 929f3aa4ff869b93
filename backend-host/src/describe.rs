//! How messages name lanes and tell what they are doing.

use crate::collective::lanes;
use crate::warp::{Wait, Warp};
use std::fmt::{self, Write};

/// A set of lanes, written like `lanes 0-3, 7`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes(pub u64);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ranges(lanes(self.0)))
    }
}

/// Indices of lanes, in order, written like `lanes 0-3, 7`.
pub(crate) fn ranges(mut lanes: impl Iterator<Item = u32>) -> String {
    let Some(mut first) = lanes.next() else {
        return "no lanes".into();
    };
    let (mut last, mut count, mut text) = (first, 1, String::new());
    let mut put = |first: u32, last: u32| {
        let comma = if text.is_empty() { "" } else { ", " };
        text += &if first == last {
            format!("{comma}{first}")
        } else {
            format!("{comma}{first}-{last}")
        };
    };
    for lane in lanes {
        if lane != last + 1 {
            put(first, last);
            first = lane;
        }
        (last, count) = (lane, count + 1);
    }
    put(first, last);
    format!("lane{} {text}", if count == 1 { "" } else { "s" })
}

/// Whether two lanes do the same, as far as a message goes.
fn alike(a: Wait, b: Wait) -> bool {
    match (a, b) {
        (Wait::Nothing, Wait::Nothing) => true,
        (Wait::Active(a), Wait::Active(b)) => a == b,
        (Wait::Op(a), Wait::Op(b)) => a.meets(&b),
        (Wait::Block(a), Wait::Block(b)) => a == b,
        _ => false,
    }
}

/// What every lane of a warp is doing, lanes that do the same together.
pub(crate) fn describe(warp: &Warp) -> String {
    let mut text = String::new();
    let (ended, mut left) = (warp.ended(), warp.present() & !warp.ended());
    while left != 0 {
        let wait = warp.wait(left.trailing_zeros());
        let group = lanes(left).filter(|&lane| alike(warp.wait(lane), wait));
        let group = group.fold(0, |set, lane| set | 1 << lane);
        left &= !group;
        let (who, one) = (Lanes(group), group.is_power_of_two());
        let verb = if one { "waits" } else { "wait" };
        // Writing to a string does not fail.
        let _ = match wait {
            Wait::Nothing => write!(text, "{who} could run; "),
            Wait::Active(site) => write!(text, "{who} {verb} at active in {site}; "),
            Wait::Op(op) => write!(
                text,
                "{who} {verb} at {} over {}; ",
                op.kind.name(),
                Lanes(op.mask)
            ),
            Wait::Block(op) => write!(text, "{who} {verb} at {op}; "),
        };
    }
    if ended != 0 {
        let verb = if ended.is_power_of_two() {
            "has"
        } else {
            "have"
        };
        let _ = write!(text, "{} {verb} ended; ", Lanes(ended));
    }
    text.truncate(text.trim_end_matches("; ").len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_as_ranges() {
        let text = |mask| Lanes(mask).to_string();
        assert_eq!(text(0), "no lanes");
        assert_eq!(text(1 << 5), "lane 5");
        assert_eq!(text(0b1000_1111), "lanes 0-3, 7");
        assert_eq!(text(u64::MAX), "lanes 0-63");
        assert_eq!(text(1 << 63 | 1), "lanes 0, 63");
    }
}
