//! Which of several devices that have one name a message means.

use super::Device;
use super::device::Shared;
use std::format;
use std::string::String;

impl Device {
    /// Tells which of its backend's devices it is, as they are counted where it was opened: what [`number`](Self::number) gives from
    /// then on. The first number stays.
    pub fn set_number(&self, number: usize) {
        // A device is one of a list, and stays that one.
        let _ = self.shared().number.set(number);
    }

    /// Which of its backend's devices it is, if whoever opened it told. Messages have it where two devices have one name.
    pub fn number(&self) -> Option<usize> {
        self.shared().number.get().copied()
    }
}

impl Shared {
    /// The names of this device and of another one, as a message with both shows them.
    pub(super) fn told_apart(&self, other: &Shared) -> [String; 2] {
        let (own, others) = (self.name(), other.name());
        if own != others {
            return [own.into(), others.into()];
        }
        let numbered = |shared: &Shared| match shared.number.get() {
            Some(number) => format!("{own}, device {number}"),
            None => own.into(),
        };
        let (own, others) = (numbered(self), numbered(other));
        match own == others {
            // One device that was opened twice is two, or nobody said which they are.
            true => [own, format!("{others}, opened another time")],
            false => [own, others],
        }
    }

    fn name(&self) -> &str {
        &self.backend.info().name
    }
}
