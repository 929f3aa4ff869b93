//! The trait of device allocators.

use crate::{AllocError, DevicePtr, HeapData, HeapMemory, layout};
use core::alloc::Layout;

/// What an allocator can do, known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Blocks can be freed one by one and their memory is used again.
    pub frees: bool,
    /// Greatest alignment that is honoured, in bytes, a power of two.
    pub max_align: u32,
    /// Greatest size that can ever be served, in bytes. A heap may hold less.
    pub max_size: u64,
}

/// The allocator's own scalars among the arguments of a kernel, computed on the host when the heap
/// is laid out.
pub type HeapParams = [u32; crate::abi::HEAP_PARAMS];

/// A device allocator: a handle to a heap, passed by value.
///
/// A handle is a view of the heap's words and a few scalars. Kernels are generic over it, so one
/// kernel runs with every allocator. Sizes are bytes; see [`layout`] for size zero, overflow and
/// alignment.
///
/// # What callers may rely on
///
/// * A block that `malloc` returned lies inside the heap, is at least as large and as aligned as
///   its layout says, and overlaps no other block that has not been freed, whichever lane, block,
///   kernel or launch asked for either.
/// * Its contents are unspecified.
/// * It stays until it is freed: past the end of the kernel and across launches. Any lane of any
///   kernel on the same heap may free it.
/// * *Free releases, malloc acquires*, at device scope: what a lane wrote to a block before freeing
///   it cannot land in memory that another lane was handed afterwards.
/// * No request hangs: retries are bounded, and no lane waits for a lane of its own warp. When the
///   bound is used up the answer is [`AllocError::Contended`].
/// * Errors change nothing and are counted in the heap header.
///
/// # Safety
///
/// Implementors guarantee all of the above, for any set of lanes calling at the same time, for
/// every warp width and every schedule.
pub unsafe trait DeviceAlloc: Copy + 'static {
    /// The words that the allocator manages.
    type Memory: HeapMemory;

    /// The name by which a user chooses this allocator, and which entry points carry.
    const NAME: &'static str;

    /// What this allocator can do.
    const CAPS: Caps;

    /// Most registers of a lane with which kernels that do little beside allocating run fastest on
    /// devices that have to be told (CUDA); see `max_registers` of the attribute `#[kernel]`. 255 for no
    /// such number.
    const LEAN_REGISTERS: u32 = 255;

    /// A granule, the unit that handles count, has 16 bytes, times two to this power. So a heap has at most 64 GiB, times two to this power, and
    /// each block begins at a multiple of a granule.
    const GRANULE_SHIFT: u32 = 0;

    /// Whether a [compaction](Self::begin_compaction) moves anything: programs need not go through their blocks if not.
    const COMPACTS: bool = false;

    /// The memory of the heap.
    fn memory(self) -> Self::Memory;

    /// The words that begin with the heap's header: the same, but for allocators whose blocks do not lie in
    /// the pool.
    #[inline(always)]
    fn header(self) -> Self::Memory {
        self.memory()
    }

    /// Allocates a block. Every lane calls by itself; lanes that call together share the work.
    ///
    /// # Errors
    /// [`AllocError::Exhausted`], [`AllocError::Contended`] or [`AllocError::Unsupported`].
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError>;

    /// Takes a block back. The null handle is ignored.
    ///
    /// # Safety
    /// `ptr` is null, or came from a malloc of this heap with this `layout` (or was last resized to
    /// it by [`realloc`](Self::realloc)), has not been freed since, and no lane uses it any more.
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout);

    /// Like [`malloc`](Self::malloc), called by all lanes of the warp that are active at this
    /// point: one block for each, usually one claim for all.
    ///
    /// # Errors
    /// As `malloc`, for each lane by itself.
    ///
    /// # Safety
    /// The lanes that are active must reach this call together; layouts may differ.
    #[inline(always)]
    unsafe fn malloc_warp(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        self.malloc(layout)
    }

    /// Like [`free`](Self::free), called by all active lanes of the warp together.
    ///
    /// # Safety
    /// As `free` and as [`malloc_warp`](Self::malloc_warp).
    #[inline(always)]
    unsafe fn free_warp(self, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise covers free's.
        unsafe { self.free(ptr, layout) }
    }

    /// Allocates a block and sets every word of it that the layout covers to zero.
    ///
    /// # Errors
    /// As [`malloc`](Self::malloc).
    #[inline(always)]
    fn calloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let ptr = self.malloc(layout)?;
        let memory = self.memory();
        let (first, words) = (memory.word_of(ptr), word_count(layout.size()));
        let mut i = 0;
        while i + 4 <= words {
            memory.write4(first + i, [0; 4]);
            i += 4;
        }
        while i < words {
            memory.write(first + i, 0);
            i += 1;
        }
        Ok(ptr)
    }

    /// Moves a block to a layout of `new_size` bytes and the old alignment, keeping the first
    /// `min(old, new)` bytes. The returned handle replaces `ptr`, which must not be used again.
    ///
    /// # Errors
    /// As [`malloc`](Self::malloc); then the old block is untouched and still the caller's.
    ///
    /// # Safety
    /// As [`free`](Self::free); `ptr` is not null.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { self.move_block(ptr, layout, new_size) }
    }

    /// What [`realloc`](Self::realloc) does where a block cannot stay: malloc, copy, free.
    ///
    /// # Errors
    /// As `realloc`.
    ///
    /// # Safety
    /// As `realloc`.
    #[inline(always)]
    unsafe fn move_block(
        self,
        ptr: DevicePtr<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let moved = self.malloc(layout::aligned(new_size, layout.align()))?;
        let memory = self.memory();
        let kept = word_count(if new_size < layout.size() {
            new_size
        } else {
            layout.size()
        });
        let (from, to) = (memory.word_of(ptr), memory.word_of(moved));
        let mut i = 0;
        while i + 4 <= kept {
            let granule = [
                memory.read(from + i),
                memory.read(from + i + 1),
                memory.read(from + i + 2),
                memory.read(from + i + 3),
            ];
            memory.write4(to + i, granule);
            i += 4;
        }
        while i < kept {
            memory.write(to + i, memory.read(from + i));
            i += 1;
        }
        // SAFETY: the caller's promise; the block was copied and is used no more.
        unsafe { self.free(ptr, layout) };
        Ok(moved)
    }

    /// Allocates room for `len` values of `T`; the layout to free it with is
    /// [`layout::array::<T>(len)`](layout::array). `ptr.with_len(len)` makes a handle that knows
    /// its length.
    ///
    /// # Errors
    /// As [`malloc`](Self::malloc).
    #[inline(always)]
    fn malloc_array<T: HeapData>(self, len: u32) -> Result<DevicePtr<T>, AllocError> {
        match self.malloc(layout::array::<T>(len)) {
            Ok(ptr) => Ok(ptr.cast()),
            Err(error) => Err(error),
        }
    }

    /// The layout of the whole block that [`malloc`](Self::malloc) takes from the heap for `layout`: as aligned, and at least as
    /// large, in bytes. Who can use more asks for this one, which is served with the same block, size class or run; a
    /// vector that grows leaves no rest of its block unused.
    ///
    /// It follows from the layout and the settings of the heap, not from what is in use: the same in every lane, for as long as
    /// the heap is there, and nothing is read. Rounding once more changes nothing. An allocator that happens to have a larger
    /// block at hand gives that for both. What this heap never serves, it does not serve rounded either.
    ///
    /// What is malloc'ed with it is freed with it. Blocks of arenas ([`WarpArena`](crate::WarpArena)) are as large as asked for.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        // A block begins at a granule, so nothing else is in its last one.
        layout::with_granules(layout, layout::granules(layout))
    }

    /// Begins a *compaction*: marks regions of the heap (chunks, pages, whatever the allocator hands blocks out from) that are less
    /// than `percent` in use, of each size class as many as the others have room for. What is marked hands out no block until
    /// [`end_compaction`](Self::end_compaction), and blocks leave it by [`relocate`](Self::relocate): a region that all blocks have
    /// left serves any size afterwards.
    ///
    /// Each lane of the launch does the share with this `index` of `count`, and gets the number of regions that it marked. Other lanes
    /// may use the heap meanwhile. `percent` is 90 at most; more is taken as 90.
    ///
    /// An allocator that moves nothing, as this default, marks nothing.
    #[inline(always)]
    fn begin_compaction(self, percent: u32, index: u32, count: u32) -> u32 {
        let _ = (percent, index, count);
        0
    }

    /// Moves a block out of a region that a [compaction](Self::begin_compaction) marked, to one of the regions that stay: where the block is
    /// now, with what the layout covers of its contents. It is `ptr` itself if the block may stay where it is, or if there was no room
    /// for it elsewhere. This is never an error, and is nothing but a look at one word where nothing moves. Lanes that come together
    /// copy together. The null handle stays null.
    ///
    /// Only the handle that is returned may be used afterwards, so whoever holds copies of `ptr` changes them, too.
    ///
    /// # Safety
    /// As [`free`](Self::free).
    #[inline(always)]
    unsafe fn relocate(self, ptr: DevicePtr<u8>, layout: Layout) -> DevicePtr<u8> {
        let _ = layout;
        ptr
    }

    /// Ends a [compaction](Self::begin_compaction): regions with blocks that did not move hand out blocks again. Each lane of the launch does
    /// the share with this `index` of `count`. It has to be called behind each compaction, in a later launch than the last
    /// [`relocate`](Self::relocate): room in what is marked is nobody's until then.
    #[inline(always)]
    fn end_compaction(self, index: u32, count: u32) {
        let _ = (index, count);
    }

    /// Allocates *one* block for all active lanes of the warp: each gets the same handle.
    ///
    /// # Errors
    /// As [`malloc`](Self::malloc), the same in every lane.
    ///
    /// # Safety
    /// The lanes that are active must reach this call together, with the same layout.
    #[inline(always)]
    unsafe fn malloc_shared(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let memory = self.memory();
        let (answer, code) = memory.once_for_group(|| match self.malloc(layout) {
            Ok(ptr) => {
                // Told here, where it is known who stands for all.
                memory.note_malloc(ptr, layout);
                (ptr.granule(), 0)
            }
            Err(error) => (0, error.code()),
        });
        if code == 0 {
            Ok(DevicePtr::from_granule(answer))
        } else {
            Err(AllocError::from_code(code))
        }
    }
}

/// How a kernel entry makes an allocator's handle from its arguments.
pub trait HeapHandle: DeviceAlloc {
    /// The handle of the heap in `memory`.
    ///
    /// # Safety
    /// `memory` holds a heap of this kind, laid out by the host, and `params` are the parameters
    /// that the layout gave.
    unsafe fn attach(memory: Self::Memory, params: HeapParams) -> Self;
}

/// 32-bit words that cover `bytes`.
#[inline(always)]
const fn word_count(bytes: usize) -> usize {
    bytes / 4 + (bytes % 4 != 0) as usize
}
