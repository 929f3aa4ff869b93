//! Of which heap the containers in a vector's elements are.

use super::generation::Generation;
use super::{Arg, DeviceError, HeapArg, Launch, SliceArg};
use std::format;
use std::string::ToString;
use std::sync::{Arc, Mutex, PoisonError};
use std::vec::Vec;

/// What a vector's containers are of: shared with the launches that were prepared with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents(Arc<Mutex<Option<Heap>>>);

/// A heap at one time of its life.
#[derive(Clone, Debug)]
struct Heap {
    generation: Generation,
    allocator: &'static str,
}

impl Contents {
    /// There are none any more.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Before a launch that takes them with these heaps as its argument number `at`: refused if they are of others; from
    /// then on they are of its heap, if it may make some.
    fn check(
        &self,
        launch: &Launch<'_>,
        (at, slice): (usize, &SliceArg),
        heaps: &[&HeapArg],
    ) -> Result<(), DeviceError> {
        let mut contents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = |why: &str| {
            Err(DeviceError::BadLaunch {
                kernel: launch.entry.to_string(),
                why: format!("its argument {} {why}", at + 1),
            })
        };
        let [heap] = heaps else {
            // Without a heap nobody reaches what they name. With several the kernel moves containers between them, and
            // whoever launches it has promised that it is right.
            if !heaps.is_empty() {
                *contents = None;
            }
            return Ok(());
        };
        match &*contents {
            Some(of) if of.generation.is_over() => refused(&format!(
                "has containers of a {} heap that was made fresh since: fill it with zeros to begin anew",
                of.allocator
            )),
            Some(of) if !of.generation.is_same(&heap.generation) => refused(&format!(
                "has containers of another heap (of {}) than the one of the launch: take that one, or fill it with zeros \
                 when they were freed",
                of.allocator
            )),
            None if slice.mutable => {
                *contents = Some(Heap {
                    generation: heap.generation.clone(),
                    allocator: heap.allocator,
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Launch<'_> {
    /// Checks of which heap the containers in its arguments are. Asked while the memory is held.
    pub(super) fn check_contents(&self) -> Result<(), DeviceError> {
        let heaps = self.args.iter().filter_map(|arg| match arg {
            Arg::Heap(heap) => Some(heap),
            _ => None,
        });
        let heaps: Vec<_> = heaps.collect();
        for (at, arg) in self.args.iter().enumerate() {
            if let Arg::Slice(slice) = arg
                && let Some(contents) = &slice.contents
            {
                contents.check(self, (at, slice), &heaps)?;
            }
        }
        Ok(())
    }
}
