//! One launch as its workers see it: what to run, where, and what went wrong.

use crate::HostConfig;
use crate::blocks::BlockTable;
use crate::shared::Kept;
use crate::unwritten::Unwritten;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use warpheap_api::abi::{ArgBlock, REPORT_WORDS};
use warpheap_api::host::{BackendKind, DeviceError, HostEntry, KernelPanic};

/// Memory among the arguments: a heap or a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its address.
    pub base: usize,
    /// Its size.
    pub bytes: u64,
    /// Index of the argument.
    pub argument: usize,
    pub is_heap: bool,
}

/// What lanes write into the report of a launch.
pub(crate) type Report = [AtomicU32; REPORT_WORDS];

/// One launch.
pub(crate) struct Job {
    pub kernel: &'static str,
    pub entry: HostEntry,
    pub args: ArgBlock,
    /// The arguments have its address. Shared, since a box that moves may not be pointed to.
    report: Arc<Report>,
    pub grid_dim: u32,
    pub block_dim: u32,
    pub width: u32,
    pub warps_per_block: u32,
    pub processors: u32,
    pub stack_bytes: usize,
    pub watchdog: Duration,
    pub places: Vec<Place>,
    /// The live blocks, if anybody wants to know them.
    pub blocks: Option<Arc<BlockTable>>,
    /// Whether a block that cannot be stops the launch.
    pub checks_blocks: bool,
    /// For each heap, which of its words nobody has written, if that stops the launch.
    pub unwritten: Vec<Arc<Unwritten>>,
    /// Memory that blocks share, where it has to stay.
    pub shared: Kept,
    /// Ends every message: how to see the same again.
    pub replay: String,
    next: AtomicU64,
    stopped: AtomicBool,
    error: Mutex<Option<DeviceError>>,
}

impl Job {
    /// A launch of `entry` with these arguments, which have the address of this report, and this shape.
    pub(crate) fn new(
        kernel: &'static str,
        entry: HostEntry,
        (args, report): (ArgBlock, Arc<Report>),
        shape: (u32, u32),
        config: &HostConfig,
    ) -> Self {
        let (grid_dim, block_dim) = shape;
        Job {
            kernel,
            entry,
            args,
            report,
            grid_dim,
            block_dim,
            width: config.warp_width,
            warps_per_block: block_dim.div_ceil(config.warp_width),
            processors: config.processors,
            stack_bytes: config.stack_bytes,
            watchdog: config.watchdog,
            places: Vec::new(),
            blocks: None,
            checks_blocks: false,
            unwritten: Vec::new(),
            shared: Kept::default(),
            replay: String::new(),
            next: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            error: Mutex::new(None),
        }
    }

    /// The heaps among the arguments.
    pub(crate) fn heaps(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.is_heap)
    }

    /// What is not written of the heap at this address.
    pub(crate) fn unwritten_of(&self, base: usize) -> Option<&Unwritten> {
        let heap = self.unwritten.iter().find(|heap| heap.start() == base);
        heap.map(Arc::as_ref)
    }

    /// What is not written of the heap that has the word at this address.
    #[inline]
    pub(crate) fn unwritten_with(&self, address: usize) -> Option<&Unwritten> {
        let heap = self.unwritten.iter().find(|heap| heap.covers(address));
        heap.map(Arc::as_ref)
    }

    /// The argument that has a word.
    fn argument_of(&self, address: usize) -> Option<&Place> {
        let inside =
            |place: &&Place| (place.base..place.base + place.bytes as usize).contains(&address);
        self.places.iter().find(inside)
    }

    /// Bytes of the argument from this address on.
    pub(crate) fn room_from(&self, address: usize) -> usize {
        let place = self.argument_of(address);
        place.map_or(0, |place| place.base + place.bytes as usize - address)
    }

    /// The word at this address, as messages name it.
    pub(crate) fn place_of(&self, address: usize) -> String {
        match self.argument_of(address) {
            Some(place) => format!(
                "word {} of the {} in argument {}",
                (address - place.base) / 4,
                if place.is_heap { "heap" } else { "slice" },
                place.argument + 1
            ),
            // No address: a replay is to say the same.
            None => match self.shared.index_of(address) {
                Some(index) => format!("word {index} of an array that the block shares"),
                None => "a word of the launch report".into(),
            },
        }
    }

    /// Number of warps of the launch.
    pub(crate) fn warps(&self) -> u64 {
        self.grid_dim as u64 * self.warps_per_block as u64
    }

    /// Index of the block that the warp with this number is of.
    pub(crate) fn block_of(&self, number: u64) -> u32 {
        (number / self.warps_per_block as u64) as u32
    }

    /// Takes up to `most` warps that no worker has taken: their numbers.
    pub(crate) fn take(&self, most: u64) -> std::ops::Range<u64> {
        let first = self.next.fetch_add(most, Ordering::Relaxed);
        let end = self.warps();
        first.min(end)..first.saturating_add(most).min(end)
    }

    /// Whether something went wrong, so that all lanes are to end.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Stops the launch. `what` says what is wrong and where in the launch; the first one counts.
    pub(crate) fn fail(&self, what: &str) {
        let message = format!("kernel {}, {what}{}", self.kernel, self.replay);
        self.stop(DeviceError::Emulator(message));
    }

    /// Stops the launch since a lane panicked.
    pub(crate) fn panicked(&self, panic: KernelPanic) {
        self.stop(DeviceError::Panic(Box::new(KernelPanic {
            replay: self.replay.clone(),
            ..panic
        })));
    }

    /// Stops the launch since the system has no memory for a lane's stack.
    pub(crate) fn no_stack(&self, error: &std::io::Error) {
        self.stop(DeviceError::OutOfMemory {
            device: BackendKind::Host.name().into(),
            bytes: self.stack_bytes as u64,
            why: format!("no stack for a lane of kernel {}: {error}", self.kernel),
        });
    }

    fn stop(&self, error: DeviceError) {
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// What lanes have written into the report.
    pub(crate) fn report(&self) -> [u32; REPORT_WORDS] {
        let words = self.report.each_ref();
        words.map(|word| word.load(Ordering::Relaxed))
    }

    /// What stopped the launch, if something did.
    pub(crate) fn error(&self) -> Option<DeviceError> {
        let mut error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.take()
    }
}
