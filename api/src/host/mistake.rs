//! Mistakes of kernels that a heap found, as the adaptor `Checked` does.

use super::{DeviceError, HeapReader, KernelFailure};
use crate::DevicePtr;
use std::boxed::Box;
use std::fmt;
use std::string::String;
use std::vec::Vec;

/// What a kernel did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MistakeKind {
    /// A block was freed that had been freed before, or that another lane freed at the same time.
    DoubleFree,
    /// A handle was freed that names no block of this heap: one of another heap, the middle of a block, a number.
    ForeignHandle,
    /// A block was freed that had been freed so long before that the heap may have handed out its memory again.
    StaleHandle,
    /// A block was freed or resized with another size or alignment than it has.
    WrongLayout,
    /// Somebody wrote in front of a block.
    WriteBefore,
    /// Somebody wrote behind a block.
    WriteBehind,
    /// Somebody wrote to a block after it was freed, while it waited in the quarantine.
    WriteAfterFree,
}

impl MistakeKind {
    /// What it is, in words.
    pub const fn name(self) -> &'static str {
        match self {
            MistakeKind::DoubleFree => "double free",
            MistakeKind::ForeignHandle => "free of a foreign handle",
            MistakeKind::StaleHandle => "free of a stale handle",
            MistakeKind::WrongLayout => "free with a wrong layout",
            MistakeKind::WriteBefore => "write in front of a block",
            MistakeKind::WriteBehind => "write behind a block",
            MistakeKind::WriteAfterFree => "write after free",
        }
    }

    /// What to do.
    const fn advice(self) -> &'static str {
        match self {
            MistakeKind::DoubleFree => "let one lane own the block, and free it once",
            MistakeKind::ForeignHandle => {
                "free what this heap's malloc returned, by the same handle; if it did, its record was overwritten"
            }
            MistakeKind::StaleHandle => {
                "the block was freed long before: keep no copy of a handle beyond its free"
            }
            MistakeKind::WrongLayout => {
                "free with the layout of the malloc, or of the last realloc"
            }
            MistakeKind::WriteBefore => "look for an index below zero, or an offset that wrapped",
            MistakeKind::WriteBehind => {
                "look for an index that is too large, or ask for more bytes"
            }
            MistakeKind::WriteAfterFree => "free when no lane uses the block any more",
        }
    }
}

impl fmt::Display for MistakeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// By which call a mistake was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FoundBy {
    /// The free of the block.
    Free,
    /// A realloc of the block.
    Realloc,
    /// A free or malloc that let the block leave the quarantine.
    Leaving,
    /// The host, which looked through the heap.
    Host,
}

/// A lane that called, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LanePlace {
    /// Its block of lanes (workgroup).
    pub block: u32,
    /// Its index in the block; 4095 stands for all from there on.
    pub lane: u32,
    /// The line of the kernel's source, where that is known.
    pub line: Option<u32>,
}

impl fmt::Display for LanePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {}, lane {}", self.block, self.lane)?;
        match self.line {
            Some(line) => write!(f, " (line {line})"),
            None => Ok(()),
        }
    }
}

/// Size and alignment of a block, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockLayout {
    /// Bytes that were asked for.
    pub size: u64,
    /// The alignment.
    pub align: u64,
}

impl fmt::Display for BlockLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes aligned to {}", self.size, self.align)
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What was done wrong.
    pub kind: MistakeKind,
    /// By which call it was found.
    pub found_by: FoundBy,
    /// The handle.
    pub ptr: DevicePtr<u8>,
    /// The lane that made that call, if one did. Of a free that is wrong it is whose mistake it is; a write is found later, by whoever
    /// frees.
    pub by: Option<LanePlace>,
    /// The layout that was given, of a free or realloc.
    pub given: Option<BlockLayout>,
    /// The layout of the block, if it is known.
    pub block: Option<BlockLayout>,
    /// The lane that asked for the block, if it is known.
    pub malloc: Option<LanePlace>,
    /// The lane that freed it before, if one did and it is known.
    pub free: Option<LanePlace>,
    /// Of a write, the first word that it was seen by: its byte offset from the block's begin, and what it holds.
    pub wrote: Option<(i64, u32)>,
    /// Whether the block stays allocated for good, since what lies around it was overwritten.
    pub lost: bool,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at granule {}", self.kind, self.ptr.granule())?;
        if let Some((offset, word)) = self.wrote {
            write!(f, ": byte {offset} of the block, where {word:#010x} is")?;
        }
        match (self.found_by, self.by) {
            (FoundBy::Free, Some(by)) => write!(f, "; freed by {by}")?,
            (FoundBy::Realloc, Some(by)) => write!(f, "; resized by {by}")?,
            (FoundBy::Leaving, Some(by)) => {
                write!(f, "; found when it left the quarantine, by {by}")?;
            }
            _ => f.write_str("; found by the host")?,
        }
        if let Some(given) = self.given.filter(|&given| Some(given) != self.block) {
            write!(f, " as {given}")?;
        }
        if let Some(block) = self.block {
            write!(f, "; the block has {block}")?;
        }
        if let Some(malloc) = self.malloc {
            write!(f, "; allocated by {malloc}")?;
        }
        if let Some(free) = self.free {
            write!(f, "; freed before by {free}")?;
        }
        if self.lost {
            f.write_str("; it stays allocated")?;
        }
        write!(f, "; {}", self.kind.advice())
    }
}

/// Mistakes that a heap found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    /// How many.
    pub count: u32,
    /// The first of them.
    pub first: Vec<Mistake>,
}

/// Kernels used a heap wrongly, and the heap found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapMistakes {
    /// Entry points of the launches after which it was asked, one or several.
    pub kernel: String,
    /// Name of the heap's allocator.
    pub allocator: &'static str,
    /// The mistakes. With launches at the same time in this heap, theirs may be among them.
    pub mistakes: Mistakes,
    /// The first launch of which lanes also returned errors.
    pub failure: Option<Box<KernelFailure>>,
}

impl fmt::Display for HeapMistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistakes { count, first } = &self.mistakes;
        write!(
            f,
            "{}: {count} mistake(s) in the {} heap",
            self.kernel, self.allocator
        )?;
        for mistake in first {
            write!(f, "\n  {mistake}")?;
        }
        let shown = first.len() as u64;
        if u64::from(*count) > shown {
            write!(f, "\n  … and {} more", u64::from(*count) - shown)?;
        }
        match &self.failure {
            Some(failure) => write!(f, "\n  besides, {failure}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for HeapMistakes {}

/// Reads and writes words of a heap from the host.
pub trait HeapAccess: HeapReader {
    /// Writes `words` from word index `first`.
    ///
    /// # Errors
    /// As [`Backend::write`](super::Backend::write).
    fn write(&mut self, first: u64, words: &[u32]) -> Result<(), DeviceError>;
}

/// Takes the mistakes that a heap of so many words found since the last time. It is called when launches have ended, with the names
/// of their entry points.
pub type TakeMistakes =
    fn(words: u64, launches: &str, heap: &mut dyn HeapAccess) -> Result<Mistakes, DeviceError>;
