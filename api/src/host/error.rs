//! What can go wrong on the host side. Each message says what, where and what to do.

use super::{BackendKind, HeapMistakes, KernelFailure, KernelPanic};
use crate::AllocError;
use std::string::String;
use thiserror::Error;

/// Why a heap cannot be laid out in a pool of the size that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The pool is too small for the allocator's metadata and one block.
    #[error(
        "a heap of {allocator} needs at least {least} bytes, the pool has {bytes}: ask for a larger pool"
    )]
    TooSmall {
        /// Name of the allocator.
        allocator: &'static str,
        /// Bytes asked for.
        bytes: u64,
        /// The smallest pool that works.
        least: u64,
    },
    /// The pool is larger than handles can reach.
    #[error(
        "a pool of {bytes} bytes is beyond the reach of a 32-bit handle of {allocator}, {} GiB ({most} bytes): ask for less, use several pools, or WarpHeap32 or WarpHeap64, whose handles count 32 or 64 bytes",
        most.div_ceil(1 << 30)
    )]
    TooLarge {
        /// The allocator.
        allocator: &'static str,
        /// Bytes asked for.
        bytes: u64,
        /// The largest pool that works.
        most: u64,
    },
    /// The allocator is a part of another backend.
    #[error(
        "{allocator} is a part of the backend {needs} and there is none on {found}: open a {needs} device, or choose another allocator"
    )]
    OnlyOn {
        /// Name of the allocator.
        allocator: &'static str,
        /// The backend that has it.
        needs: BackendKind,
        /// The device's backend.
        found: BackendKind,
    },
    /// Heaps of the allocator have one size for as long as they are there.
    #[error(
        "{allocator} heaps cannot grow: their metadata are laid out for one size; reserve the most bytes at once, or choose WarpHeap, Bump or DirectOutput"
    )]
    CannotGrow {
        /// Name of the allocator.
        allocator: &'static str,
    },
    /// A setting of the allocator is outside its range.
    #[error("{allocator}: {setting} = {value} is not possible: {why}")]
    BadSetting {
        /// Name of the allocator.
        allocator: &'static str,
        /// Name of the setting.
        setting: &'static str,
        /// Its value.
        value: u64,
        /// What would be possible.
        why: &'static str,
    },
}

