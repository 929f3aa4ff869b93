//! Copies between memory of two devices.

use super::device::Shared;
use super::generation::HeapBlock;
use super::order::{Access, Demand, Permit};
use super::parts::{Held, around};
use super::{DeviceError, RawBuffer};

impl RawBuffer {
    /// Copies any bytes to memory of another device, when all has ended that has to come first on either. Both ranges are the
    /// call's alone meanwhile.
    pub(super) fn copy_across(
        &self,
        blocks: [Option<&HeapBlock>; 2],
        offset: u64,
        to: &RawBuffer,
        to_offset: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let (source, target) = (around(offset, bytes), around(to_offset, bytes));
        let source = [self.demand("copy", source.0, source.1, Access::Snapshot)?];
        let target = [to.demand("copy", target.0, target.1, Access::Overwrite)?];
        let _permits = both((self.shared(), &source), (to.shared(), &target))?;
        for block in blocks.into_iter().flatten() {
            block.check()?;
        }
        Held::of(self).copy_to(offset, Held::of(to), to_offset, bytes)
    }
}

/// Begins a call on two devices. All such calls begin on the same one first: of two that copy there and back none waits for the other
/// while that waits for it.
fn both<'a>(
    one: (&'a Shared, &'a [Demand]),
    other: (&'a Shared, &'a [Demand]),
) -> Result<[Permit<'a>; 2], DeviceError> {
    let place = |(shared, _): &(&Shared, _)| std::ptr::from_ref::<Shared>(shared).addr();
    let (first, second) = match place(&one) <= place(&other) {
        true => (one, other),
        false => (other, one),
    };
    let first = first.0.permit(first.1)?;
    Ok([first, second.0.permit(second.1)?])
}
