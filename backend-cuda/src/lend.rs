//! Buffers that another library works on.

use crate::backend::CudaBackend;
use crate::handles::Lane;
use warpheap_api::host::{BufferId, DeviceError, Lent};

const DURING: &str = "work of another library";

impl CudaBackend {
    /// Calls `work` with the addresses of buffers and a stream, and waits for what it queued there. Other calls go on meanwhile: the
    /// library may wait for other processes.
    pub(crate) fn lend_to(
        &self,
        buffers: &[BufferId],
        work: &mut dyn FnMut(Lent<'_>),
    ) -> Result<(), DeviceError> {
        let (stream, addresses) = {
            // The context is current on this thread from here on.
            let mut state = self.enter(DURING)?;
            let addresses = buffers.iter().map(|&id| state.range("lend", id, 0, 0));
            let addresses: Vec<u64> = addresses.collect::<Result<_, _>>()?;
            let stream = match state.lent.pop() {
                Some(stream) => stream,
                // What other processes wait for does not stand behind a kernel of this one that fills the device.
                None => Lane::urgent()
                    .inspect(|lane| lane.name("warpheap, lent"))
                    .map_err(|refused| state.refuse(refused, DURING))?,
            };
            (stream, addresses)
        };
        work(Lent {
            addresses: &addresses,
            stream: stream.raw().cast(),
        });
        let event = {
            let mut state = self.enter(DURING)?;
            let recorded = state.shared.events.plain().and_then(|event| {
                stream.record(&event)?;
                Ok(event)
            });
            recorded.map_err(|refused| state.refuse(refused, DURING))?
        };
        self.until(&event, DURING)?;
        let mut state = self.enter(DURING)?;
        state.shared.events.give(event);
        state.lent.push(stream);
        Ok(())
    }
}
