//! Queues launches so that the device never waits for the host, and times them.
//!
//! An event before and one after every launch give its time. At most [`WINDOW`] launches wait in the
//! driver's queue: where that is full, the driver blocks inside the next launch, and a kernel that
//! never ends could not be noticed. The time of the first launch of a batch includes the few
//! microseconds until it arrives, because the device is idle then; measure with a launch before it.

use crate::driver;
use crate::memory::Allocation;
use crate::module::Kernel;
use crate::session::{Session, passed};
use crate::status::Status;
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DevicePointer, DeviceSlice};
use std::time::Duration;
use warpheap_api::abi::{ArgBlock, REPORT_WORDS};
use warpheap_api::host::{DeviceError, LaunchReport};

/// Launches that may wait in the driver's queue. It holds about a thousand operations; a launch and
/// its two events are three.
const WINDOW: usize = 256;

/// Bytes of a launch report.
const REPORT_BYTES: u64 = REPORT_WORDS as u64 * 4;

/// Reports that there is room for from the start.
const FIRST_REPORTS: u64 = 1024;

/// A launch with everything looked up.
pub(crate) struct Ready {
    pub(crate) entry: &'static str,
    pub(crate) module: u64,
    /// Whether the module has a report of panics.
    pub(crate) reports_panics: bool,
    pub(crate) kernel: Kernel,
    pub(crate) grid_dim: u32,
    pub(crate) block_dim: u32,
    pub(crate) args: ArgBlock,
}

/// The events and reports of launches, kept from batch to batch.
#[derive(Default)]
pub(crate) struct Queue {
    /// Before and after a launch.
    events: Vec<(Event, Event)>,
    reports: Option<Allocation>,
}

impl Queue {
    /// Makes room for `launches` reports; returns the address of the first. They lie one after the
    /// other, see [`report_address`]. What was too small goes to `retired`, to be freed.
    pub(crate) fn reserve(
        &mut self,
        launches: usize,
        retired: &mut Vec<Allocation>,
    ) -> Result<u64, Status> {
        let bytes = launches as u64 * REPORT_BYTES;
        if let Some(old) = self.reports.take() {
            if old.bytes >= bytes {
                self.reports = Some(old);
                return Ok(old.address);
            }
            // Every launch that wrote a report there has ended, since calls that launch here end with a wait.
            retired.push(old);
        }
        let room = bytes.next_power_of_two().max(FIRST_REPORTS * REPORT_BYTES);
        let new = Allocation::new(room)?;
        self.reports = Some(new);
        Ok(new.address)
    }

    /// Runs `batch` in order and returns a report for each launch; `reports` is the address that
    /// [`reserve`](Self::reserve) returned for it. What runs beside it on the device may take `beside` times the time of a launch,
    /// which each launch may have to wait for.
    ///
    /// # Safety
    /// As [`driver::launch`], for every launch.
    pub(crate) unsafe fn run(
        &mut self,
        session: &mut Session,
        batch: &[Ready],
        reports: u64,
        beside: u64,
    ) -> Result<Vec<LaunchReport>, DeviceError> {
        let words = batch.len() * REPORT_WORDS;
        // SAFETY: `reserve` allocated that many words there.
        let mut reports = unsafe {
            DeviceSlice::from_raw_parts_mut(DevicePointer::<u32>::from_raw(reports), words)
        };
        // SAFETY: nothing on the host reads them before the copy below, in the same stream.
        unsafe { reports.set_32_async(0, &session.stream) }
            .map_err(|error| session.fail("cuMemsetD32Async", "zeroing launch reports", error))?;

        let mut times = Vec::with_capacity(batch.len());
        let mut stopped = None;
        for at in 0..batch.len() {
            if at >= WINDOW {
                times.push(self.collect(session, &batch[..at], at - WINDOW, beside)?);
            }
            // SAFETY: the caller's promise.
            if let Err(error) = unsafe { self.enqueue(session, &batch[at], at % WINDOW) } {
                stopped = Some((at, error));
                break;
            }
        }
        let queued = stopped.as_ref().map_or(batch.len(), |(at, _)| *at);
        for at in times.len()..queued {
            times.push(self.collect(session, &batch[..queued], at, beside)?);
        }
        if let Some((_, error)) = stopped {
            // The launches before it have ended, but its first event may still be under way.
            session.finish("a batch of launches")?;
            return Err(error);
        }

        let mut host = vec![0u32; words];
        // SAFETY: the copy has ended when `finish` returns, and `host` lives longer.
        unsafe { reports.async_copy_to(&mut host, &session.stream) }
            .map_err(|error| session.fail("cuMemcpyDtoHAsync", "reading launch reports", error))?;
        session.finish("reading launch reports")?;
        let words = host.chunks_exact(REPORT_WORDS);
        Ok(words.zip(times).map(report).collect())
    }

