//! What buffers are called where tools show them.
//!
//! A backend is asked for bytes and is not told what for. It learns that from launches: of which buffers a kernel gets slices, and
//! which are heaps.

use super::arg::Arg;
use super::backend::BufferId;
use super::launch::Launch;
use std::format;
use std::string::String;

/// What a buffer is, as far as it is known: each knows more than those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BufferKind {
    /// Nobody used it yet.
    #[default]
    Buffer,
    /// A kernel got it as a slice.
    Vector,
    /// A kernel got it as a heap: that of this allocator, if it has a name.
    Pool(Option<&'static str>),
}

impl BufferKind {
    /// How much it tells.
    fn rank(self) -> u8 {
        match self {
            BufferKind::Buffer => 0,
            BufferKind::Vector => 1,
            BufferKind::Pool(None) => 2,
            BufferKind::Pool(Some(_)) => 3,
        }
    }

    /// The name of a buffer of so many bytes, in ASCII.
    pub fn name(self, bytes: u64) -> String {
        let size = size(bytes);
        match self {
            BufferKind::Buffer => format!("warpheap buffer {size}"),
            BufferKind::Vector => format!("warpheap vector {size}"),
            BufferKind::Pool(None) => format!("warpheap pool {size}"),
            BufferKind::Pool(Some(allocator)) => format!("warpheap pool {allocator} {size}"),
        }
    }
}

impl Launch<'_> {
    /// What the launch tells of the buffers among its arguments.
    pub fn buffer_kinds(&self) -> impl Iterator<Item = (BufferId, BufferKind)> {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Heap(heap) => Some((heap.buffer.id(), BufferKind::Pool(heap.allocator()))),
            Arg::Slice(slice) => Some((slice.buffer.id(), BufferKind::Vector)),
            Arg::Words(_) | Arg::Container(_) | Arg::Shared(_) => None,
        })
    }
}

/// Bytes with a unit that fits: `3 MiB`, `1.5 KiB`.
pub(super) fn size(bytes: u64) -> String {
    let power = (bytes.max(1).ilog2() / 10).min(4);
    let unit = ["B", "KiB", "MiB", "GiB", "TiB"][power as usize];
    let one = 1u64 << (10 * power);
    match bytes % one * 10 / one {
        0 => format!("{} {unit}", bytes / one),
        tenths => format!("{}.{tenths} {unit}", bytes / one),
    }
}

/// What is known of a buffer, and with how many bytes it was named.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct KnownBuffer {
    kind: BufferKind,
    bytes: u64,
}

impl KnownBuffer {
    /// The name of a buffer of which something is told, if that makes it another one.
    pub fn learn(&mut self, kind: BufferKind, bytes: u64) -> Option<String> {
        let told = KnownBuffer { kind, bytes };
        if kind.rank() < self.kind.rank() || told == *self {
            return None;
        }
        *self = told;
        Some(kind.name(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_fits() {
        let sizes = [1, 1023, 1536, 64 << 20, (5 << 30) / 2, 3 << 40, 3 << 50];
        let texts = [
            "1 B", "1023 B", "1.5 KiB", "64 MiB", "2.5 GiB", "3 TiB", "3072 TiB",
        ];
        assert_eq!(sizes.map(size), texts);
    }

    #[test]
    fn a_name_changes_when_more_is_known_or_the_size_changes() {
        let gallatin = BufferKind::Pool(Some("Gallatin"));
        let mut known = KnownBuffer::default();
        let buffer = known.learn(BufferKind::Buffer, 64 << 20);
        assert_eq!(buffer.as_deref(), Some("warpheap buffer 64 MiB"));
        let pool = known.learn(BufferKind::Pool(None), 64 << 20);
        assert_eq!(pool.as_deref(), Some("warpheap pool 64 MiB"));
        let pool = known.learn(gallatin, 64 << 20);
        assert_eq!(pool.as_deref(), Some("warpheap pool Gallatin 64 MiB"));
        // Neither the same again nor what says less.
        assert_eq!(known.learn(gallatin, 64 << 20), None);
        assert_eq!(known.learn(BufferKind::Vector, 64 << 20), None);
        let grown = known.learn(gallatin, 1 << 30);
        assert_eq!(grown.as_deref(), Some("warpheap pool Gallatin 1 GiB"));
    }
}
