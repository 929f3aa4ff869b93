//! The host's side: how heaps are laid out, and what their metadata say. The half of an allocator lies in its folder, in
//! `host`; here are those of adaptors and containers, and what is common.

mod checked;
pub mod container;
mod counted;
mod failing;
mod log;
mod rows;

pub use crate::alloc::fdg::host::*;
pub use checked::{CHECKED_KIND, CheckedConfig, HeapInspection, LiveBlock};
pub use failing::FAILING_KIND;
pub use log::{DeviceLog, LogLine, LogLines};
pub use settings::*;

pub mod settings {
    //! What the folders of the allocators give to the host: most of all their settings.

    macro_rules! settings {
        ([] $($folder:ident { $($rows:tt)* })*) => {$(
            // Some have none.
            #[allow(unused_imports)]
            pub use crate::alloc::$folder::host::*;
        )*};
    }
    warpheap_allocators::rows! { [settings] }
}
