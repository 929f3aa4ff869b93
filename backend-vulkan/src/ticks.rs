//! Timestamps become time.

use std::time::Duration;

/// The time between two timestamps of `bits` bits, whose counter may have begun anew in between.
pub(crate) fn elapsed(before: u64, after: u64, bits: u32, tick_ns: f64) -> Duration {
    let mask = u64::MAX >> (64 - bits.clamp(1, 64));
    let ticks = after.wrapping_sub(before) & mask;
    Duration::try_from_secs_f64(ticks as f64 * tick_ns * 1e-9).unwrap_or_default()
}

/// The time from one timestamp to another one, of which nobody knows which came first: the second is the later one if it is less
/// than half of the counter's way ahead. Nothing if it is not.
pub(crate) fn ahead(from: u64, to: u64, bits: u32, tick_ns: f64) -> Duration {
    let unused = 64 - bits.clamp(1, 64);
    let signed = (to.wrapping_sub(from) << unused) as i64;
    if signed < 0 {
        return Duration::ZERO;
    }
    elapsed(from, to, bits, tick_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_time_also_when_the_counter_begins_anew() {
        assert_eq!(elapsed(100, 350, 64, 4.0), Duration::from_nanos(1000));
        assert_eq!(
            elapsed(0xffff_fff0, 0x10, 32, 1.0),
            Duration::from_nanos(32)
        );
        // Bits beyond the counter's are undefined.
        assert_eq!(
            elapsed(0xab_0000_0001, 0x3, 32, 1.0),
            Duration::from_nanos(2)
        );
        assert_eq!(elapsed(0, 1, 64, f64::NAN), Duration::ZERO);
    }

    #[test]
    fn an_earlier_timestamp_is_not_ahead() {
        for bits in [36, 64] {
            assert_eq!(ahead(100, 350, bits, 4.0), Duration::from_nanos(1000));
            assert_eq!(ahead(350, 100, bits, 4.0), Duration::ZERO);
            assert_eq!(ahead(350, 350, bits, 4.0), Duration::ZERO);
        }
        assert_eq!(ahead(0xffff_fff0, 0x10, 32, 1.0), Duration::from_nanos(32));
        assert_eq!(ahead(0x10, 0xffff_fff0, 32, 1.0), Duration::ZERO);
    }
}
