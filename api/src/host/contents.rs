//! Of which heap the containers in a launch's arguments are, and who owns them.

use super::generation::Home;
use super::shared::{ContainerWords, Owner};
use super::{Arg, DeviceError, Launch, RawPool, SliceArg};
use crate::LAYOUT_VERSION;
use std::format;
use std::mem;
use std::string::{String, ToString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

/// What a vector's containers are of: shared with the launches that were prepared with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents(Arc<Mutex<Known>>);

/// What is known of containers.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Their heap, if there are some.
    pub(super) home: Option<Home>,
    /// Who owns some of them, or may: they are there for as long.
    pub(super) owners: Vec<Owner>,
}

impl Contents {
    /// There are none any more. What was known of them may be the last to own some: it is dropped when no work uses them.
    pub(super) fn take(&self) -> Known {
        mem::take(&mut *self.known())
    }

    /// They are there all the same.
    pub(super) fn put_back(&self, known: Known) {
        *self.known() = known;
    }

    /// What is known of them at the moment.
    pub(super) fn now(&self) -> Known {
        self.known().clone()
    }

    /// Refuses a heap that the containers are not of.
    pub(super) fn check(&self, pool: &RawPool, bytes: u64) -> Result<(), DeviceError> {
        let Some(home) = self.now().home else {
            return Ok(());
        };
        let allocator = home.allocator;
        if home.is_over() {
            return Err(DeviceError::Stale { allocator, bytes });
        }
        if home.is_same(&pool.heap_arg().home()) {
            return Ok(());
        }
        Err(DeviceError::BadHeap {
            expected: pool.allocator,
            version: LAYOUT_VERSION,
            why: format!(
                "what is asked for is of another heap (of {allocator}): give the pool that kernels filled it in"
            ),
        })
    }

    fn keep(&self, owners: &[Owner]) {
        let mut known = self.known();
        for owner in owners {
            if !known.owners.iter().any(|other| Arc::ptr_eq(other, owner)) {
                known.owners.push(owner.clone());
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An argument that is a container, or a vector of some.
enum Holder<'a> {
    Shared(&'a ContainerWords),
    Vector(&'a SliceArg, &'a Contents),
}

impl Holder<'_> {
    fn of(arg: &Arg) -> Option<Holder<'_>> {
        match arg {
            Arg::Container(shared) => Some(Holder::Shared(shared)),
            Arg::Slice(slice) => {
                let contents = slice.contents.as_ref()?;
                Some(Holder::Vector(slice, contents))
            }
            Arg::Heap(_) | Arg::Words(_) | Arg::Shared(_) => None,
        }
    }

    /// What is known of its containers.
    fn known(&self) -> Known {
        match self {
            Holder::Shared(shared) => shared.known.clone(),
            Holder::Vector(_, contents) => contents.now(),
        }
    }

    /// The vector that a kernel may put containers into.
    fn changed(&self) -> Option<&Contents> {
        match self {
            Holder::Vector(slice, contents) if slice.mutable => Some(contents),
            _ => None,
        }
    }

    /// The vector where a kernel may leave a container that lanes share: in its elements, or in what these own.
    fn may_keep(&self) -> Option<&Contents> {
        match self {
            Holder::Vector(slice, contents) if slice.mutable && slice.holds_shared => {
                Some(contents)
            }
            _ => None,
        }
    }

    /// Whether it may be used with the heaps of a launch; otherwise why not.
    fn check(&self, heaps: &[Home]) -> Result<(), String> {
        let Some(home) = self.known().home else {
            return Ok(());
        };
        let (has, begin, launch) = match self {
            Holder::Shared(_) => ("is a container", "make it anew", "launch with that one"),
            Holder::Vector(..) => (
                "has containers",
                "fill it with zeros to begin anew",
                "launch with that one, or fill it with zeros when they were freed",
            ),
        };
        if home.is_over() {
            return Err(format!(
                "{has} of a {} heap that was made fresh since: {begin}",
                home.allocator
            ));
        }
        if heaps.iter().any(|heap| heap.is_same(&home)) {
            return Ok(());
        }
        let found: Vec<_> = heaps.iter().map(|heap| heap.allocator).collect();
        Err(format!(
            "{has} of another heap (of {}) than the launch's (of {}): {launch}",
            home.allocator,
            found.join(" and ")
        ))
    }
}

impl Launch<'_> {
    /// Checks of which heap the containers in its arguments are: refuses those of others, and notes what it may put into vectors.
    /// Asked while the memory is held.
    pub(super) fn check_contents(&self) -> Result<(), DeviceError> {
        let all = self.args.iter().enumerate();
        let holders: Vec<_> = all
            .filter_map(|(at, arg)| Some((at, Holder::of(arg)?)))
            .collect();
        if holders.is_empty() {
            return Ok(());
        }
        let mut heaps: Vec<Home> = Vec::new();
        for arg in self.args {
            if let Arg::Heap(heap) = arg {
                heaps.push(heap.home());
            }
        }
        if heaps.is_empty() {
            // Without a heap nobody reaches what containers name. But a kernel can put one into a vector.
            if !holders.iter().any(|(_, holder)| holder.changed().is_some()) {
                return Ok(());
            }
            heaps.extend(holders.iter().find_map(|(_, holder)| holder.known().home));
        }
        // With several heaps the kernel moves containers in vectors between them, and whoever launches it has promised that it
        // is right.
        let several = heaps.len() > 1;
        for (at, holder) in &holders {
            if several && matches!(holder, Holder::Vector(..)) {
                continue;
            }
            holder.check(&heaps).map_err(|why| DeviceError::BadLaunch {
                kernel: self.entry.to_string(),
                why: format!("its argument {} {why}", at + 1),
            })?;
        }
        // Nothing is noted of a launch that was refused.
        for (_, holder) in &holders {
            if let Some(contents) = holder.changed()
                && (several || contents.now().home.is_none())
            {
                contents.known().home = if several {
                    None
                } else {
                    heaps.first().cloned()
                };
            }
        }
        self.keep_owners(&holders);
        Ok(())
    }

    /// Vectors that may have a container from here on keep it.
    fn keep_owners(&self, holders: &[(usize, Holder<'_>)]) {
        if !holders
            .iter()
            .any(|(_, holder)| holder.may_keep().is_some())
        {
            return;
        }
        let owners: Vec<_> = holders
            .iter()
            .flat_map(|(_, one)| one.known().owners)
            .collect();
        for (_, holder) in holders {
            if let Some(contents) = holder.may_keep() {
                contents.keep(&owners);
            }
        }
    }
}
