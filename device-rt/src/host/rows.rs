//! What the rows of `warpheap-allocators` say is what the types say: otherwise this does not compile.

use crate::alloc::plain::*;
use warpheap_allocators::{kind_of, named};
use warpheap_api::DeviceAlloc;
use warpheap_api::host::HostAlloc;

macro_rules! agree {
    ($($name:ident),*) => {$(
        const _: () = {
            assert!(
                <$name as HostAlloc>::KIND == kind_of(stringify!($name)),
                concat!("`", stringify!($name), "` has a `NAME` or `KIND` that is not its row's")
            );
            assert!(
                match named(stringify!($name)) {
                    Some(row) => row.frees == <$name as DeviceAlloc>::CAPS.frees,
                    None => false,
                },
                concat!("the row of `", stringify!($name), "` and its `CAPS` disagree about `frees`")
            );
        };
    )*};
}
warpheap_allocators::for_each_allocator! { agree }
