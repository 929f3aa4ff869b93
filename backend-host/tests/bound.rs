//! Heaps that kernels use without being given them, on a device that says when such a kernel is at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use warpheap_api::host::{
    Backend, BackendKind, BufferId, Device, DeviceError, DeviceInfo, HeapArg, KernelImage, Launch,
    LaunchReport, ModuleId,
};
use warpheap_rt::alloc::Bump;

/// A device on which a kernel works in the heap that was bound last, until somebody waits for it. Nothing is kept.
#[derive(Debug)]
struct Busy {
    info: DeviceInfo,
    bound: AtomicBool,
    /// Writes by the host while the kernel was at work.
    beside: AtomicU32,
}

impl Busy {
    fn touched(&self) -> Result<(), DeviceError> {
        self.beside
            .fetch_add(u32::from(self.bound.load(SeqCst)), SeqCst);
        Ok(())
    }
}

impl Backend for Busy {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn alloc(&self, _: u64) -> Result<BufferId, DeviceError> {
        Ok(BufferId(1))
    }
    fn reserve(&self, _: u64, _: u64) -> Result<BufferId, DeviceError> {
        Ok(BufferId(1))
    }
    fn resize(&self, _: BufferId, _: u64) -> Result<(), DeviceError> {
        self.touched()
    }
    fn dealloc(&self, _: BufferId) {}
    fn write(&self, _: BufferId, _: u64, _: &[u8]) -> Result<(), DeviceError> {
        self.touched()
    }
    fn read(&self, _: BufferId, _: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        data.fill(0);
        Ok(())
    }
    fn fill(&self, _: BufferId, _: u64, _: u64, _: u32) -> Result<(), DeviceError> {
        self.touched()
    }
    fn copy(&self, _: (BufferId, u64), _: (BufferId, u64), _: u64) -> Result<(), DeviceError> {
        self.touched()
    }
    fn load(&self, _: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        Ok(ModuleId(1))
    }
    fn bind_heap(&self, _: ModuleId, _: &HeapArg) -> Result<(), DeviceError> {
        self.bound.store(true, SeqCst);
        Ok(())
    }
    fn await_bound(&self, _: BufferId) -> Result<(), DeviceError> {
        self.bound.store(false, SeqCst);
        Ok(())
    }
    fn submit(&self, _: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        Ok(Vec::new())
    }
}

fn busy() -> Arc<Busy> {
    Arc::new(Busy {
        info: DeviceInfo {
            backend: BackendKind::Cuda,
            name: "Busy".into(),
            driver: "1".into(),
            warp_width: 4,
            max_block_dim: 256,
            max_grid_dim: 65535,
            max_buffer_bytes: 1 << 30,
            memory_bytes: 0,
        },
        bound: AtomicBool::new(false),
        beside: AtomicU32::new(0),
    })
}

#[test]
fn a_heap_is_laid_out_again_when_kernels_that_it_is_bound_to_have_ended() {
    let backend = busy();
    let device = Device::new(backend.clone());
    let image = KernelImage {
        name: "collections",
        ptx: None,
        spirv: None,
    };
    let module = device.load(&image).expect("any image can be loaded");
    let mut pool = device
        .reserve_growing::<Bump>(1 << 16, 1 << 20)
        .expect("a pool");

    module.bind_heap(&pool).expect("bound");
    pool.grow_to(1 << 18).expect("it grows");
    assert_eq!(backend.beside.load(SeqCst), 0, "while it grew");

    module.bind_heap(&pool).expect("bound");
    pool.reset().expect("it is made fresh");
    assert_eq!(backend.beside.load(SeqCst), 0, "while it was made fresh");
}
