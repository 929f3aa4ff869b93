//! Streams, events and pinned memory of the driver, where `cust` does not give what streams need.
//!
//! `cust` makes streams that wait for the default one, and takes an event away from who lets a stream wait for it. The driver's
//! answers are taken as integers, as in [`driver`](crate::driver).

use crate::status::Status;
use cust::sys::{
    self, CUcontext, CUevent, CUevent_flags, CUfunction, CUmodule, CUresult, CUstream,
    CUstream_flags,
};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::time::Duration;

/// A call that the driver refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) call: &'static str,
    pub(crate) status: Status,
}

/// Calls a function of the driver: its name, and for each argument value and type. To be used in an `unsafe` block that vouches for
/// the arguments; that the types are those of the function is checked by the compiler, and CUresult is a C enum of the size of an
/// int, so functions that return the one and the other are called alike.
macro_rules! ask {
    ($function:ident($($value:expr => $kind:ty),* $(,)?)) => {{
        type Typed = unsafe extern "C" fn($($kind),*) -> CUresult;
        type Plain = unsafe extern "C" fn($($kind),*) -> c_int;
        let call = transmute::<Typed, Plain>(sys::$function);
        match Status(call($($value),*)) {
            Status(0) => Ok(()),
            status => Err(Refused {
                call: stringify!($function).trim_end_matches("_v2"),
                status,
            }),
        }
    }};
}

/// A point in a stream of the current context, destroyed when it is dropped.
#[derive(Debug)]
pub(crate) struct Event {
    raw: CUevent,
    /// Whether the device notes the time at it.
    timed: bool,
}

// SAFETY: the handle is a number to the driver, which may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above; the driver serialises calls for one event.
unsafe impl Sync for Event {}

impl Event {
    fn new(timed: bool) -> Result<Self, Refused> {
        let flags = match timed {
            true => CUevent_flags::CU_EVENT_DEFAULT,
            false => CUevent_flags::CU_EVENT_DISABLE_TIMING,
        };
        let mut raw = null_mut();
        // SAFETY: room for the answer.
        unsafe { ask!(cuEventCreate(&mut raw => *mut CUevent, flags as c_uint => c_uint)) }?;
        Ok(Event { raw, timed })
    }

    /// Puts the event behind all that is in a stream.
    ///
    /// # Safety
    /// `stream` is a stream of the event's context.
    pub(crate) unsafe fn record(&self, stream: CUstream) -> Result<(), Refused> {
        // SAFETY: the caller's promise; the event lives.
        unsafe { ask!(cuEventRecord(self.raw => CUevent, stream => CUstream)) }
    }

    /// Whether the device has passed it; so too if it was never recorded.
    pub(crate) fn passed(&self) -> Result<bool, Refused> {
        // SAFETY: the event lives.
        match unsafe { ask!(cuEventQuery(self.raw => CUevent)) } {
            Ok(()) => Ok(true),
            Err(refused) if refused.status == Status::NOT_READY => Ok(false),
            Err(refused) => Err(refused),
        }
    }

    /// The time from another event to this one; both note the time and were passed. Nothing if the other one came later.
    pub(crate) fn since(&self, earlier: &Event) -> Result<Duration, Refused> {
        let mut millis = 0.0;
        // SAFETY: both events live, and there is room for the answer.
        unsafe {
            ask!(cuEventElapsedTime(&mut millis => *mut f32, earlier.raw => CUevent, self.raw => CUevent))
        }?;
        Ok(duration(millis))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and destroyed once; what waits for it on the device goes on doing so.
        unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}

/// Events to use again.
#[derive(Default)]
pub(crate) struct Events {
    plain: Vec<Arc<Event>>,
    timed: Vec<Arc<Event>>,
}

impl Events {
    /// An event without a time, which costs less.
    pub(crate) fn plain(&mut self) -> Result<Arc<Event>, Refused> {
        match self.plain.pop() {
            Some(event) => Ok(event),
            None => Event::new(false).map(Arc::new),
        }
    }

    /// An event with a time.
    pub(crate) fn timed(&mut self) -> Result<Arc<Event>, Refused> {
        match self.timed.pop() {
            Some(event) => Ok(event),
            None => Event::new(true).map(Arc::new),
        }
    }

    /// Keeps an event for later, unless somebody else still has it, who would wait for what it is used for next.
    pub(crate) fn give(&mut self, event: Arc<Event>) {
        if Arc::strong_count(&event) == 1 {
            let kept = match event.timed {
                true => &mut self.timed,
                false => &mut self.plain,
            };
            kept.push(event);
        }
    }
}

/// A stream of the driver that waits for no other one, destroyed when it is dropped. Its work ends all the same.
#[derive(Debug)]
pub(crate) struct Lane {
    raw: CUstream,
}

// SAFETY: the handle is a number to the driver, which may be used from any thread.
unsafe impl Send for Lane {}

impl Lane {
    /// A stream of the current context.
    pub(crate) fn new() -> Result<Self, Refused> {
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
        let mut raw = null_mut();
        // SAFETY: room for the answer.
        unsafe { ask!(cuStreamCreate(&mut raw => *mut CUstream, flags as c_uint => c_uint)) }?;
        Ok(Lane { raw })
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Puts an event behind all that is queued.
    pub(crate) fn record(&self, event: &Event) -> Result<(), Refused> {
        // SAFETY: all events and streams of this crate are of one context for each device, and do not meet those of another one.
        unsafe { event.record(self.raw) }
    }

    /// What is queued from here on begins when an event was passed, as it is recorded now.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<(), Refused> {
        // SAFETY: as for `record`; 0 is the only flag there is.
        unsafe { ask!(cuStreamWaitEvent(self.raw => CUstream, event.raw => CUevent, 0 => c_uint)) }
    }

