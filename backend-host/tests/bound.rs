//! Heaps that kernels use without being given them, on a device that says when such a kernel is at work.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use warpheap_api::abi::{ArgBlock, REPORT_WORDS};
use warpheap_api::host::{
    Args, Backend, BackendKind, BufferId, Device, DeviceError, DeviceInfo, HeapArg, KernelImage,
    Launch, LaunchConfig, LaunchReport, Module, ModuleId, Prepared,
};
use warpheap_rt::alloc::Bump;

/// A device on which a kernel works in the heap that was bound last, until somebody waits for it. Nothing is kept.
#[derive(Debug)]
struct Busy {
    info: DeviceInfo,
    bound: AtomicBool,
    /// Writes by the host while the kernel was at work.
    beside: AtomicU32,
    /// What other threads do: when kernels were waited for, and when one is launched.
    awaited: Hook,
    launched: Hook,
}

/// Something that is done once.
#[derive(Default)]
struct Hook(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Hook {
    fn set(&self, does: impl FnOnce() + Send + 'static) {
        *self.0.lock().expect("nothing panicked") = Some(Box::new(does));
    }

    fn call(&self) {
        let does = self.0.lock().expect("nothing panicked").take();
        if let Some(does) = does {
            does();
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
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
        self.awaited.call();
        Ok(())
    }
    fn submit(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        self.bound.store(true, SeqCst);
        self.launched.call();
        self.bound.store(false, SeqCst);
        let report = LaunchReport {
            device_time: Duration::ZERO,
            words: [0; REPORT_WORDS],
        };
        Ok(vec![report; launches.len()])
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
        awaited: Hook::default(),
        launched: Hook::default(),
    })
}

/// A module whose collections take from a heap.
fn collections(device: &Device) -> Module {
    let image = KernelImage {
        name: "collections",
        ptx: None,
        spirv: None,
    };
    device.load(&image).expect("any image can be loaded")
}

#[test]
fn a_heap_is_laid_out_again_when_kernels_that_it_is_bound_to_have_ended() {
    let backend = busy();
    let device = Device::new(backend.clone());
    let module = collections(&device);
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

unsafe fn nothing(_: &ArgBlock) {}

/// Another thread launches just when what was under way has ended. Its kernel begins when the heap is there again.
#[test]
fn a_heap_that_is_made_fresh_is_kept_from_kernels_that_it_is_bound_to() {
    let backend = busy();
    let device = Device::new(backend.clone());
    let module = collections(&device);
    let mut pool = device.reserve::<Bump>(1 << 16).expect("a pool");
    module.bind_heap(&pool).expect("bound");
    let shape = LaunchConfig {
        grid_dim: 1,
        block_dim: 1,
    };
    // SAFETY: it takes no arguments.
    let launch = unsafe { Prepared::new(module, "nothing", nothing, shape, Args::new()) };

    let ((go, may_go), (begin, begun), (end, ended)) = (channel(), channel(), channel());
    // Long enough for a kernel that does not wait.
    let a_while = Duration::from_millis(300);
    backend.awaited.set(move || {
        go.send(()).expect("the thread waits");
        let begins = begun.recv_timeout(a_while);
        assert_eq!(begins, Err(RecvTimeoutError::Timeout), "it begins at once");
    });
    backend.launched.set(move || {
        let _ = begin.send(());
        let _: Result<(), _> = ended.recv_timeout(a_while);
    });
    std::thread::scope(|scope| {
        scope.spawn(move || {
            may_go.recv().expect("the heap is made fresh");
            launch.run().expect("it runs");
        });
        pool.reset().expect("it is made fresh");
        let _ = end.send(());
    });
    assert_eq!(backend.beside.load(SeqCst), 0, "while it was made fresh");
}
