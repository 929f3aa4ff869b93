//! Who uses which memory at the moment, so that work on streams, launches that are waited for and the host's own reads and writes do
//! not meet in the same memory, except in heaps, which are there to be shared.

mod demands;

pub(super) use demands::Demands;

use super::{Arg, BufferId, DeviceError, Mark, StreamId};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

/// What somebody does with a range of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Access {
    /// Kernels allocate and free there. What else lies in a heap, vectors in it among them, are blocks that nobody else has.
    Heap,
    /// Kernels read it, or change words of it atomically.
    Read,
    /// Kernels change it.
    Write,
    /// It is copied, as it is at one moment.
    Snapshot,
    /// It is written over by a copy or a fill.
    Overwrite,
}

impl Access {
    /// Whether one of the two has to come after the other.
    fn clashes(self, other: Access) -> bool {
        use Access::{Heap, Read, Snapshot, Write};
        !matches!(
            (self, other),
            (Heap, Heap | Read | Write)
                | (Read | Write, Heap)
                | (Read, Read)
                | (Snapshot, Snapshot)
        )
    }
}

/// What somebody is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Demand {
    pub(super) buffer: BufferId,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) access: Access,
}

impl Demand {
    /// `bytes` bytes from `offset` of a buffer.
    pub(super) fn new(buffer: BufferId, offset: u64, bytes: u64, access: Access) -> Self {
        Demand {
            buffer,
            begin: offset,
            end: offset.saturating_add(bytes),
            access,
        }
    }

    /// All of a buffer, also of one that gets another size meanwhile.
    pub(super) fn whole(buffer: BufferId, access: Access) -> Self {
        Demand::new(buffer, 0, u64::MAX, access)
    }

    /// That of a launch that may use this heap, however large it is when the launch begins.
    pub(super) fn heap(buffer: BufferId) -> Self {
        Demand::whole(buffer, Access::Heap)
    }

    /// Those of a launch with these arguments.
    pub(super) fn of(args: &[Arg]) -> impl Iterator<Item = Demand> + '_ {
        args.iter().filter_map(|arg| {
            let (buffer, offset, bytes) = arg.binding()?;
            Some(match arg {
                Arg::Heap(_) => Demand::heap(buffer),
                Arg::Slice(slice) if slice.mutable => {
                    Demand::new(buffer, offset, bytes, Access::Write)
                }
                _ => Demand::new(buffer, offset, bytes, Access::Read),
            })
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.end - self.begin
    }

    /// Whether the ranges share a byte.
    pub(super) fn meets(&self, other: &Demand) -> bool {
        self.buffer == other.buffer && self.begin < other.end && other.begin < self.end
    }

    /// Refuses a copy from one range to another that share a byte.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub(super) fn apart(&self, other: &Demand) -> Result<(), DeviceError> {
        if self.meets(other) {
            return Err(DeviceError::OutOfRange {
                what: "a copy over itself",
                got: self.bytes(),
                room: self.begin.abs_diff(other.begin),
            });
        }
        Ok(())
    }

    fn clashes(&self, other: &Demand) -> bool {
        self.meets(other) && self.access.clashes(other.access)
    }
}

/// Who uses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    /// A call of the host that has not returned.
    Call(u64),
    /// Work of a stream, until the mark is reached.
    Stream(Mark),
}

#[derive(Clone, Copy, Debug)]
struct Use {
    demand: Demand,
    user: User,
}

/// The uses of one device's memory.
#[derive(Debug, Default)]
pub(super) struct Order {
    table: Mutex<Table>,
    /// A call has returned.
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Table {
    uses: BTreeMap<BufferId, Vec<Use>>,
    calls: u64,
    /// Calls that wait for another one to return.
    waiting: u32,
}

impl Order {
    /// Begins a call that uses memory so: waits until no other call uses it, and holds the uses until the permit is dropped. Work of
    /// streams is not waited for; `Permit::after` tells which has to come first.
    pub(super) fn begin<'a>(&'a self, demands: &'a [Demand]) -> Permit<'a> {
        self.begin_in(None, demands.into())
    }

