//! The library's allocators, a row for each: the one list that `#[kernel]`, the builder, the runtime, the lab and the command
//! line read.
//!
//! The rows stand in `rows.rs`. Who needs the types goes through them by the macros [`rows!`] and [`for_each_allocator!`]; who needs
//! names and numbers reads the table, [`ROWS`]. A device compiles the macros alone.
#![no_std]

mod rows;
#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
mod table;

#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
pub use table::{ADAPTORS, ALL, Allocator, Largest, ROWS, kind_of, named};

/// Calls the macro `then` with the names of the allocators of `#[kernel(allocators = all)]`, separated by commas: for
/// host code that does something for each of them.
#[macro_export]
macro_rules! for_each_allocator {
    ($then:ident) => {
        $crate::rows! { [$crate::__names] $then in_all }
    };
}

/// As [`for_each_allocator!`], with those alone that never free.
#[macro_export]
macro_rules! for_each_allocator_without_frees {
    ($then:ident) => {
        $crate::rows! { [$crate::__names] $then without_frees }
    };
}

/// Picks names of rows. The first rule takes the rows out of their folders, the others go through them one by one.
#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    ([$then:ident $which:ident] $($folder:ident { $($name:ident { $($fields:tt)* })* })*) => {
        $crate::__names! { $which $then [] $($($name { $($fields)* })*)* }
    };
    ($which:ident $then:ident [$($kept:ident)*]) => {
        $then! { $($kept),* }
    };
    (in_all $then:ident [$($kept:ident)*]
        $name:ident { kind: $kind:literal, in_all: true, $($fields:tt)* } $($rest:tt)*) => {
        $crate::__names! { in_all $then [$($kept)* $name] $($rest)* }
    };
    (without_frees $then:ident [$($kept:ident)*]
        $name:ident { kind: $kind:literal, in_all: true, frees: false, $($fields:tt)* } $($rest:tt)*) => {
        $crate::__names! { without_frees $then [$($kept)* $name] $($rest)* }
    };
    ($which:ident $then:ident [$($kept:ident)*] $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        $crate::__names! { $which $then [$($kept)*] $($rest)* }
    };
}
