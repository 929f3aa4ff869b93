//! How numbers are written for people.

use crate::row::{Metric, OK, Row, Unit};
use crate::stats::Spread;

/// What a table writes for a unit: times are in microseconds there.
pub fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Millis => "µs",
        other => other.label(),
    }
}

/// A value in the unit that [`unit()`] names.
pub fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Millis => significant(value * 1e3),
        Unit::Bytes | Unit::Count if value.fract() == 0.0 => grouped(&format!("{value:.0}")),
        _ => significant(value),
    }
}

/// A value with its 10th and 90th percentile, where it varies.
pub fn spread(unit: Unit, spread: &Spread) -> String {
    let [median, low, high] = [spread.median, spread.p10, spread.p90].map(|v| value(unit, v));
    match spread.p10 == spread.p90 {
        true => median,
        false => format!("{median} ({low}..{high})"),
    }
}

/// A mark of an axis: `20 µs`, `1 ms`, `4 K`.
pub fn tick(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Millis => scaled(
            value * 1e6,
            &[("ns", 1e3), ("µs", 1e3), ("ms", 1e3), ("s", 1e3)],
        ),
        Unit::Nanos => scaled(value, &[("ns", 1e3), ("µs", 1e3), ("ms", 1e3), ("s", 1e3)]),
        Unit::Bytes => size(value),
        Unit::Count => scaled(value, &[("", 1e3), ("k", 1e3), ("M", 1e3), ("G", 1e3)]),
        _ => short(value),
    }
}

/// A cell with its allocator: `S1 ScatterAlloc lane 16 x 2^20`.
pub fn cell(row: &Row) -> String {
    format!(
        "{} {} {} {} x {}",
        row.scenario.name(),
        row.allocator,
        row.call.name(),
        row.case,
        lanes(row.n)
    )
}

/// A row in a line: its cell, its medians, and what is to be said of it.
pub fn line(row: &Row) -> String {
    let one = |metric: &Metric| {
        let median = value(metric.unit, metric.value.median);
        format!("{} {median} {}", metric.name, unit(metric.unit))
            .trim_end()
            .to_string()
    };
    let mut parts: Vec<String> = row.metrics.iter().map(one).collect();
    if parts.is_empty() || row.status != OK {
        parts.push(row.status.clone());
    }
    format!("{}: {}", cell(row), parts.join(", "))
}

/// A ratio: two digits behind the point while it is small.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "inf".into(),
        r if r < 100.0 => format!("{r:.2}"),
        r => significant(r),
    }
}

/// A number of bytes as sizes of requests are written: `16`, `4 K`.
pub fn size(bytes: f64) -> String {
    scaled(
        bytes,
        &[("", 1024.0), ("K", 1024.0), ("M", 1024.0), ("G", 1024.0)],
    )
}

/// A number of bytes with its unit: `8 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = [
        ("B", 1024.0),
        ("KiB", 1024.0),
        ("MiB", 1024.0),
        ("GiB", 1024.0),
    ];
    scaled(bytes as f64, &units)
}

/// A number of lanes: `2^20` for powers of two from 1024 on.
pub fn lanes(n: u32) -> String {
    match n.is_power_of_two() && n >= 1024 {
        true => format!("2^{}", n.ilog2()),
        false => n.to_string(),
    }
}

/// Seconds since 1970 as a date: `2026-11-21 09:30 UTC`.
pub fn date(unix_time: u64) -> String {
    let (days, seconds) = (unix_time / 86_400, unix_time % 86_400);
    // Days since 1 March of the year 0, in eras of 400 years of which each has as many days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let day = day - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = 400 * era + year + u64::from(month <= 2);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hours:02}:{minutes:02} UTC")
}

/// At least three significant digits, thousands apart.
fn significant(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        s if s == 0.0 || s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        s if s >= 1e-9 => (2 - s.log10().floor() as i32).clamp(0, 12) as usize,
        _ => 0,
    };
    grouped(&format!("{value:.digits$}"))
}

/// Digits in groups of three, from 10,000 on.
fn grouped(number: &str) -> String {
    let digits = number.chars().take_while(char::is_ascii_digit).count();
    if digits < 5 {
        return number.to_string();
    }
    let mut text = String::new();
    for (at, digit) in number.chars().enumerate() {
        if at > 0 && at < digits && (digits - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The number in the largest of these units of which it has at least one.
fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    let (mut value, mut name) = (value, "");
    for (at, (unit, step)) in units.iter().enumerate() {
        name = unit;
        // A hair below, since ticks are powers that were computed.
        if value.abs() < step * (1.0 - 1e-9) || at + 1 == units.len() {
            break;
        }
        value /= step;
    }
    match name {
        "" => short(value),
        name => format!("{} {name}", short(value)),
    }
}

/// As few digits as three significant ones need: `0.5`, `20`, `1.25`.
fn short(value: f64) -> String {
    let text = format!("{:.*}", if value.abs() < 10.0 { 2 } else { 0 }, value);
    let text = match value != 0.0 && value.abs() < 0.01 {
        true => format!("{value:.0e}"),
        false => text,
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits_and_times_are_microseconds() {
        assert_eq!(value(Unit::Millis, 0.0056), "5.60");
        assert_eq!(value(Unit::Millis, 0.0281), "28.1");
        assert_eq!(value(Unit::Millis, 4158.0), "4,158,000");
        assert_eq!(value(Unit::Millis, 0.0), "0");
        assert_eq!(value(Unit::Millis, 0.000_012), "0.0120");
        assert_eq!(value(Unit::Percent, 97.25), "97.2");
        assert_eq!(value(Unit::Count, 64.0), "64");
        assert_eq!(value(Unit::Count, 16_000.0), "16,000");
        assert_eq!(value(Unit::Count, 2.5), "2.50");
        assert_eq!((unit(Unit::Millis), unit(Unit::Nanos)), ("µs", "ns"));
        let two = Spread {
            median: 2e-3,
            p10: 1e-3,
            p90: 3e-3,
        };
        assert_eq!(spread(Unit::Millis, &two), "2.00 (1.00..3.00)");
        assert_eq!(spread(Unit::Count, &Spread::exactly(7.0)), "7");
    }

    #[test]
    fn ticks_take_the_unit_that_fits() {
        assert_eq!(tick(Unit::Millis, 0.001), "1 µs");
        assert_eq!(tick(Unit::Millis, 0.02), "20 µs");
        assert_eq!(tick(Unit::Millis, 1000.0), "1 s");
        assert_eq!(tick(Unit::Millis, 1e5), "100 s");
        assert_eq!(tick(Unit::Nanos, 0.5), "0.5 ns");
        assert_eq!(tick(Unit::Bytes, 4096.0), "4 K");
        assert_eq!(tick(Unit::Ratio, 0.001), "1e-3");
        assert_eq!(tick(Unit::Percent, 95.0), "95");
        assert_eq!((size(16.0), size(1048576.0)), ("16".into(), "1 M".into()));
        assert_eq!(
            (lanes(256), lanes(1 << 20), lanes(5000)),
            ("256".into(), "2^20".into(), "5000".into())
        );
        assert_eq!(
            (bytes(8 << 30), bytes(1000)),
            ("8 GiB".into(), "1000 B".into())
        );
        assert_eq!(
            (ratio(1.234), ratio(25_000.0), ratio(f64::INFINITY)),
            ("1.23".into(), "25,000".into(), "inf".into())
        );
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_795_217_400), "2026-11-20 23:30 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
