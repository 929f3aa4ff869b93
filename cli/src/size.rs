//! How byte sizes are read from the command line and written for people.

/// Reads a size: a number, an optional fraction, an optional unit.
///
/// `K`, `M`, `G`, `T` and `KiB`, `MiB`, … are powers of 1024; `kB`, `MB`, `GB`, `TB` are powers of
/// 1000. Case does not matter, and a space may stand before the unit.
///
/// # Errors
/// A sentence for the user when the text is no size, is zero or does not fit in 64 bits.
pub fn parse(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "`{text}` is no size: write a number and, if you like, a unit, as in 1048576, 64M or 2GiB"
        )
    };
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let factor = factor_of(unit.trim()).ok_or_else(wrong)?;
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return Err(wrong()),
        None => (number, ""),
    };
    let too_large = || format!("`{text}` does not fit in 64 bits");
    if whole.is_empty() || fraction.len() > 9 || fraction.contains('.') {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let mut bytes = u128::from(whole) * u128::from(factor);
    if !fraction.is_empty() {
        let digits: u64 = fraction.parse().map_err(|_| wrong())?;
        let scale = 10u128.pow(fraction.len() as u32);
        bytes += u128::from(digits) * u128::from(factor) / scale;
    }
    match u64::try_from(bytes) {
        Ok(0) => Err("a size of zero bytes cannot hold anything".into()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(too_large()),
    }
}

fn factor_of(unit: &str) -> Option<u64> {
    let lower = unit.to_ascii_lowercase();
    let (letter, decimal) = match lower.as_str() {
        "" | "b" => return Some(1),
        "k" | "kib" => ('k', false),
        "m" | "mib" => ('m', false),
        "g" | "gib" => ('g', false),
        "t" | "tib" => ('t', false),
        "kb" => ('k', true),
        "mb" => ('m', true),
        "gb" => ('g', true),
        "tb" => ('t', true),
        _ => return None,
    };
    let power = match letter {
        'k' => 1,
        'm' => 2,
        'g' => 3,
        _ => 4,
    };
    Some(if decimal { 1000u64 } else { 1024 }.pow(power))
}

/// Writes a number of bytes with a binary unit and three or four significant digits: `1.50 MiB`.
pub fn display(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would be rounded up to "1024.0" of a unit.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value < 9.995 { 2 } else { 1 };
    format!("{value:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_units() {
        for (text, bytes) in [
            ("1048576", 1 << 20),
            ("64M", 64 << 20),
            ("64m", 64 << 20),
            ("2GiB", 2 << 30),
            ("2 GiB", 2 << 30),
            ("1.5K", 1536),
            ("1kB", 1000),
            ("3MB", 3_000_000),
            ("1T", 1 << 40),
            ("12b", 12),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_size() {
        for text in [
            "",
            "M",
            "12X",
            "-1",
            "1.M",
            ".5M",
            "1.2.3",
            "0",
            "0M",
            "99999999999T",
            "1e9",
            "64 M iB",
            "123456789012345678901234567890",
        ] {
            assert!(parse(text).is_err(), "{text} was read as {:?}", parse(text));
        }
    }

    #[test]
    fn writes_binary_units() {
        assert_eq!(display(0), "0 B");
        assert_eq!(display(1023), "1023 B");
        assert_eq!(display(1536), "1.50 KiB");
        assert_eq!(display(64 << 20), "64.0 MiB");
        assert_eq!(display((1 << 30) - 1), "1.00 GiB");
        assert_eq!(display(3 << 40), "3.00 TiB");
    }
}
