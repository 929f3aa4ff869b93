//! The arguments of a launch.

use super::contents::Contents;
use super::extent::Extent;
use super::generation::{Generation, HeapBlock, Home};
use super::shared::ContainerWords;
use super::{BufferId, RawBuffer, TakeMistakes};
use crate::{HeapData, HeapParams, abi};
use std::sync::Arc;
use std::vec::Vec;

/// A typed slice of device memory among the arguments of a launch.
#[derive(Clone, Debug)]
pub struct SliceArg {
    /// The memory.
    pub buffer: RawBuffer,
    /// Byte offset of the first element in the buffer.
    pub offset: u64,
    /// Number of elements.
    pub len: u32,
    /// Bytes of an element.
    pub stride: u32,
    /// Whether the kernel changes the elements: any parameter but `&[T]`.
    pub mutable: bool,
    /// The block of a heap that it lies in, if it does, kept by the launch.
    pub(super) block: Option<Arc<HeapBlock>>,
    /// Of which heap its elements are, if they are containers.
    pub(super) contents: Option<Contents>,
    /// Whether containers that lanes share may be among them, or in them.
    pub(super) holds_shared: bool,
}

/// What stands for the name of an allocator that has none.
const UNNAMED: &str = "an unnamed allocator";

/// A heap among the arguments of a launch.
#[derive(Clone, Debug)]
pub struct HeapArg {
    /// The memory, the heap from its start.
    pub buffer: RawBuffer,
    pub(super) extent: Extent,
    /// Name of the allocator.
    pub(super) allocator: &'static str,
    pub(super) generation: Generation,
    pub(super) mistakes: Option<TakeMistakes>,
}

/// One argument of a launch.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A heap.
    Heap(HeapArg),
    /// A slice.
    Slice(SliceArg),
    /// A scalar's words.
    Words(Vec<u32>),
    /// The words of a container that lanes share.
    Container(ContainerWords),
    /// So many bytes that the lanes of a block share, for which the host gives nothing.
    Shared(u32),
}

impl Arg {
    /// The buffer, the byte offset and the number of bytes that a backend binds for this argument;
    /// `None` for scalars.
    pub fn binding(&self) -> Option<(BufferId, u64, u64)> {
        match self {
            Arg::Heap(heap) => Some((heap.buffer.id(), 0, heap.words() * 4)),
            Arg::Slice(slice) => Some((
                slice.buffer.id(),
                slice.offset,
                slice.len as u64 * slice.stride as u64,
            )),
            Arg::Words(_) | Arg::Container(_) | Arg::Shared(_) => None,
        }
    }

    /// How many words it takes in the [argument block](abi).
    pub fn words(&self) -> usize {
        match self {
            Arg::Heap(_) => abi::HEAP_WORDS,
            Arg::Slice(_) => abi::SLICE_WORDS,
            Arg::Words(words) => words.len(),
            Arg::Container(container) => container.words.len(),
            Arg::Shared(_) => 0,
        }
    }
}

/// The arguments of a launch, in the order of the kernel's parameters.
pub type Args = Vec<Arg>;

/// What can be passed for a scalar parameter of type `T`: the value itself, or a [`SharedArg`](super::SharedArg) where it is
/// a container of a heap.
///
/// # Safety
/// The argument is the words of a value of `T`, as [`Argument`](crate::Argument) reads them: as [`Arg::Words`] if it is no
/// container and has none, otherwise as [`Arg::Container`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel for a `{T}`",
    label = "the kernel takes a `{T}`"
)]
pub unsafe trait IntoArg<T = Self> {
    /// The argument.
    fn into_arg(self) -> Arg;
}

// SAFETY: the words of a value are what `HeapData::from_args` reads; containers do not compile.
unsafe impl<T: HeapData + Copy> IntoArg<T> for T {
    fn into_arg(self) -> Arg {
        const {
            assert!(
                !T::OF_HEAP,
                "a container of a heap is passed as its owner gives it, by `map`, `set` or `handle`; \
                 or by the unsafe `SharedArg::assume_of` if nobody owns it"
            )
        }
        Arg::Words(super::bytes::words_of(core::slice::from_ref(&self)).to_vec())
    }
}

macro_rules! into_words {
    ($($type:ty: $words:expr;)*) => {$(
        // SAFETY: these words are what `Argument::from_args` reads.
        unsafe impl IntoArg for $type {
            fn into_arg(self) -> Arg {
                Arg::Words($words(self).to_vec())
            }
        }
    )*};
}

into_words! {
    bool: |value| [u32::from(value)];
    u8: |value| [u32::from(value)];
    u16: |value| [u32::from(value)];
    i8: |value| [value as u32];
    i16: |value| [value as u32];
    usize: |value| halves(value as u64);
    u64: halves;
    i64: |value| halves(value as u64);
    f64: |value: f64| halves(value.to_bits());
}

impl HeapArg {
    /// A heap in a buffer, of no pool: for who drives a backend by hand.
    pub fn new(buffer: RawBuffer, words: u64, params: HeapParams) -> Self {
        HeapArg {
            buffer,
            extent: Extent::new(words, words, params),
            allocator: UNNAMED,
            generation: Generation::default(),
            mistakes: None,
        }
    }

    /// The name of the allocator; none of a heap in a buffer.
    pub fn allocator(&self) -> Option<&'static str> {
        (self.allocator != UNNAMED).then_some(self.allocator)
    }

    /// Number of 32-bit words of the heap. It may be another one when the launch begins.
    pub fn words(&self) -> u64 {
        self.extent.words()
    }

    /// The allocator's parameters, of which the same is true.
    pub fn params(&self) -> HeapParams {
        self.extent.params()
    }

    /// The heap as it is now, as what containers lie in.
    pub(super) fn home(&self) -> Home {
        Home {
            generation: self.generation.current(),
            allocator: self.allocator,
        }
    }

    /// The words that it takes in a block of arguments, when its buffer lies at `address`.
    pub fn arg_words(&self, address: u64) -> [u32; abi::HEAP_WORDS] {
        let mut words = [0; abi::HEAP_WORDS];
        let wide = [address, self.words()];
        for (two, value) in words.chunks_exact_mut(2).zip(wide) {
            two.copy_from_slice(&halves(value));
        }
        words[4..].copy_from_slice(&self.params());
        words
    }
}

/// A number as two words, the lower one first.
pub(super) fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}
