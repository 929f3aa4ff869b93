//! How messages name lanes and tell what they are doing.

use crate::collective::lanes;
use crate::warp::{Wait, Warp};
use std::fmt::{self, Write};

/// A set of lanes, written like `lanes 0-3, 7`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes(pub u64);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("no lanes");
        }
        f.write_str(if self.0.is_power_of_two() {
            "lane "
        } else {
            "lanes "
        })?;
        let mut left = self.0;
        while left != 0 {
            let first = left.trailing_zeros();
            let length = (left >> first).trailing_ones();
            if left != self.0 {
                f.write_str(", ")?;
            }
            match length {
                1 => write!(f, "{first}")?,
                _ => write!(f, "{first}-{}", first + length - 1)?,
            }
            let run = u64::MAX >> (64 - length) << first;
            left &= !run;
        }
        Ok(())
    }
}

/// Whether two lanes do the same, as far as a message goes.
fn alike(a: Wait, b: Wait) -> bool {
    match (a, b) {
        (Wait::Nothing, Wait::Nothing) => true,
        (Wait::Active(a), Wait::Active(b)) => a == b,
        (Wait::Op(a), Wait::Op(b)) => a.meets(&b),
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
