//! Who chose the adaptor. It decides on the host by what a heap is set; a device has the same code for both.

/// Who chose [`Checked`](super::Checked).
pub trait Chooser: Copy + 'static {}

/// The program, which names the adaptor. Its heaps are set by a `CheckedConfig`.
#[derive(Clone, Copy)]
pub struct ByProgram;

/// Who built the program, by the environment variable `WARPHEAP_CHECK`. The program knows nothing of the adaptor, so its heaps are
/// set by the settings of the allocator within.
#[derive(Clone, Copy)]
pub struct ByVariable;

impl Chooser for ByProgram {}
impl Chooser for ByVariable {}
