//! Heaps that get another size where they lie.

use super::{Pool, fits};
use crate::header;
use crate::host::bytes::{bytes_of, bytes_of_mut};
use crate::host::{
    BufferId, Device, DeviceError, Growth, HeapPlan, HeapReader, HostAlloc, KernelFailure,
    LaunchReport, Prepared,
};
use std::format;
use std::string::ToString;

impl<A: HostAlloc> Pool<A> {
    /// As many bytes as [`grow_to`](Self::grow_to) can give the pool: what was reserved. Of a pool that cannot grow it is its size.
    pub fn most_bytes(&self) -> u64 {
        self.raw.most_words() * 4
    }

    /// Enlarges the pool to `bytes` bytes, its metadata included; nothing happens if it has as many. Work of streams in it is
    /// waited for.
    ///
    /// Every block stays where it is, allocated and with its contents, and so does all that the host owns in the heap. Launches that
    /// were prepared before, with this pool, find the new size. What the allocator knows of where it last found room is
    /// forgotten.
    ///
    /// # Errors
    /// [`DeviceError::CannotResize`] if the pool was not made by [`Device::reserve_growing`], or for more than was reserved
    /// there; [`DeviceError::OutOfMemory`] and [`DeviceError::TooLarge`] if the device cannot give as many; errors of the
    /// device. The pool is as before then.
    pub fn grow_to(&mut self, bytes: u64) -> Result<(), DeviceError> {
        let bytes = bytes & !15;
        if bytes <= self.bytes() {
            return Ok(());
        }
        if self.layout.is_some() && bytes > self.most_bytes() {
            let most = self.most_bytes();
            return Err(self.cannot_resize(
                bytes,
                &format!("{most} bytes were reserved for it: reserve more"),
            ));
        }
        fits(&self.raw.device, bytes)?;
        self.held(bytes, |pool| pool.resize(bytes))
    }

    /// Gives the memory at the pool's end that no block lies in back to the device; the number of bytes. The pool can grow again.
    /// Work of streams in it is waited for.
    ///
    /// Nothing is moved: a single block at the end keeps all of the pool. So does memory in front of the last block, though it is
    /// free. The allocator's metadata stay, too.
    ///
    /// # Errors
    /// [`DeviceError::CannotResize`] if the pool was not made by [`Device::reserve_growing`]; errors of the device.
    pub fn shrink_to_fit(&mut self) -> Result<u64, DeviceError> {
        let before = self.bytes();
        self.held(0, |pool| {
            let mut reader = Held(&pool.raw.device, pool.raw.buffer.id());
            let end = A::end_of_use(&pool.raw.params(), &mut reader)?;
            if end >= before {
                return Ok(0);
            }
            let bytes = end.next_multiple_of(16);
            pool.resize(bytes)?;
            Ok(before - bytes)
        })
    }

    /// Runs a launch with this pool and waits for its end. If it fails since this heap is full, enlarges the pool and runs the launch
    /// again, as often as `growth` goes on.
    ///
    /// **The kernel must be one that may run again** after it ran in part: some lanes have done all of their work then and some
    /// a part of it, blocks that they took stay taken, and what they wrote stays written. Such a kernel does in each lane only what
    /// is not done yet, frees what a lane took that fails, or begins by clearing what it fills. A kernel that counts or pushes
    /// without that counts and pushes twice. Nothing here can check it; memory stays safe in any case.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`] of the last run if lanes failed for another reason than [`Exhausted`](crate::AllocError::Exhausted)
    /// (or [`Contended`](crate::AllocError::Contended) beside it), if another heap of the launch was full, or if the pool is not to
    /// grow any more; [`DeviceError::BadLaunch`] if the launch does not take this pool; as [`Prepared::run`] and
    /// [`grow_to`](Self::grow_to).
    pub fn launch_or_grow(
        &mut self,
        launch: &Prepared,
        growth: Growth,
    ) -> Result<LaunchReport, DeviceError> {
        if !launch.takes(self.raw.buffer.id()) {
            return Err(DeviceError::BadLaunch {
                kernel: launch.entry().to_string(),
                why: "the pool that is to grow is not among its arguments".to_string(),
            });
        }
        loop {
            let refused = self.refused()?;
            let failure = match launch.run_once() {
                Err(DeviceError::Kernel(failure)) if is_of_room(&failure) => failure,
                other => return other,
            };
            let growth = growth.at_most_also(self.most_bytes());
            match growth.after(self.bytes()) {
                // Another heap's failures do not end when this one grows.
                Some(bytes) if self.refused()? != refused => self.grow_to(bytes)?,
                _ => return Err(failure.into()),
            }
        }
    }

    /// How often the heap said that it is full.
    fn refused(&self) -> Result<u32, DeviceError> {
        let mut count = [0u32];
        let word = header::WORD_FAILURES as u64 + crate::AllocError::Exhausted.code() as u64;
        let bytes = bytes_of_mut(&mut count);
        self.raw.buffer.read(word * 4, bytes)?;
        Ok(count[0])
    }

    /// Does something while nobody else has the heap, which is to get another size.
    fn held<R>(
        &mut self,
        bytes: u64,
        work: impl FnOnce(&mut Self) -> Result<R, DeviceError>,
    ) -> Result<R, DeviceError> {
        if self.layout.is_none() {
            return Err(self.cannot_resize(
                bytes,
                "it has one size: make it with `Device::reserve_growing`",
            ));
        }
        let shared = self.raw.device.shared().clone();
        let whole = [self.whole()];
        let _held = shared.permit(&whole)?;
        // A heap that a backend was told to bind is not known to the order.
        shared.backend.await_bound(self.raw.buffer.id())?;
        work(self)
    }

    /// Gives the heap another size. The caller holds it.
    fn resize(&mut self, bytes: u64) -> Result<(), DeviceError> {
        let plan = match &self.layout {
            Some(layout) => layout(bytes)?,
            None => return Ok(()),
        };
        let grows = bytes > self.bytes();
        if grows {
            self.raw.buffer.resize(bytes)?;
        }
        self.refill(&plan)?;
        self.raw.extent.set(bytes / 4, &plan.params);
        self.plan = plan;
        let backend = self.raw.device.backend();
        backend.rebind_heap(&self.raw.heap_arg())?;
        if !grows {
            self.raw.buffer.resize(bytes)?;
        }
        Ok(())
    }

    /// Sets what is different in a heap of this layout.
    fn refill(&self, plan: &HeapPlan) -> Result<(), DeviceError> {
        let refill = A::refill(&self.plan, plan);
        self.fill(refill.fills.into_iter())?;
        let (id, backend) = (self.raw.buffer.id(), self.raw.device.backend());
        let mut words = refill.words.iter();
        words.try_for_each(|(word, values)| backend.write(id, word * 4, bytes_of(values)))
    }

    fn cannot_resize(&self, bytes: u64, why: &str) -> DeviceError {
        DeviceError::CannotResize {
            what: format!("a {} pool of {} bytes", A::NAME, self.bytes()),
            bytes,
            why: why.to_string(),
        }
    }
}

/// Whether lanes failed since a heap had no room, and for no other reason.
fn is_of_room(failure: &KernelFailure) -> bool {
    let [exhausted, _contended, unsupported] = failure.by_cause;
    exhausted > 0 && unsupported == 0 && failure.own() == 0
}

/// Reads a heap that the caller holds.
struct Held<'a>(&'a Device, BufferId);

impl HeapReader for Held<'_> {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        let Held(device, buffer) = self;
        device
            .backend()
            .read(*buffer, first * 4, bytes_of_mut(words))
    }
}
