//! How a heap is laid out: what an allocator tells the host.

use super::{Audit, BackendKind, DeviceError, HeapMap, PlanError, TakeMistakes, Usage};
use crate::{DevicePtr, HeapHandle, HeapParams, LAYOUT_VERSION, header};
use std::vec::Vec;

/// A range of words that has one value in a fresh heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// First word, from the start of the heap.
    pub word: u64,
    /// Number of words.
    pub words: u64,
    /// Their value.
    pub value: u32,
}

impl Fill {
    /// Words of the beginning of a long range: 32 MiB, less than what caches of large GPUs hold (an H200's 50 MB).
    const BEGINNING: u64 = 8 << 20;

    /// The range in parts, as long ranges are set.
    fn end_first(self) -> impl Iterator<Item = Self> {
        let beginning = self.words.min(Self::BEGINNING);
        let part = |word, words| Fill {
            word,
            words,
            ..self
        };
        let end = part(self.word + beginning, self.words - beginning);
        let end = Some(end).filter(|end| end.words > 0);
        end.into_iter().chain([part(self.word, beginning)])
    }
}

/// The layout of a heap of a certain size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapPlan {
    /// The allocator's scalars, passed to every kernel.
    pub params: HeapParams,
    /// Words to set in a fresh heap, beyond the header, which the pool writes itself. Later entries
    /// win where they overlap.
    pub fills: Vec<Fill>,
    /// Bytes that cannot be handed out in any state of the heap, the header included.
    pub metadata_bytes: u64,
}

impl HeapPlan {
    /// The layout of a heap of `bytes` bytes (a multiple of 16) on a device of this backend, if there can be one.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn of<A: HostAlloc>(
        bytes: u64,
        config: &A::Config,
        backend: BackendKind,
    ) -> Result<Self, PlanError> {
        // What handles of 32 bits reach, less the null handle.
        let most = u64::from(u32::MAX) * (16 << A::GRANULE_SHIFT);
        if bytes > most {
            return Err(PlanError::TooLarge {
                allocator: A::NAME,
                bytes,
                most,
            });
        }
        let least = header::HEADER_WORDS as u64 * 4 + 16;
        if bytes < least {
            return Err(PlanError::TooSmall {
                allocator: A::NAME,
                bytes,
                least,
            });
        }
        if let Some(needs) = A::ONLY_ON.filter(|&needs| needs != backend) {
            return Err(PlanError::OnlyOn {
                allocator: A::NAME,
                needs,
                found: backend,
            });
        }
        A::plan(bytes, config)
    }

    /// The layout of a heap that has `bytes` bytes and may come to have `most`, both multiples of 16.
    ///
    /// # Errors
    /// As [`of`](Self::of); [`PlanError::CannotGrow`] if heaps of `A` have one size.
    pub fn within<A: HostAlloc>(
        bytes: u64,
        most: u64,
        config: &A::Config,
        backend: BackendKind,
    ) -> Result<Self, PlanError> {
        // What is wrong with the most is wrong with the heap; the backend too.
        Self::of::<A>(most, config, backend)?;
        A::plan_within(bytes.min(most), most, config)
    }

    /// All ranges that have a value in a fresh heap, the header among them, in the order in which they are to be set. The
    /// heap is one when [`head`](Self::head) stands at its beginning, last of all.
    ///
    /// Of a long range the beginning comes last: what a heap uses first is in the device's cache then, and not what it may never use
    /// (`docs/decisions.md`).
    pub fn ranges(&self) -> impl Iterator<Item = Fill> {
        let header = Fill {
            word: 0,
            words: header::HEADER_WORDS as u64,
            value: 0,
        };
        let fills = std::iter::once(header).chain(self.fills.iter().copied());
        fills.flat_map(Fill::end_first)
    }

    /// The first words of a heap of `A`.
    pub fn head<A: HostAlloc>() -> [u32; 4] {
        let mut head = [0; 4];
        head[header::WORD_MAGIC] = header::MAGIC;
        head[header::WORD_VERSION] = LAYOUT_VERSION;
        head[header::WORD_KIND] = A::KIND;
        head
    }
}

/// Words to set in a heap that gets another size: first ranges of one value, then others, each with its first word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refill {
    /// Ranges of one value.
    pub fills: Vec<Fill>,
    /// First words and what is written from there on.
    pub words: Vec<(u64, Vec<u32>)>,
}

/// Reads words of a heap from the host.
pub trait HeapReader {
    /// Fills `words` from word index `first`.
    ///
    /// # Errors
    /// As [`Backend::read`](super::Backend::read).
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError>;
}

