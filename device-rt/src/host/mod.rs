//! The host's side: how heaps are laid out, and what their metadata say. The half of an allocator lies in its folder, in
//! `host`; here are those of adaptors and containers, and what is common.

mod checked;
pub mod container;
mod counted;
mod failing;
mod limited;
mod log;
mod rows;
mod traced;

pub use crate::alloc::fdg::host::*;
pub use checked::{CHECKED_KIND, CheckedConfig, HeapInspection, LiveBlock};
pub use failing::FAILING_KIND;
pub use limited::{LIMITED_KIND, LimitedConfig};
pub use log::{DeviceLog, LogLine, LogLines};
pub use settings::*;
pub use traced::{TRACED_KIND, Trace, TraceCall, TraceEvent, TracedConfig, trace_of};

/// Bytes of the least heap that there can be.
fn least_heap() -> u64 {
    let header = warpheap_api::header::HEADER_WORDS as u64 * 4;
    header + warpheap_api::DevicePtr::<u8>::GRANULE_BYTES as u64
}

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