/// Why a device operation failed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The backend is compiled in but finds no device.
    #[error("no {backend} device: {why}")]
    NoDevice {
        /// Which backend.
        backend: BackendKind,
        /// What was looked for, and what to do.
        why: String,
    },
    /// The backend is not part of this build, or there is none of that name.
    #[error("backend `{name}` is not available: {how}")]
    NoBackend {
        /// What was asked for.
        name: String,
        /// What exists, and how to get this one.
        how: String,
    },
    /// No backend of this build opens a device.
    #[error("no device can be opened: {why}")]
    NothingOpens {
        /// The reason of each backend, or what to build with.
        why: String,
    },
    /// An environment variable or a field of a backend's configuration has a value that it cannot have.
    #[error("{setting}={value} is not possible: give {allowed}")]
    BadConfig {
        /// Name of the variable or of the field.
        setting: String,
        /// Its value.
        value: String,
        /// What would be possible.
        allowed: String,
    },
    /// The device computes wrong results on code that warpheap relies on.
    #[error(
        "{device} failed the self-test: {what}; use another device or driver (`warpheap doctor` lists them)"
    )]
    SelfTest {
        /// Device and driver.
        device: String,
        /// Which check, with expected and actual values.
        what: String,
    },
    /// The device has not enough free memory.
    #[error("{device} cannot give {bytes} bytes: {why}")]
    OutOfMemory {
        /// Device name.
        device: String,
        /// Bytes asked for.
        bytes: u64,
        /// How much there is, or what the driver said.
        why: String,
    },
    /// A buffer is larger than the device or the backend allows.
    #[error("{bytes} bytes in one buffer is more than {device} allows ({limit} bytes: {what})")]
    TooLarge {
        /// Device name.
        device: String,
        /// Bytes asked for.
        bytes: u64,
        /// The most that is possible.
        limit: u64,
        /// Where the limit comes from.
        what: &'static str,
    },
    /// A heap or a buffer cannot have the size that was asked for.
    #[error("{what} cannot be resized to {bytes} bytes: {why}")]
    CannotResize {
        /// What it is, with the size that it has.
        what: String,
        /// Bytes asked for.
        bytes: u64,
        /// Why, and what to do.
        why: String,
    },
    /// A heap cannot be laid out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A launch with an impossible shape or argument.
    #[error("cannot launch {kernel}: {why}")]
    BadLaunch {
        /// Entry point.
        kernel: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// Something of one device was used with another one.
    #[error(
        "{what} belongs to another device ({other}) than the one that it is used with ({device}): {how}"
    )]
    OtherDevice {
        /// What it is.
        what: String,
        /// Name of its device; with its number if the two have one name.
        other: String,
        /// Name of the device that it was used with, in the same way.
        device: String,
        /// What to do instead.
        how: &'static str,
    },
    /// The image of a kernel crate has no code for this backend.
    #[error(
        "the kernels of `{module}` were built without {format}: build the device crate with the feature `{feature}`"
    )]
    NoImage {
        /// Crate of the kernels.
        module: String,
        /// `PTX` or `SPIR-V`.
        format: &'static str,
        /// The cargo feature that adds it.
        feature: &'static str,
    },
    /// The image was built for another layout of arguments and heap header.
    #[error("the {format} of `{module}` has no entry `{entry}`: {why}")]
    LayoutMismatch {
        /// Crate of the kernels.
        module: String,
        /// `PTX` or `SPIR-V`.
        format: &'static str,
        /// The entry that was looked for.
        entry: String,
        /// Which versions meet, and what to do.
        why: String,
    },
    /// Lanes of a kernel returned an error.
    #[error(transparent)]
    Kernel(#[from] std::boxed::Box<KernelFailure>),
    /// Lanes of a kernel panicked. On CUDA only kernels of crates with Rust's `alloc` tell; a panic of
    /// another's is the loss of the device.
    #[error(transparent)]
    Panic(#[from] std::boxed::Box<KernelPanic>),
    /// Kernels used a heap wrongly, which its allocator found out: [`Mistake`](super::Mistake)s of the adaptor `Checked`.
    #[error(transparent)]
    Mistakes(#[from] std::boxed::Box<HeapMistakes>),
    /// The emulator stopped the launch: a divergent collective, a deadlock, an access outside the
    /// heap, or overlapping blocks.
    #[error("emulator: {0}")]
    Emulator(String),
    /// The device is gone or hangs; nothing on it can be used any more.
    #[error(
        "{device} was lost in {during}: {what}; open it again, in a new process if the driver refuses"
    )]
    Lost {
        /// Device name.
        device: String,
        /// The operation that found out.
        during: String,
        /// What the driver said.
        what: String,
    },
    /// Any other answer of a driver.
    #[error("{call} failed on {device}: {what}")]
    Driver {
        /// Device name.
        device: String,
        /// The call.
        call: &'static str,
        /// What the driver said.
        what: String,
    },
    /// A range of a buffer that lies outside it, or a length that does not match.
    #[error("{what}: {got} does not fit {room}")]
    OutOfRange {
        /// Which operation.
        what: &'static str,
        /// What was asked for.
        got: u64,
        /// What there is.
        room: u64,
    },
    /// A place or a length that is no multiple of what it has to be one of.
    #[error("{what}: {got} is no multiple of {of}: begin at one, and take whole ones")]
    Misaligned {
        /// Which operation.
        what: &'static str,
        /// The offset or length in bytes.
        got: u64,
        /// What it has to be a multiple of.
        of: u64,
    },
    /// Memory of a heap that was made fresh since it was allocated.
    #[error(
        "{bytes} bytes of a vector or a container lie in a {allocator} heap that was reset since: what was in it is gone; allocate it anew"
    )]
    Stale {
        /// Name of the allocator.
        allocator: &'static str,
        /// Bytes of it that were asked for.
        bytes: u64,
    },
    /// The heap does not carry the header that this build expects.
    #[error("the pool does not hold a {expected} heap of layout version {version}: {why}")]
    BadHeap {
        /// Name of the allocator.
        expected: &'static str,
        /// Version of this build.
        version: u32,
        /// What was found.
        why: String,
    },
    /// Memory from a heap was asked for on the host, and the heap did not give it.
    #[error("{allocator} heap: {bytes} bytes asked for by the host: {cause}")]
    Heap {
        /// Name of the allocator.
        allocator: &'static str,
        /// Bytes asked for.
        bytes: u64,
        /// Why.
        cause: AllocError,
    },
}
