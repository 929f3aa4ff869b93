//! The rows as values, and what has to hold of them.

/// An allocator of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocator {
    /// Its type in the runtime's module `alloc`, and what reports call it.
    pub name: &'static str,
    /// Its folder in `device-rt/src/alloc`.
    pub folder: &'static str,
    /// The number that marks its heaps, below [`ADAPTORS`].
    pub kind: u32,
    /// Whether `#[kernel(allocators = all)]` has it. Others are named by who wants them.
    pub in_all: bool,
    /// Whether memory comes back before the heap is reset.
    pub frees: bool,
    /// What bounds a block.
    pub largest: Largest,
}

/// What the largest block of a heap depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Largest {
    /// The pool: an empty heap serves most of it as one block.
    Pool,
    /// Settings: a page, a region, a super block.
    Setting,
}

/// The least bit with which an adaptor changes the kind of the allocator inside it. Kinds of allocators are smaller.
pub const ADAPTORS: u32 = 0x100;

macro_rules! table {
    ([] $($folder:ident { $($name:ident {
        kind: $kind:literal, in_all: $in_all:literal, frees: $frees:literal, largest: $largest:ident
    })* })*) => {
        /// All rows, in their order.
        pub const ROWS: &[Allocator] = &[$($(Allocator {
            name: stringify!($name),
            folder: stringify!($folder),
            kind: $kind,
            in_all: $in_all,
            frees: $frees,
            largest: Largest::$largest,
        },)*)*];
    };
}
crate::rows! { [table] }

macro_rules! names {
    ($($name:ident),*) => {
        /// The names of the allocators of `#[kernel(allocators = all)]`, in its order.
        pub const ALL: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];
    };
}
crate::for_each_allocator! { names }

// A heap knows its allocator by the kind, an image by the name.
const _: () = {
    let mut at = 0;
    while at < ROWS.len() {
        assert!(
            0 < ROWS[at].kind && ROWS[at].kind < ADAPTORS,
            "a kind is a number from 1 to 255"
        );
        let mut other = 0;
        while other < at {
            assert!(
                ROWS[at].kind != ROWS[other].kind,
                "two allocators have the same kind"
            );
            assert!(
                !same(ROWS[at].name, ROWS[other].name),
                "two allocators have the same name"
            );
            other += 1;
        }
        at += 1;
    }
};

/// The row with this name.
pub const fn named(name: &str) -> Option<&'static Allocator> {
    let mut at = 0;
    while at < ROWS.len() {
        if same(ROWS[at].name, name) {
            return Some(&ROWS[at]);
        }
        at += 1;
    }
    None
}

/// The kind of the allocator with this name: what its `HostAlloc::KIND` is.
///
/// # Panics
/// When no row has the name: then the constant does not compile.
pub const fn kind_of(name: &str) -> u32 {
    match named(name) {
        Some(row) => row.kind,
        None => panic!("no row of the library's allocators has this `NAME`"),
    }
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_name() {
        for row in ROWS {
            assert_eq!(named(row.name), Some(row));
            assert_eq!(kind_of(row.name), row.kind);
        }
        assert_eq!(named("Bumb"), None);
    }

    #[test]
    fn names_are_those_of_the_rows_in_all() {
        assert!(
            ROWS.iter()
                .filter(|row| row.in_all)
                .map(|row| row.name)
                .eq(ALL)
        );
    }

    macro_rules! forward {
        ($($name:ident),*) => {
            [$(stringify!($name)),*]
        };
    }

    #[test]
    fn rows_are_picked_by_what_they_say() {
        let never = ROWS.iter().filter(|row| row.in_all && !row.frees);
        assert!(
            never
                .map(|row| row.name)
                .eq(crate::for_each_allocator_without_frees! { forward })
        );
    }
}