    /// Queues a copy from pinned memory.
    ///
    /// # Safety
    /// Both ranges are valid, and the one on the host is not changed, until the copy has ended.
    pub(crate) unsafe fn to_device(
        &self,
        to: u64,
        from: NonNull<u8>,
        bytes: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe {
            ask!(cuMemcpyHtoDAsync_v2(
                to => u64,
                from.as_ptr().cast_const().cast() => *const c_void,
                bytes => usize,
                self.raw => CUstream,
            ))
        }
    }

    /// Queues a copy to pinned memory.
    ///
    /// # Safety
    /// Both ranges are valid, and the one on the host is not relied on, until the copy has ended.
    pub(crate) unsafe fn to_host(
        &self,
        to: NonNull<u8>,
        from: u64,
        bytes: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe {
            ask!(cuMemcpyDtoHAsync_v2(
                to.as_ptr().cast() => *mut c_void,
                from => u64,
                bytes => usize,
                self.raw => CUstream,
            ))
        }
    }

    /// Queues a copy on the device.
    ///
    /// # Safety
    /// Both ranges are valid until the copy has ended.
    pub(crate) unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe {
            ask!(cuMemcpyDtoDAsync_v2(to => u64, from => u64, bytes => usize, self.raw => CUstream))
        }
    }

    /// Queues setting `words` words to `value`.
    ///
    /// # Safety
    /// The range is valid until that has ended.
    pub(crate) unsafe fn fill(&self, at: u64, words: usize, value: u32) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { fill(self.raw, at, words, value) }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and destroyed once.
        unsafe { sys::cuStreamDestroy_v2(self.raw) };
    }
}

/// Queues setting `words` words to `value` in a stream.
///
/// # Safety
/// The stream is one of the current context, and the range is valid until that has ended.
pub(crate) unsafe fn fill(
    stream: CUstream,
    at: u64,
    words: usize,
    value: u32,
) -> Result<(), Refused> {
    // SAFETY: the caller's promise.
    unsafe {
        ask!(cuMemsetD32Async(at => u64, value => c_uint, words => usize, stream => CUstream))
    }
}

/// Memory of the host that the device copies from and to by itself. It is not freed by itself.
pub(crate) fn pin(bytes: usize) -> Result<NonNull<u8>, Refused> {
    let mut start = null_mut();
    // SAFETY: room for the answer; no flags.
    unsafe { ask!(cuMemHostAlloc(&mut start => *mut *mut c_void, bytes => usize, 0 => c_uint)) }?;
    NonNull::new(start.cast()).ok_or(Refused {
        call: "cuMemHostAlloc",
        status: Status::OUT_OF_MEMORY,
    })
}

/// Gives pinned memory back. The driver may wait for the device meanwhile.
///
/// # Safety
/// It is what [`pin`] returned in this context, it is freed once, and nothing uses it any more.
pub(crate) unsafe fn unpin(start: NonNull<u8>) -> Result<(), Refused> {
    // SAFETY: the caller's promise.
    unsafe { ask!(cuMemFreeHost(start.as_ptr().cast() => *mut c_void)) }
}

/// Where a variable of `bytes` bytes lies that the module of a kernel has.
///
/// # Safety
/// `kernel` is a function of a loaded module of the current context.
pub(crate) unsafe fn variable(
    kernel: CUfunction,
    name: &CStr,
    bytes: usize,
) -> Result<u64, Refused> {
    let (mut module, mut address, mut size) = (null_mut(), 0, 0);
    // SAFETY: the caller's promise, and room for the answer.
    unsafe { ask!(cuFuncGetModule(&mut module => *mut CUmodule, kernel => CUfunction)) }?;
    // SAFETY: the module was just named by the driver; room for the answers, and the name ends in a NUL.
    unsafe {
        ask!(cuModuleGetGlobal_v2(
            &mut address => *mut u64,
            &mut size => *mut usize,
            module => CUmodule,
            name.as_ptr() => *const c_char,
        ))
    }?;
    match size == bytes {
        true => Ok(address),
        false => Err(Refused {
            call: "cuModuleGetGlobal",
            status: Status::NOT_FOUND,
        }),
    }
}

/// Makes a context that lives the current one of this thread.
#[inline]
pub(crate) fn make_current(context: CUcontext) -> Result<(), Refused> {
    // SAFETY: the driver refuses what is no context.
    unsafe { ask!(cuCtxSetCurrent(context => CUcontext)) }
}

/// Waits for what was queued on the default stream of the current context.
pub(crate) fn end_of_default_stream() -> Result<(), Refused> {
    // SAFETY: null is the default stream.
    unsafe { ask!(cuStreamSynchronize(null_mut() => CUstream)) }
}

/// The driver's milliseconds; nothing for what is no time.
fn duration(millis: f32) -> Duration {
    Duration::try_from_secs_f64(millis as f64 / 1e3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_never_nonsense() {
        assert_eq!(duration(0.5), Duration::from_micros(500));
        assert_eq!(duration(-1.0), Duration::ZERO);
        assert_eq!(duration(f32::NAN), Duration::ZERO);
    }
}
