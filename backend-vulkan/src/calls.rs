//! Calls that end when the device is done: launches, and copies from and to the host.
//!
//! They wait without the state, so that calls of other threads go on. What they need for that they have for themselves: those who
//! launch come one after the other, so that the time of a launch is not that of two, and so do those who copy.

use crate::backend::VulkanBackend;
use crate::queue::Queue;
use crate::state::State;
use crate::transfer::Transfer;
use std::sync::{Mutex, MutexGuard, PoisonError};
use warpheap_api::host::{BufferId, DeviceError, Launch, LaunchReport};

/// What calls have for themselves. It is locked before the state, never while that is held.
pub(crate) struct Calls {
    queue: Mutex<Queue>,
    transfer: Mutex<Transfer>,
}

impl Calls {
    pub(crate) fn new(queue: Queue, transfer: Transfer) -> Self {
        Calls {
            queue: Mutex::new(queue),
            transfer: Mutex::new(transfer),
        }
    }

    /// Whether the device works on nothing of a call, without waiting.
    pub(crate) fn ended(&self) -> bool {
        lock(&self.queue).ended() && lock(&self.transfer).ended()
    }
}

impl VulkanBackend {
    /// Runs launches in order and waits for their end; a report for each.
    pub(crate) fn run(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        self.check(launches)?;
        let args = launches.iter().flat_map(|launch| launch.args);
        let bound = args.filter_map(|arg| arg.binding());
        let buffers: Vec<_> = bound.map(|(buffer, ..)| buffer).collect();
        let (mut queue, batch) = loop {
            let queue = lock(&self.calls.queue);
            let batch = self.call_if_compiled(|state| {
                let batch = state.prepare(launches)?;
                state.bring_to_pace()?;
                state.memory.pin(&buffers);
                Ok(batch)
            })?;
            match batch {
                Ok(batch) => break (queue, batch),
                Err(missing) => {
                    drop(queue);
                    self.compile(&missing)?;
                }
            }
        };
        // SAFETY: the buffers were found in the table and their ranges checked, and they are pinned; that arguments match the
        // kernel's parameters is the promise of `Prepared::new`.
        let ran = unsafe { queue.run(&batch) };
        self.end(&buffers, ran)
    }

    /// Moves bytes into or out of buffers, which `look_up` finds, and waits until that is done.
    pub(crate) fn transfer<T>(
        &self,
        buffers: &[BufferId],
        look_up: impl FnOnce(&State) -> Result<T, DeviceError>,
        work: impl FnOnce(&mut Transfer, T) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let mut transfer = lock(&self.calls.transfer);
        let found = self.call(|state| {
            let found = look_up(state)?;
            state.memory.pin(buffers);
            Ok(found)
        })?;
        let done = work(&mut transfer, found);
        self.end(buffers, done)
    }

    /// Ends a call: notes a loss and what the validation layer said meanwhile. After a loss, this call's or another one's, the device
    /// may still use the buffers: they stay.
    fn end<T>(
        &self,
        buffers: &[BufferId],
        result: Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        self.call(|state| {
            if !matches!(result, Err(DeviceError::Lost { .. })) {
                state.memory.unpin(buffers);
            }
            result
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in another thread leaves at worst a submission under way, which the next one waits for.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
