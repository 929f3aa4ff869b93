//! What streams bring: bytes that were read and times that were noted, until someone asks for them or nobody will.

use crate::emulator::enter;
use crate::task::Task;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;
use warpheap_api::host::{DeviceError, Mark};

/// Where a stream's thread leaves something. If it is forgotten before, the thread's is the last handle.
pub(crate) type Slot<T> = Arc<OnceLock<T>>;

/// One thing that is brought.
enum Brought {
    Bytes(Slot<Vec<u8>>),
    Time(Slot<Instant>),
}

/// What streams bring. It stays when they are closed.
#[derive(Default)]
pub(crate) struct Kept {
    slots: Mutex<HashMap<Mark, Brought>>,
}

/// The slot of a task, if it brings something.
pub(crate) struct Brings(Option<Brought>);

impl Brings {
    pub(crate) fn of(task: &Task) -> Self {
        Brings(match task {
            Task::Read { into, .. } => Some(Brought::Bytes(into.clone())),
            Task::Stamp(at) => Some(Brought::Time(at.clone())),
            _ => None,
        })
    }
}

impl Kept {
    /// Keeps what the work with this mark brings.
    pub(crate) fn keep(&self, mark: Mark, brings: Brings) {
        if let Brings(Some(brought)) = brings {
            enter(&self.slots).insert(mark, brought);
        }
    }

    /// Takes the bytes of a read, into as many; nothing if there are none.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if they are not as many; then they stay.
    pub(crate) fn take(&self, read: Mark, into: &mut [u8]) -> Result<Option<()>, DeviceError> {
        let mut slots = enter(&self.slots);
        let Some(Brought::Bytes(slot)) = slots.get(&read) else {
            return Ok(None);
        };
        let slot = slot.clone();
        let Some(bytes) = slot.get() else {
            return Ok(None);
        };
        if bytes.len() != into.len() {
            return Err(DeviceError::OutOfRange {
                what: "take",
                got: into.len() as u64,
                room: bytes.len() as u64,
            });
        }
        slots.remove(&read);
        // Others need not wait for the copy.
        drop(slots);
        into.copy_from_slice(bytes);
        Ok(Some(()))
    }

    /// When a stamp was reached, if it is one and was.
    pub(crate) fn time(&self, stamp: Mark) -> Option<Instant> {
        match enter(&self.slots).get(&stamp)? {
            Brought::Time(slot) => slot.get().copied(),
            Brought::Bytes(_) => None,
        }
    }

    pub(crate) fn forget(&self, mark: Mark) {
        enter(&self.slots).remove(&mark);
    }
}
