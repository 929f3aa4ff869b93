//! [`CudaMalloc`] on the host.

use crate::alloc::CudaMalloc;
use crate::alloc::cuda_malloc::WORD_BASE;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    BackendKind, DeviceError, Fill, HeapPlan, HeapReader, HostAlloc, PlanError, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

impl HostAlloc for CudaMalloc {
    const KIND: u32 = kind_of(Self::NAME);
    type Config = ();
    const ONLY_ON: Option<BackendKind> = Some(BackendKind::Cuda);

    /// A pool of the least size will do: blocks lie in the context's heap, whose size is a setting of the
    /// CUDA backend.
    fn plan(bytes: u64, (): &()) -> Result<HeapPlan, PlanError> {
        let least = (WORD_BASE as u64 + 4) * 4;
        if bytes < least {
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least,
            });
        }
        Ok(HeapPlan {
            params: [0; HEAP_PARAMS],
            fills: [Fill {
                word: WORD_BASE as u64,
                words: 4,
                value: 0,
            }]
            .into(),
            metadata_bytes: least,
        })
    }

    /// CUDA does not tell.
    fn usage(_params: &HeapParams, _heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        Ok(Usage::default())
    }
}
