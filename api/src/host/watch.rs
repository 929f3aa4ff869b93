//! Heaps that are asked for mistakes when launches have ended.

use super::bytes::{bytes_of, bytes_of_mut};
use super::{
    Arg, BufferId, Device, DeviceError, HeapAccess, HeapArg, HeapMistakes, HeapReader,
    KernelFailure, Launch,
};
use std::boxed::Box;
use std::string::{String, ToString};
use std::vec::Vec;

/// Heaps that look for mistakes, each with the launches that it was given to.
#[derive(Debug, Default)]
pub(super) struct Watched(Vec<(HeapArg, String)>);

impl Watched {
    /// Those of launches: mostly none.
    pub(super) fn of(launches: &[Launch<'_>]) -> Self {
        let mut watched = Watched::default();
        for launch in launches {
            let heaps = launch.args.iter().filter_map(|arg| match arg {
                Arg::Heap(heap) if heap.mistakes.is_some() => Some(heap),
                _ => None,
            });
            heaps.for_each(|heap| watched.add(heap.clone(), launch.entry.to_string()));
        }
        watched
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These as well.
    pub(super) fn append(&mut self, more: Watched) {
        more.0
            .into_iter()
            .for_each(|(heap, kernels)| self.add(heap, kernels));
    }

    fn add(&mut self, heap: HeapArg, kernels: String) {
        let id = heap.buffer.id();
        match self.0.iter_mut().find(|(known, _)| known.buffer.id() == id) {
            None => self.0.push((heap, kernels)),
            Some((_, known)) if known.split(", ").any(|one| one == kernels) => {}
            Some((_, known)) => {
                known.push_str(", ");
                known.push_str(&kernels);
            }
        }
    }

    /// Asks them, when the launches have ended.
    ///
    /// # Errors
    /// [`DeviceError::Mistakes`] of the first heap that has some; errors of the device.
    pub(super) fn ask(
        &self,
        device: &Device,
        failure: impl Fn() -> Option<KernelFailure>,
    ) -> Result<(), DeviceError> {
        for (heap, kernels) in &self.0 {
            let Some(take) = heap.mistakes else { continue };
            let mut words = Words(device, heap.buffer.id());
            let mistakes = take(heap.words(), kernels, &mut words)?;
            if mistakes.count != 0 {
                return Err(Box::new(HeapMistakes {
                    kernel: kernels.clone(),
                    allocator: heap.allocator,
                    mistakes,
                    failure: failure().map(Box::new),
                })
                .into());
            }
        }
        Ok(())
    }
}

/// The words of a heap that the caller keeps alive. Launches may run in it.
struct Words<'a>(&'a Device, BufferId);

impl HeapReader for Words<'_> {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        let Words(device, buffer) = self;
        device
            .backend()
            .read(*buffer, first * 4, bytes_of_mut(words))
    }
}

impl HeapAccess for Words<'_> {
    fn write(&mut self, first: u64, words: &[u32]) -> Result<(), DeviceError> {
        let Words(device, buffer) = self;
        device.backend().write(*buffer, first * 4, bytes_of(words))
    }
}