/// What the host needs to know of an allocator.
pub trait HostAlloc: HeapHandle {
    /// Number that names this kind of heap in the header; different for every allocator.
    const KIND: u32;

    /// Bytes that the smallest block takes in a heap with the default settings. Allocators of equal pages
    /// give a page to every request.
    const LEAST_BLOCK: u64 = DevicePtr::<u8>::GRANULE_BYTES as u64;

    /// Settings; the defaults are the paper's.
    type Config: Clone + Default + core::fmt::Debug + Send + Sync + 'static;

    /// The only backend that has this allocator; `None` for all that work everywhere.
    const ONLY_ON: Option<BackendKind> = None;

    /// Takes what the allocator found wrong in how kernels use the heap, if it looks for that: asked when a launch has ended. One that
    /// has to know of launches hears of them there.
    const MISTAKES: Option<TakeMistakes> = None;

    /// Settings of a heap for blocks of about `bytes` bytes and no more: the defaults, unless a heap has blocks of one
    /// size, which then is the least that is possible and enough.
    fn config_for(_bytes: u32) -> Self::Config {
        Self::Config::default()
    }

    /// Bytes of the largest block that a heap with these settings serves, however large it is.
    fn largest_block(_config: &Self::Config) -> u64 {
        Self::CAPS.max_size
    }

    /// Lays out a heap of `bytes` bytes (a multiple of 16, and no more than handles reach).
    ///
    /// # Errors
    /// [`PlanError`] if the size or a setting is not possible.
    fn plan(bytes: u64, config: &Self::Config) -> Result<HeapPlan, PlanError>;

    /// Lays out a heap that has `bytes` bytes now and may come to have `most` (multiples of 16, `bytes` the lesser one). Where
    /// metadata and blocks lie follows from `most` alone, and so does the parameters' part in what a *free* does: blocks
    /// are freed that were allocated when the heap had another size.
    ///
    /// # Errors
    /// [`PlanError::CannotGrow`] if heaps of this allocator have one size; otherwise as [`plan`](Self::plan).
    fn plan_within(_bytes: u64, _most: u64, _config: &Self::Config) -> Result<HeapPlan, PlanError> {
        Err(PlanError::CannotGrow {
            allocator: Self::NAME,
        })
    }

    /// What has to be set in a heap that goes from one size to another one, of two plans that
    /// [`plan_within`](Self::plan_within) made for the same `most`. No lane runs meanwhile.
    fn refill(_from: &HeapPlan, _to: &HeapPlan) -> Refill {
        Refill::default()
    }

    /// Bytes from the start of the heap to the end of the last block in it, or more; the least size that it can have when that is
    /// more. No lane runs meanwhile.
    ///
    /// # Errors
    /// As the reader.
    fn end_of_use(_params: &HeapParams, _heap: &mut dyn HeapReader) -> Result<u64, DeviceError> {
        Ok(u64::MAX)
    }

    /// Reads from the metadata how much is in use. Kernels may run between two reads: whatever the words
    /// hold, this neither panics nor tells of more than there is.
    ///
    /// # Errors
    /// As the reader.
    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError>;

    /// Reads from the metadata what each part of the heap is used for: what [`usage`](Self::usage) reads, with the places.
    /// An allocator without it is opaque: only its sums are shown.
    ///
    /// # Errors
    /// As the reader.
    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        Self::usage(params, heap).map(HeapMap::opaque)
    }

    /// Looks in the metadata for what cannot be while no lane runs, and notes it. An allocator without it has nothing to say.
    ///
    /// # Errors
    /// As the reader.
    fn audit(
        _params: &HeapParams,
        _heap: &mut dyn HeapReader,
        _found: &mut Audit,
    ) -> Result<(), DeviceError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_long_range_is_set_last() {
        let fill = |word, words| Fill {
            word,
            words,
            value: 7,
        };
        let plan = HeapPlan {
            params: HeapParams::default(),
            fills: [fill(100, (20 << 20) + 3), fill(200, 5)].into(),
            metadata_bytes: 0,
        };
        let ranges: Vec<Fill> = plan.ranges().collect();
        assert_eq!(
            ranges[1..],
            [
                fill(100 + (8 << 20), (12 << 20) + 3),
                fill(100, 8 << 20),
                fill(200, 5)
            ]
        );
        let header = header::HEADER_WORDS as u64;
        assert_eq!((ranges[0].word, ranges[0].words), (0, header));
    }
}
