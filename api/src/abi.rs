//! What crosses from the host into a kernel: one block of words, the same on every backend.
//!
//! A kernel entry takes one [`ArgBlock`]: by value on CUDA, as the push constants on Vulkan, by
//! reference in the emulator. The first words describe the launch; then each parameter of the
//! kernel takes its words in order:
//!
//! | parameter | words |
//! |---|---|
//! | elements: `&[T]`, `&mut T`, … | address low, address high, number of elements |
//! | `Heap<A>` | address low, address high, number of words low, high, then eight parameters of the allocator |
//! | scalar `T: Argument` | `T::WORDS` |
//! | `SharedWords<N>` | none |
//!
//! On Vulkan images do not use the addresses: each slice and each heap is a storage buffer in descriptor
//! set 0, bound in the order of the parameters, and the launch report is the last binding. The backend changes
//! a kernel that gets a buffer which is too large for a descriptor: that buffer it finds by its address.
//!
//! A kernel's entry point is called `<kernel>_l<version>`, or `<kernel>__<allocator>_l<version>`
//! where it takes a heap, with [`LAYOUT_VERSION`] as the version: an image that was built for
//! another layout has no entry of the right name, and is refused by that.

/// Version of every layout that host and device share: this block, the launch report and the heap
/// header.
pub const LAYOUT_VERSION: u32 = 1;

/// Words of an argument block: 128 bytes, the push-constant space that every Vulkan device has.
pub const ARG_WORDS: usize = 32;

/// The arguments of a kernel entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ArgBlock {
    /// The words, as the table of this module lays them out.
    pub words: [u32; ARG_WORDS],
}

/// Words 0 and 1: address of the launch report, low and high (CUDA and host).
pub const ARG_REPORT: usize = 0;
/// Word 2: number of blocks of the launch.
pub const ARG_GRID_DIM: usize = 2;
/// Word 3: number of lanes of a block.
pub const ARG_BLOCK_DIM: usize = 3;
/// The first word that belongs to a parameter of the kernel.
pub const ARG_FIRST: usize = 4;

/// Words that a slice takes in the block.
pub const SLICE_WORDS: usize = 3;
/// Words that a heap takes in the block.
pub const HEAP_WORDS: usize = 4 + HEAP_PARAMS;
/// Words of the allocator's own in a heap's arguments.
pub const HEAP_PARAMS: usize = 8;

/// Name of the module global that says which heap Rust's own collections in the module's kernels use: an
/// [`ArgBlock`] whose first words are those of a heap among arguments. An address of zero is none.
pub const GLOBAL_HEAP: &str = "warpheap_global_heap";

/// Name of the module global that panics are reported in: [`PANIC_WORDS`] words, zero before a launch.
pub const PANIC_REPORT: &str = "warpheap_panic_report";
/// Words of a panic report.
pub const PANIC_WORDS: usize = PANIC_TEXT + PANIC_TEXT_BYTES / 4;
/// Panic report: number of lanes that panicked. The first of them fills in the rest.
pub const PANIC_LANES: usize = 0;
/// Panic report: block index of that lane.
pub const PANIC_BLOCK: usize = 1;
/// Panic report: index of that lane inside its block.
pub const PANIC_LANE: usize = 2;
/// Panic report: line of the source, and the column behind it; zero if they are not known.
pub const PANIC_LINE: usize = 3;
/// Panic report: bytes of the file's name, at most [`PANIC_FILE_BYTES`]: of a longer one the end.
pub const PANIC_FILE_LEN: usize = 5;
/// Panic report: bytes of the message, more than [`PANIC_TEXT_BYTES`] if it was cut.
pub const PANIC_TEXT_LEN: usize = 6;
/// Panic report: the file's name, UTF-8.
pub const PANIC_FILE: usize = 8;
/// Room for the file's name.
pub const PANIC_FILE_BYTES: usize = 128;
/// Panic report: the message, UTF-8.
pub const PANIC_TEXT: usize = PANIC_FILE + PANIC_FILE_BYTES / 4;
/// Room for the message.
pub const PANIC_TEXT_BYTES: usize = 512;

/// Words of a launch report.
pub const REPORT_WORDS: usize = 8;
/// Report: number of lanes that returned an error.
pub const REPORT_ERRORS: usize = 0;
/// Report: code of the error that was recorded first, 0 if none.
pub const REPORT_CODE: usize = 1;
/// Report: block index of that lane.
pub const REPORT_BLOCK: usize = 2;
/// Report: index of that lane inside its block.
pub const REPORT_LANE: usize = 3;
/// Report: lanes that returned `Exhausted`; the next two words count `Contended` and
/// `Unsupported`.
pub const REPORT_BY_CODE: usize = 4;

static_assertions::const_assert_eq!(core::mem::size_of::<ArgBlock>(), 128);
static_assertions::const_assert!(REPORT_BY_CODE + 3 <= REPORT_WORDS);
