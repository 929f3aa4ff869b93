//! What buffers are called where tools show them.
//!
//! A backend is asked for bytes and is not told what for. It learns that from launches: of which buffers a kernel gets slices, and
//! which are heaps. The backend for CUDA has the same file.

use warpheap_api::host::{Arg, BufferId, Launch};

/// What a buffer is, as far as it is known: each knows more than those before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    /// Nobody used it yet.
    Buffer,
    /// A kernel got it as a slice.
    Vector,
    /// A kernel got it as a heap: that of this allocator, or of one that the kernel's name does not tell, if it is empty.
    Pool(&'a str),
}

impl Kind<'_> {
    fn rank(self) -> u8 {
        match self {
            Kind::Buffer => 0,
            Kind::Vector => 1,
            Kind::Pool("") => 2,
            Kind::Pool(_) => 3,
        }
    }

    /// The name of a buffer of so many bytes.
    pub(crate) fn name(self, bytes: u64) -> String {
        let size = size(bytes);
        match self {
            Kind::Buffer => format!("warpheap buffer {size}"),
            Kind::Vector => format!("warpheap vector {size}"),
            Kind::Pool("") => format!("warpheap pool {size}"),
            Kind::Pool(allocator) => format!("warpheap pool {allocator} {size}"),
        }
    }
}

/// What a launch tells of the buffers among its arguments.
pub(crate) fn told<'a>(launch: &Launch<'a>) -> impl Iterator<Item = (BufferId, Kind<'a>)> {
    let heaps = launch.args.iter().filter(|arg| matches!(arg, Arg::Heap(_)));
    // With several heaps the kernel's name does not say whose is which.
    let allocator = match heaps.count() {
        1 => allocator(launch.entry),
        _ => "",
    };
    launch.args.iter().filter_map(move |arg| match arg {
        Arg::Heap(heap) => Some((heap.buffer.id(), Kind::Pool(allocator))),
        Arg::Slice(slice) => Some((slice.buffer.id(), Kind::Vector)),
        Arg::Words(_) | Arg::Container(_) | Arg::Shared(_) => None,
    })
}

/// The allocator that an entry was compiled for: that of `fill__Counted_WarpHeap_l1` is `Counted_WarpHeap`. It is empty where the
/// kernel takes the heaps of one allocator alone.
fn allocator(entry: &str) -> &str {
    let stem = entry.rsplit_once("_l").map_or(entry, |(stem, _)| stem);
    stem.rsplit_once("__")
        .map_or("", |(_, allocator)| allocator)
}

/// Bytes with a unit that fits: `3 MiB`, `1.5 KiB`.
fn size(bytes: u64) -> String {
    let power = (bytes.max(1).ilog2() / 10).min(4);
    let unit = ["B", "KiB", "MiB", "GiB", "TiB"][power as usize];
    let one = 1u64 << (10 * power);
    match bytes % one * 10 / one {
        0 => format!("{} {unit}", bytes / one),
        tenths => format!("{}.{tenths} {unit}", bytes / one),
    }
}

/// How much is known of a buffer, and with how many bytes it was named.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Known(u8, u64);

impl Known {
    /// The name of a buffer of which something is told, if that makes it another one.
    pub(crate) fn learn(&mut self, kind: Kind<'_>, bytes: u64) -> Option<String> {
        let told = Known(kind.rank(), bytes);
        if told.0 < self.0 || told == *self {
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
    fn entries_name_the_allocator_that_they_are_for() {
        assert_eq!(allocator("fill_lists__WarpHeap_l1"), "WarpHeap");
        assert_eq!(
            allocator("my__own__Counted_WarpHeap_l12"),
            "Counted_WarpHeap"
        );
        assert_eq!(allocator("selftest_index_l1"), "");
        assert_eq!(allocator("bare"), "");
    }

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
        let mut known = Known::default();
        let buffer = known.learn(Kind::Buffer, 64 << 20);
        assert_eq!(buffer.as_deref(), Some("warpheap buffer 64 MiB"));
        let pool = known.learn(Kind::Pool(""), 64 << 20);
        assert_eq!(pool.as_deref(), Some("warpheap pool 64 MiB"));
        let pool = known.learn(Kind::Pool("Gallatin"), 64 << 20);
        assert_eq!(pool.as_deref(), Some("warpheap pool Gallatin 64 MiB"));
        // Neither the same again nor what says less.
        assert_eq!(known.learn(Kind::Pool("Gallatin"), 64 << 20), None);
        assert_eq!(known.learn(Kind::Vector, 64 << 20), None);
        let grown = known.learn(Kind::Pool("Gallatin"), 1 << 30);
        assert_eq!(grown.as_deref(), Some("warpheap pool Gallatin 1 GiB"));
    }
}