    /// Queues a launch between the two events of a slot.
    ///
    /// # Safety
    /// As [`driver::launch`].
    unsafe fn enqueue(
        &mut self,
        session: &mut Session,
        launch: &Ready,
        slot: usize,
    ) -> Result<(), DeviceError> {
        if self.events.len() <= slot {
            let pair = || -> Result<_, Status> {
                Ok((
                    Event::new(EventFlags::DEFAULT)?,
                    Event::new(EventFlags::DEFAULT)?,
                ))
            };
            let pair = pair().map_err(|status| session.fail("cuEventCreate", launch, status))?;
            self.events.push(pair);
        }
        let (before, after) = &self.events[slot];
        let stream = &session.stream;
        let record = before.record(stream).map_err(Status::from);
        record.map_err(|status| session.fail("cuEventRecord", launch, status))?;
        let stream = session.stream.as_inner();
        let Ready {
            kernel,
            grid_dim,
            block_dim,
            args,
            ..
        } = launch;
        // SAFETY: the caller's promise; the stream belongs to the same context as the kernel.
        unsafe { driver::launch(kernel.raw, *grid_dim, *block_dim, stream, args) }
            .map_err(|status| session.fail("cuLaunchKernel", launch, status))?;
        let record = after.record(&session.stream).map_err(Status::from);
        record.map_err(|status| session.fail("cuEventRecord", launch, status))
    }

    /// Waits for launch `at` of those that are queued, and returns its time.
    fn collect(
        &self,
        session: &mut Session,
        queued: &[Ready],
        at: usize,
        beside: u64,
    ) -> Result<Duration, DeviceError> {
        let (before, after) = &self.events[at % WINDOW];
        let pending = || describe(&names(&queued[at..]));
        session.wait(|| passed(after), 1 + beside, pending)?;
        let elapsed = after.elapsed_time_f32(before);
        let millis =
            elapsed.map_err(|error| session.fail("cuEventElapsedTime", &queued[at], error))?;
        Ok(duration(millis))
    }

    /// Frees the memory of the reports; the events free themselves, in the current context.
    pub(crate) fn close(self) -> Result<(), Status> {
        match self.reports {
            // SAFETY: every launch has ended, since calls end with a wait.
            Some(reports) => unsafe { reports.free() },
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the launch of {}", self.entry)
    }
}

/// Where the report of launch `at` lies, when the first lies at `first`.
pub(crate) fn report_address(first: u64, at: usize) -> u64 {
    first + at as u64 * REPORT_BYTES
}

fn names(launches: &[Ready]) -> Vec<&'static str> {
    launches.iter().map(|launch| launch.entry).collect()
}

/// Names the launches that may have caused what a wait ended with.
pub(crate) fn describe(pending: &[&str]) -> String {
    match pending {
        [] => "no launch".to_string(),
        [one] => format!("the launch of {one}"),
        [first, .., last] => {
            format!("one of {} launches, {first} to {last}", pending.len())
        }
    }
}

fn report((words, device_time): (&[u32], Duration)) -> LaunchReport {
    let mut report = LaunchReport {
        device_time,
        words: [0; REPORT_WORDS],
    };
    report.words.copy_from_slice(words);
    report
}

/// The driver's milliseconds; nothing for what is no time.
pub(crate) fn duration(millis: f32) -> Duration {
    Duration::try_from_secs_f64(millis as f64 / 1e3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launches_that_may_be_at_fault_are_named() {
        let batch = ["a_l1", "b_l1", "c_l1"];
        assert_eq!(describe(&batch[1..2]), "the launch of b_l1");
        assert_eq!(describe(&batch), "one of 3 launches, a_l1 to c_l1");
        assert_eq!(describe(&[]), "no launch");
    }

    #[test]
    fn reports_lie_one_after_the_other() {
        assert_eq!(report_address(4096, 0), 4096);
        assert_eq!(report_address(4096, 3), 4096 + 3 * 32);
    }

    #[test]
    fn times_are_never_nonsense() {
        assert_eq!(duration(0.5), Duration::from_micros(500));
        assert_eq!(duration(-1.0), Duration::ZERO);
        assert_eq!(duration(f32::NAN), Duration::ZERO);
    }
}
