//! Memory of a device that another library of it works on: one that sends it to other devices, or computes with it.

use super::check::check_memory;
use super::order::Demand;
use super::{Arg, Device, DeviceError};
use core::ffi::c_void;
use std::vec::Vec;

/// Memory as another library of the device takes it.
#[derive(Clone, Copy, Debug)]
pub struct Lent<'a> {
    /// Where each piece begins, in bytes: on CUDA a device pointer.
    pub addresses: &'a [u64],
    /// The stream for what the library queues: on CUDA a `CUstream`, of the device's primary context, which is current. It is of no use
    /// after the call.
    pub stream: *mut c_void,
}

impl Device {
    /// Lends memory to another library of this device: calls `work` with where each of `args` lies and with a stream, and waits for what
    /// it queued there. Work that uses the memory and was queued before has ended when `work` is called, and what is queued by other
    /// threads meanwhile comes behind it. Its kernels go before launches that have nothing to do with the memory. Returns whether `work` was
    /// called: only CUDA has addresses that other libraries know.
    ///
    /// ```no_run
    /// use warpheap_api::host::{Device, DeviceError, DeviceVec};
    ///
    /// # fn twice(address: u64, len: usize, stream: *mut core::ffi::c_void) {}
    /// fn double(device: &Device, numbers: &DeviceVec<f32>) -> Result<bool, DeviceError> {
    ///     let len = numbers.len();
    ///     // SAFETY: `twice` changes the numbers, which it is lent for that, on the stream that it is given.
    ///     unsafe { device.lend(&[numbers.arg_mut()], |lent| twice(lent.addresses[0], len, lent.stream)) }
    /// }
    /// ```
    ///
    /// # Safety
    /// What `work` queues uses no memory of this device but these pieces, within their lengths, changes none that is not lent as
    /// mutable ([`arg_mut`](super::DeviceVec::arg_mut)), and goes to the stream that it is given, or has ended when `work` returns.
    /// Afterwards the memory holds values of its type.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`]; [`DeviceError::BadLaunch`] for memory that is lent twice and of which it changes one;
    /// [`DeviceError::Stale`] for vectors in a heap that was reset since; [`DeviceError::Lost`] if the work does not end in the time
    /// that a launch may take; [`DeviceError::Driver`].
    pub unsafe fn lend(
        &self,
        args: &[Arg],
        mut work: impl FnMut(Lent<'_>),
    ) -> Result<bool, DeviceError> {
        let demands: Vec<Demand> = Demand::of(args).collect();
        let shared = self.shared();
        let _permit = shared.permit(&demands)?;
        check_memory("another library", args, self)?;
        let pieces = args.iter().filter_map(Arg::binding);
        let (buffers, offsets): (Vec<_>, Vec<_>) = pieces.map(|(of, at, _)| (of, at)).unzip();
        shared.backend.lend(&buffers, &mut |lent| {
            let begins = lent.addresses.iter().zip(&offsets);
            let addresses: Vec<u64> = begins.map(|(begin, offset)| begin + offset).collect();
            work(Lent {
                addresses: &addresses,
                ..lent
            });
        })
    }
}
