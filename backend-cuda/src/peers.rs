//! Copies from one GPU to another.

use crate::backend::CudaBackend;
use crate::context::Context;
use crate::status::{Refused, Status, ask};
use crate::sys::CUcontext;
use warpheap_api::host::{BufferId, DeviceError};

const DURING: &str = "a copy to another device";

/// Bytes that are copied at once: other calls of the device go on in between.
const AT_ONCE: u64 = 64 << 20;

/// A range of a device's memory, as the driver takes it.
struct Place {
    address: u64,
    context: CUcontext,
    /// Whether other GPUs that may reach this one reach the memory, too. What is mapped at reserved addresses they do not.
    reachable: bool,
}

impl CudaBackend {
    /// Copies to memory of another GPU, or of this one as another device has it; not if the driver does not copy between them.
    pub(crate) fn copy_to_gpu(
        &self,
        from: (BufferId, u64),
        other: &CudaBackend,
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<bool, DeviceError> {
        // One after the other: who held both could meet a call that copies back.
        let source = self.place(from, bytes)?;
        let target = other.place(to, bytes)?;
        let same = source.context == target.context;
        if !same {
            if !source.reachable || !target.reachable {
                return Ok(false);
            }
            other.open_for(self)?;
            self.open_for(other)?;
        }
        let mut done = 0;
        while done < bytes {
            let now = AT_ONCE.min(bytes - done);
            let mut state = self.enter(DURING)?;
            let stream = &state.session.stream;
            let (address, count) = (source.address + done, now as usize);
            // SAFETY: both ranges were checked to lie in buffers, which the caller keeps and which nobody else uses, and `finish_beside`
            // waits for the copy.
            let copied = unsafe {
                match same {
                    true => stream.copy(target.address + done, address, count),
                    false => stream.copy_to_peer(
                        (target.address + done, target.context),
                        (address, source.context),
                        count,
                    ),
                }
            };
            match copied {
                Ok(()) => state.finish_beside(DURING)?,
                Err(Refused { call, status }) if done == 0 && !status.is_fatal() => {
                    tracing::debug!(call, %status, "a copy goes by way of the host");
                    return Ok(false);
                }
                Err(refused) => return Err(state.refuse(refused, DURING)),
            }
            done += now;
        }
        Ok(true)
    }

    /// Where a range of a buffer is.
    fn place(&self, (buffer, offset): (BufferId, u64), bytes: u64) -> Result<Place, DeviceError> {
        let state = self.enter(DURING)?;
        let address = state.range("copy", buffer, offset, bytes)?;
        let found = state.buffers.get(buffer.0);
        Ok(Place {
            address,
            context: state.session.context().raw(),
            reachable: found.is_some_and(|found| !found.is_mapped()),
        })
    }

    /// Lets this GPU reach another one's memory, if it can: copies are faster then. The driver copies by way of the host without.
    fn open_for(&self, other: &CudaBackend) -> Result<(), DeviceError> {
        let (device, context) = {
            let state = other.enter(DURING)?;
            let context = state.session.context();
            (context.device(), context.raw())
        };
        let state = self.enter(DURING)?;
        // SAFETY: the other backend, which is borrowed, holds its context.
        match unsafe { state.session.context().reach(device, context) } {
            Ok(()) => {}
            Err(Refused { call, status }) => {
                tracing::debug!(call, %status, "{} does not reach {}", self.info.name, other.info.name);
            }
        }
        Ok(())
    }
}

impl Context {
    /// Lets kernels and copies of this context, which is current, reach the memory of another one's device, if the two can.
    ///
    /// # Safety
    /// The other context is held.
    unsafe fn reach(&self, device: i32, context: CUcontext) -> Result<(), Refused> {
        let mut can = 0;
        // SAFETY: room for the answer.
        unsafe { ask!(cuDeviceCanAccessPeer(&mut can, self.device(), device)) }?;
        if can == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise; 0 is the only flag there is.
        match unsafe { ask!(cuCtxEnablePeerAccess(context, 0)) } {
            Err(refused) if refused.status == Status::PEER_ALREADY_REACHED => Ok(()),
            reached => reached,
        }
    }
}