    /// The same for work of a stream, which orders its own work.
    pub(super) fn begin_in<'a>(
        &'a self,
        stream: Option<StreamId>,
        demands: Demands<'a>,
    ) -> Permit<'a> {
        let mut table = self.table();
        table.calls += 1;
        let call = table.calls;
        let mut after = Vec::new();
        while !table.begin(call, demands, stream, &mut after) {
            after.clear();
            table.waiting += 1;
            let waited = self.returned.wait(table);
            table = waited.unwrap_or_else(PoisonError::into_inner);
            table.waiting -= 1;
        }
        Permit {
            order: self,
            call,
            demands,
            after,
            becomes: None,
        }
    }

    /// Forgets the uses of a stream up to a number, which it has reached.
    pub(super) fn reached(&self, mark: Mark) {
        let mut table = self.table();
        table.uses.retain(|_, uses| {
            uses.retain(|one| match one.user {
                User::Stream(used) => used.stream != mark.stream || used.at > mark.at,
                User::Call(_) => true,
            });
            !uses.is_empty()
        });
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic elsewhere leaves no use half written.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Notes the uses of a call, unless one clashes with that of another call: then nothing is noted. Adds to `after` of each stream
    /// that clashes the last mark, but of `own`.
    fn begin(
        &mut self,
        call: u64,
        demands: Demands<'_>,
        own: Option<StreamId>,
        after: &mut Vec<Mark>,
    ) -> bool {
        for (noted, demand) in demands.iter().enumerate() {
            let uses = self.uses.entry(demand.buffer).or_default();
            for one in uses.iter().filter(|one| one.demand.clashes(&demand)) {
                match one.user {
                    User::Stream(mark) if Some(mark.stream) != own => add(after, mark),
                    User::Call(other) if other != call => {
                        for demand in demands.iter().take(noted) {
                            self.end(call, demand.buffer, None);
                        }
                        return false;
                    }
                    _ => {}
                }
            }
            let user = User::Call(call);
            uses.push(Use { demand, user });
        }
        true
    }

    /// Ends a call: its uses of a buffer are over, or go on as those of a stream.
    fn end(&mut self, call: u64, buffer: BufferId, becomes: Option<Mark>) {
        let Some(uses) = self.uses.get_mut(&buffer) else {
            return;
        };
        let mut at = 0;
        while let Some(one) = uses.get(at).copied() {
            if one.user != User::Call(call) {
                at += 1;
                continue;
            }
            uses.swap_remove(at);
            let Some(mark) = becomes else { continue };
            // A stream that does the same again and again has one entry.
            let same = uses.iter_mut().find(|other| {
                other.demand == one.demand
                    && matches!(other.user, User::Stream(used) if used.stream == mark.stream)
            });
            let user = User::Stream(mark);
            match same {
                Some(same) => same.user = same.user.later(mark),
                None => uses.push(Use { user, ..one }),
            }
        }
        if uses.is_empty() {
            self.uses.remove(&buffer);
        }
    }
}

impl User {
    /// The later of a stream's mark and another one of it.
    fn later(self, mark: Mark) -> User {
        match self {
            User::Stream(used) if used.at > mark.at => self,
            _ => User::Stream(mark),
        }
    }
}

/// Adds a mark to others of which there is one for each stream.
fn add(marks: &mut Vec<Mark>, mark: Mark) {
    match marks.iter_mut().find(|other| other.stream == mark.stream) {
        Some(other) => other.at = other.at.max(mark.at),
        None => marks.push(mark),
    }
}

/// A call that uses memory.
#[derive(Debug)]
pub(super) struct Permit<'a> {
    order: &'a Order,
    call: u64,
    demands: Demands<'a>,
    after: Vec<Mark>,
    becomes: Option<Mark>,
}

impl Permit<'_> {
    /// What has to be reached before the memory may be used: at most one mark for each other stream.
    pub(super) fn after(&self) -> &[Mark] {
        &self.after
    }

    /// Ends the call; the uses go on until the mark is reached.
    pub(super) fn becomes(mut self, mark: Mark) {
        self.becomes = Some(mark);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut table = self.order.table();
        for demand in self.demands.iter() {
            table.end(self.call, demand.buffer, self.becomes);
        }
        // Waking nobody would cost a call of the system all the same.
        let waiting = table.waiting > 0;
        drop(table);
        if waiting {
            self.order.returned.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
