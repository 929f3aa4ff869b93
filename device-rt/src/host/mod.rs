//! The host's side: how heaps are laid out, and what their metadata say. The half of an allocator lies in its folder, in
//! `host`; here are those of adaptors and containers, and what is common.

mod checked;
pub mod container;
mod counted;
mod failing;
mod limited;
mod log;
#[cfg(test)]
pub(crate) mod planted;
mod rows;
mod traced;

pub use crate::alloc::fdg::host::*;
pub use checked::{CHECKED_KIND, CheckSettings, CheckedConfig, HeapInspection, LiveBlock};
pub use failing::FAILING_KIND;
pub use limited::{LIMITED_KIND, LimitedConfig};
pub use log::{DeviceLog, LogLine, LogLines};
pub use settings::*;
pub use traced::{TRACED_KIND, Trace, TraceCall, TraceEvent, TracedConfig, trace_of};

use warpheap_api::host::{Fill, HeapPlan};

/// Bytes of the least heap that there can be.
fn least_heap() -> u64 {
    let header = warpheap_api::header::HEADER_WORDS as u64 * 4;
    header + warpheap_api::DevicePtr::<u8>::GRANULE_BYTES as u64
}

/// Adds words of an adaptor's own to what a heap begins with: the number of each behind `begin`, and its value.
fn set_words(plan: &mut HeapPlan, begin: u64, words: &[(usize, u32)]) {
    plan.fills.extend(words.iter().map(|&(which, value)| Fill {
        word: begin + which as u64,
        words: 1,
        value,
    }));
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
