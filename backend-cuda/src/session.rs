//! The context and stream of an opened GPU, waiting for them, and what is left after a fault.

use crate::context::Context;
use crate::handles::Lane;
use crate::status::Status;
use crate::sys::CUdevice;
use std::time::{Duration, Instant};
use warpheap_api::host::DeviceError;

/// The context and stream of an opened GPU.
pub(crate) struct Session {
    /// The stream of copies from and to the host that are waited for. Dropped before the context that owns it.
    pub(crate) stream: Lane,
    /// The device's primary context, shared with other users of it in this process.
    context: Context,
    /// Name of the device, for messages.
    pub(crate) name: String,
    /// How long one launch may run.
    timeout: Duration,
    loss: Option<Loss>,
}

/// Why the device cannot be used any more.
#[derive(Clone, Debug)]
struct Loss {
    kind: LossKind,
    during: String,
    what: String,
}

/// What is left of a lost device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossKind {
    /// The driver stopped the kernel and refuses everything else in this context.
    Fault,
    /// A kernel runs on; every call that waits for the device would wait for it.
    Hang,
}

/// What ended a wait early.
pub(crate) enum Stop {
    Failed(Status),
    Timeout,
}

impl Session {
    /// A session in `context`, which is current on this thread.
    pub(crate) fn new(context: Context, name: String, timeout: Duration) -> Result<Self, Status> {
        // It does not wait for the default stream, which only heaps of collections go through, and which ends before such a call does.
        let stream = Lane::named("warpheap copies")?;
        Ok(Session {
            stream,
            context,
            name,
            timeout,
            loss: None,
        })
    }

    /// Begins a call: refuses it after a loss, and makes the context current on this thread.
    #[inline]
    pub(crate) fn enter(&mut self, during: &'static str) -> Result<(), DeviceError> {
        if let Some(loss) = &self.loss {
            return Err(self.lost(loss));
        }
        self.make_current()
            .map_err(|status| self.fail("cuCtxSetCurrent", during, status))
    }

    /// The device of the context.
    pub(crate) fn device(&self) -> CUdevice {
        self.context.device()
    }

    /// The device's primary context.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Makes the context current on this thread.
    #[inline]
    pub(crate) fn make_current(&self) -> Result<(), Status> {
        Ok(self.context.make_current()?)
    }

    /// What is left of the device, if it was lost.
    pub(crate) fn loss(&self) -> Option<LossKind> {
        self.loss.as_ref().map(|loss| loss.kind)
    }

    /// The error for `call`, made by the operation `during`, that returned `status`; notes a loss.
    pub(crate) fn fail(
        &mut self,
        call: &'static str,
        during: impl ToString,
        status: impl Into<Status>,
    ) -> DeviceError {
        let status = status.into();
        if status.is_fatal() {
            return self.lose(LossKind::Fault, during.to_string(), status.explained());
        }
        DeviceError::Driver {
            device: self.name.clone(),
            call,
            what: format!("{} (in {})", status.explained(), during.to_string()),
        }
    }

    /// Waits until the device has passed an event, at most for `times` the time that a launch may take.
    pub(crate) fn wait(
        &mut self,
        passed: impl FnMut() -> Result<bool, Status>,
        times: u64,
        during: impl FnOnce() -> String,
    ) -> Result<(), DeviceError> {
        match poll(self.patience(times), passed) {
            Ok(()) => Ok(()),
            Err(Stop::Failed(status)) => Err(self.fail("cuEventQuery", during(), status)),
            Err(Stop::Timeout) => Err(self.give_up(during(), times)),
        }
    }

    /// So many times what a launch may take.
    pub(crate) fn patience(&self, times: u64) -> Duration {
        self.timeout
            .saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
    }

    /// The error for work that did not end in `times` the time that a launch may take; the device is lost.
    pub(crate) fn give_up(&mut self, during: String, times: u64) -> DeviceError {
        let seconds = self.timeout.as_secs_f64();
        let what = match times {
            0 | 1 => format!(
                "not done after {seconds} s, the time that a launch may take (WARPHEAP_TIMEOUT_S sets it)"
            ),
            _ => format!(
                "nothing was done for {times} times {seconds} s, the time that a launch may take (WARPHEAP_TIMEOUT_S sets it)"
            ),
        };
        let what =
            format!("{what}; the memory of the device stays allocated until this process ends");
        self.lose(LossKind::Hang, during, what)
    }

    /// Notes a loss, of which the first one counts: what comes later follows from it.
    fn lose(&mut self, kind: LossKind, during: String, what: String) -> DeviceError {
        if let Some(first) = &self.loss {
            return self.lost(first);
        }
        let loss = Loss { kind, during, what };
        tracing::error!(device = %self.name, during = %loss.during, what = %loss.what, "device lost");
        let error = self.lost(&loss);
        self.loss = Some(loss);
        error
    }

    fn lost(&self, loss: &Loss) -> DeviceError {
        DeviceError::Lost {
            device: self.name.clone(),
            during: loss.during.clone(),
            what: loss.what.clone(),
        }
    }

    /// Ends a session after a fault: releases the context, with whose last user everything in it goes.
    pub(crate) fn abandon(self) {
        // The stream went with the fault; destroying it would only return the same error.
        std::mem::forget(self.stream);
        drop(self.context);
    }
}

/// Calls `passed` until it says so, at most for `timeout`. The first milliseconds at full speed, since
/// most launches are shorter than a sleep; then with short sleeps.
pub(crate) fn poll(
    timeout: Duration,
    mut passed: impl FnMut() -> Result<bool, Status>,
) -> Result<(), Stop> {
    const EAGER: Duration = Duration::from_millis(2);
    const NAP: Duration = Duration::from_micros(100);
    let start = Instant::now();
    loop {
        // The time is taken before asking, so that a device that was done in time is never lost
        // because this thread was not scheduled.
        let waited = start.elapsed();
        if passed().map_err(Stop::Failed)? {
            return Ok(());
        }
        if waited >= timeout {
            return Err(Stop::Timeout);
        }
        if waited < EAGER {
            std::hint::spin_loop();
        } else {
            std::thread::sleep(NAP.min(timeout - waited));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_ends_with_the_event_the_error_or_the_time() {
        let second = Duration::from_secs(1);
        let mut left = 5;
        let countdown = poll(second, || {
            left -= 1;
            Ok(left == 0)
        });
        assert!(countdown.is_ok());
        assert_eq!(left, 0);

        let failed = poll(second, || Err(Status(700)));
        assert!(matches!(failed, Err(Stop::Failed(Status(700)))));

        let start = Instant::now();
        let never = poll(Duration::from_millis(20), || Ok(false));
        assert!(matches!(never, Err(Stop::Timeout)));
        let took = start.elapsed();
        assert!(
            took >= Duration::from_millis(20) && took < second,
            "{took:?}"
        );
    }

    #[test]
    fn what_is_done_in_time_is_not_lost_to_a_slow_host() {
        let mut first = true;
        let slow = poll(Duration::from_millis(1), || {
            if std::mem::replace(&mut first, false) {
                std::thread::sleep(Duration::from_millis(5));
                return Ok(false);
            }
            Ok(true)
        });
        assert!(slow.is_ok());
    }
}
