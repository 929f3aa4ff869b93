//! What stands in a placeholder behind the colon.

/// How an argument is shown: `{:>+#08.3x}` without the letter at its end.
///
/// The macros make one of each placeholder while the crate is compiled.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The character of the padding, UTF-8 in a word, and its bytes.
    pub fill: u32,
    /// Number of these bytes.
    pub fill_bytes: u32,
    /// Where the value stands in its width.
    pub align: Align,
    /// The fewest characters.
    pub width: u32,
    /// Whether numbers that are not negative have a sign, too.
    pub plus: bool,
    /// Whether numbers that are not decimal begin with `0x`, `0o` or `0b`.
    pub prefix: bool,
    /// Whether numbers are padded with zeros behind sign and prefix, instead of `fill`.
    pub zero: bool,
    /// Digits behind the point, at most 9.
    pub precision: u32,
}

/// Where a value stands in its width.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Align {
    /// Numbers at the end, all else at the beginning.
    Usual = 1,
    /// At the beginning.
    Left = 2,
    /// In the middle.
    Center = 3,
    /// At the end.
    Right = 4,
}

impl Spec {
    /// That of `{}`.
    pub const PLAIN: Spec = Spec {
        fill: ' ' as u32,
        fill_bytes: 1,
        align: Align::Usual,
        width: 0,
        plus: false,
        prefix: false,
        zero: false,
        precision: 0,
    };
}
