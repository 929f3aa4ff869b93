//! What the types of a launch's arguments do not tell.

use super::order::{Access, Demand};
use super::{Arg, Device, DeviceError, Launch};
use std::format;
use std::string::ToString;

impl Launch<'_> {
    /// Checks what the types of arguments do not tell: memory is of the kernel's device, a kernel has what it changes for itself, and
    /// no heap was made fresh under a vector in it, and containers are of the launch's heap. Asked while the memory is held.
    pub(super) fn check_memory(&self, device: &Device) -> Result<(), DeviceError> {
        self.check_shared(device)?;
        check_memory(self.entry, self.args, device)?;
        self.check_contents()
    }

    /// Checks that a block may have so much memory that its lanes share.
    fn check_shared(&self, device: &Device) -> Result<(), DeviceError> {
        let bytes = self.args.iter().map(|arg| match arg {
            Arg::Shared(bytes) => u64::from(*bytes),
            _ => 0,
        });
        let (bytes, most) = (bytes.sum::<u64>(), device.backend().max_shared_bytes());
        // The library has a word of its own there.
        if bytes > 0 && bytes + 4 > most.into() {
            return Err(DeviceError::BadLaunch {
                kernel: self.entry.to_string(),
                why: format!(
                    "the lanes of a block share {bytes} bytes, the device ({}) allows {}: take fewer `SharedWords`",
                    device.info().name,
                    most.saturating_sub(4)
                ),
            });
        }
        Ok(())
    }
}

/// Checks that the memory that a kernel, or another `user`, is given is of its device, that it has what it changes for itself, and that no
/// heap was made fresh under it. Asked while the memory is held.
pub(super) fn check_memory(user: &str, args: &[Arg], device: &Device) -> Result<(), DeviceError> {
    for (at, arg) in args.iter().enumerate() {
        let buffer = match arg {
            Arg::Heap(heap) => &heap.buffer,
            Arg::Slice(slice) => &slice.buffer,
            Arg::Words(_) | Arg::Container(_) | Arg::Shared(_) => continue,
        };
        if !buffer.is_of(device) {
            return Err(device.refuses(
                format!("argument {} of {}", at + 1, user),
                buffer.shared(),
                "make it on the kernel's device, or copy it there with DeviceVec::copy_from_vec",
            ));
        }
        let Arg::Slice(slice) = arg else { continue };
        if let Some(block) = &slice.block {
            block.check()?;
        }
        if !slice.mutable {
            continue;
        }
        let others = args.iter().enumerate();
        let twice = others
            .filter(|(other, arg)| *other != at && matches!(arg, Arg::Slice(_)))
            .find(|(_, arg)| arg.meets(&args[at]));
        if let Some((other, _)) = twice {
            let (first, second) = (at.min(other) + 1, at.max(other) + 1);
            return Err(DeviceError::BadLaunch {
                kernel: user.to_string(),
                why: format!(
                    "its arguments {first} and {second} are the same memory, and it changes argument {}: give it a vector of \
                     its own, or a copy",
                    at + 1
                ),
            });
        }
    }
    Ok(())
}

impl Arg {
    /// Whether the two share memory.
    fn meets(&self, other: &Arg) -> bool {
        let range = |arg: &Arg| {
            arg.binding()
                .map(|(buffer, offset, bytes)| Demand::new(buffer, offset, bytes, Access::Write))
        };
        matches!((range(self), range(other)), (Some(one), Some(other)) if one.meets(&other))
    }
}
