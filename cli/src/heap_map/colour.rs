//! The colours of uses, those of the plots.

use plotters::style::RGBColor;
use warpheap::RegionUse;
use warpheap_bench::report::svg::{COLOURS, GRID, INK, MUTED, PAPER};

/// Units: of no size class.
const UNITS: RGBColor = RGBColor(0x5B, 0x6B, 0x7B);

/// The colour of a use, in every picture the same. Size classes that are neighbours have different ones.
pub fn of(usage: RegionUse) -> RGBColor {
    match usage {
        RegionUse::Slab(bytes) => {
            let log = (bytes / 16).max(1).ilog2();
            // Four classes to a doubling.
            let class = 4 * log + ((bytes / 4) >> log) as u32 % 4;
            COLOURS[class as usize % COLOURS.len()]
        }
        RegionUse::Units(_) => UNITS,
        RegionUse::Run(_) => INK,
        RegionUse::Queue(_) | RegionUse::Changing => MUTED,
        RegionUse::Idle(_) | RegionUse::Reserved | RegionUse::Opaque => GRID,
        RegionUse::Free => PAPER,
    }
}

/// A colour as pages have it.
pub fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// A colour from such text; ink for what is none.
pub fn from_hex(text: &str) -> RGBColor {
    let part = |at: usize| {
        let digits = text.get(at..at + 2);
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
    };
    match (part(1), part(3), part(5)) {
        (Some(red), Some(green), Some(blue)) => RGBColor(red, green, blue),
        _ => INK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_and_text_comes_back() {
        let sizes = [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
        let colours = sizes.map(|bytes| hex(of(RegionUse::Slab(bytes))));
        assert!(
            colours.windows(2).all(|pair| pair[0] != pair[1]),
            "{colours:?}"
        );
        for colour in COLOURS {
            assert_eq!(from_hex(&hex(colour)), colour);
        }
        assert_eq!(from_hex("red"), INK);
    }
}
