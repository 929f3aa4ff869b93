//! Bytes as small numbers.

/// Takes numbers from bytes, from front to back.
pub struct Dice<'a>(pub &'a [u8]);

impl Dice<'_> {
    /// The next byte; nothing at the end.
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number below `end`, from one byte.
    pub fn below(&mut self, end: u32) -> Option<u32> {
        Some(u32::from(self.byte()?) % end)
    }

    /// A number whose logarithm is even: two bytes, how many bits it is shifted and its first ones.
    pub fn wide(&mut self) -> Option<u64> {
        let (shift, bits) = (self.byte()? % 64, self.byte()?);
        Some(u64::from(bits) << shift)
    }
}
