//! Which heap the collections of a module take from: launches of it use that heap without being given it.

use super::{BufferId, ModuleId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The heaps that are bound to modules of one device.
#[derive(Debug, Default)]
pub(super) struct Bound {
    /// Whether there has been one: mostly there is none, and launches need not look.
    has_any: AtomicBool,
    heaps: Mutex<HashMap<ModuleId, BufferId>>,
}

impl Bound {
    /// A heap was bound to a module.
    pub(super) fn bind(&self, module: ModuleId, heap: BufferId) {
        self.heaps().insert(module, heap);
        self.has_any.store(true, Ordering::Release);
    }

    /// The heap of a module.
    pub(super) fn heap_of(&self, module: ModuleId) -> Option<BufferId> {
        if !self.has_any.load(Ordering::Acquire) {
            return None;
        }
        self.heaps().get(&module).copied()
    }

    /// Memory is given back: it is no module's heap any more.
    pub(super) fn forget(&self, heap: BufferId) {
        if self.has_any.load(Ordering::Acquire) {
            self.heaps().retain(|_, bound| *bound != heap);
        }
    }

    fn heaps(&self) -> MutexGuard<'_, HashMap<ModuleId, BufferId>> {
        // A panic elsewhere leaves no entry half written.
        self.heaps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
