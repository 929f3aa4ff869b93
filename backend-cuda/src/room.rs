//! Memory for buffers, and what is said when there is too little.

use crate::backend::{CudaBackend, Entered};
use crate::context;
use crate::state::State;
use crate::status::{Refused, Status};
use warpheap_api::host::DeviceError;

impl CudaBackend {
    /// Does what takes memory for a buffer of `bytes` bytes; once more when the memory that waits to be freed was, if there
    /// is too little.
    pub(crate) fn with_room<'a, T>(
        &'a self,
        mut state: Entered<'a>,
        bytes: u64,
        during: &'static str,
        mut take: impl FnMut(&mut State) -> Result<T, Refused>,
    ) -> Result<T, DeviceError> {
        let full = |taken: &Result<T, Refused>| {
            let refused = taken.as_ref().err();
            refused.is_some_and(|refused| refused.status == Status::OUT_OF_MEMORY)
        };
        state.bury(during)?;
        let mut taken = take(&mut state);
        if full(&taken) && !state.retired.is_empty() {
            drop(state);
            state = self.settle(during)?;
            state.bury(during)?;
            taken = take(&mut state);
        }
        match taken {
            Ok(taken) => Ok(taken),
            _ if full(&taken) => Err(self.out_of_memory(bytes)),
            Err(refused) => Err(state.refuse(refused, during)),
        }
    }

    pub(crate) fn out_of_memory(&self, bytes: u64) -> DeviceError {
        DeviceError::OutOfMemory {
            device: self.info.name.clone(),
            bytes,
            why: match context::memory() {
                Ok((free, total)) => format!(
                    "{free} of {total} bytes are free: ask for less, drop other pools, or end other programs"
                ),
                Err(refused) => refused.status.explained(),
            },
        }
    }
}
