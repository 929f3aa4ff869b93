//! Devices that are opened, refused, and allocated on by the host.

use super::*;
use std::sync::Arc;
use std::time::Duration;
use warpheap_rt::api::host::{
    Backend, BufferId, DeviceInfo, KernelImage, Launch, LaunchReport, ModuleId,
};

/// A device that does nothing: what it is told to write is lost, and every read gives zeros.
#[derive(Debug)]
struct Forgetful(DeviceInfo);

impl Forgetful {
    fn device(backend: BackendKind) -> host::Device {
        host::Device::new(Arc::new(Forgetful(DeviceInfo {
            backend,
            name: "Forgetful".into(),
            driver: "1".into(),
            warp_width: 4,
            max_block_dim: 256,
            max_grid_dim: 65535,
            max_buffer_bytes: 1 << 30,
            memory_bytes: 0,
        })))
    }
}

impl Backend for Forgetful {
    fn info(&self) -> &DeviceInfo {
        &self.0
    }
    fn alloc(&self, _bytes: u64) -> Result<BufferId, DeviceError> {
        Ok(BufferId(1))
    }
    fn dealloc(&self, _buffer: BufferId) {}
    fn write(&self, _buffer: BufferId, _offset: u64, _data: &[u8]) -> Result<(), DeviceError> {
        Ok(())
    }
    fn read(&self, _buffer: BufferId, _offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        data.fill(0);
        Ok(())
    }
    fn fill(&self, _: BufferId, _: u64, _: u64, _: u32) -> Result<(), DeviceError> {
        Ok(())
    }
    fn copy(&self, _: (BufferId, u64), _: (BufferId, u64), _: u64) -> Result<(), DeviceError> {
        Ok(())
    }
    fn load(&self, _image: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        Ok(ModuleId(1))
    }
    fn submit(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        let report = LaunchReport {
            device_time: Duration::ZERO,
            words: [0; warpheap_rt::api::abi::REPORT_WORDS],
        };
        Ok(vec![report; launches.len()])
    }
}

#[test]
fn a_device_that_loses_stores_is_refused() {
    for backend in [BackendKind::Vulkan, BackendKind::Cuda] {
        match Device::adopt(Forgetful::device(backend)) {
            Err(DeviceError::SelfTest { device, .. }) => assert!(device.contains("Forgetful")),
            other => panic!("{other:?}"),
        }
    }
    assert!(Device::self_test(&Forgetful::device(BackendKind::Host)).is_err());
}

#[test]
fn all_are_those_of_the_best_kind_that_open() {
    let opened = |devices: &[(u32, bool)]| {
        let found: Vec<FoundDevice> = devices
            .iter()
            .zip(0..)
            .map(|(&(rank, _), index)| FoundDevice {
                index,
                name: String::new(),
                driver: String::new(),
                kind: String::new(),
                warp_width: None,
                memory_bytes: 0,
                problem: None,
                remark: None,
                rank,
            })
            .collect();
        open_alike(&found, |found| match devices[found.index].1 {
            true => Ok(found.index),
            false => Err(none_found(BackendKind::Vulkan)),
        })
        .map_err(|error| error.is_some())
    };
    // Discrete GPUs beside an integrated one and a CPU; a refused one in front, behind and between.
    let gpus = [
        (0, false),
        (0, true),
        (0, false),
        (0, true),
        (1, true),
        (4, true),
    ];
    assert_eq!(opened(&gpus), Ok(vec![1, 3]));
    assert_eq!(opened(&[(0, false), (4, true), (4, true)]), Ok(vec![1, 2]));
    assert_eq!(opened(&[(0, false), (4, false)]), Err(true));
    assert_eq!(opened(&[]), Err(false));
}

/// Whether there is a device or not: what opens one and what opens all agree on the first, or on the error.
#[test]
fn all_begin_with_the_one_that_opens() {
    for backend in backends::ALL {
        let (one, all) = (Device::open_backend(backend, None), Device::all_of(backend));
        match (one, all) {
            (Ok(one), Ok(all)) => assert_eq!(all[0].info().name, one.info().name),
            (Err(one), Err(all)) => assert_eq!(all.to_string(), one.to_string()),
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(feature = "host")]
mod told;

#[cfg(feature = "host")]
mod on_the_host {
    use super::*;
    use warpheap_rt::api::host::{DeviceVec, Pool};
    use warpheap_rt::api::{AllocError, layout};
    use warpheap_rt::device::*;

    fn device() -> Device {
        Device::open_backend(BackendKind::Host, None).unwrap()
    }

    #[test]
    fn a_number_or_a_name_opens_it() {
        for name in ["0", "emulator", " EMUL "] {
            let device = Device::open_named(Some("Host"), Some(name)).unwrap();
            assert_eq!(device.info().backend, BackendKind::Host);
        }
        for name in ["1", "H9000"] {
            let error = Device::open_backend(BackendKind::Host, Some(name)).unwrap_err();
            let message = error.to_string();
            assert!(
                message.contains(name) && message.contains("0 emulator"),
                "{message}"
            );
        }
    }

    /// The host's vectors in a heap keep their contents and give all of it back.
    fn vectors_live_in<A: host::HostAlloc>() {
        let pool: Pool<A> = device().reserve(1 << 20).unwrap();
        let before = pool.stats().unwrap().usage.used_bytes;
        // As long as a block of allocators of pages may be.
        let most = (A::CAPS.max_size / 4).min(3000) as u32;
        let numbers: Vec<u32> = (0..most.min(1000)).collect();
        let one = DeviceVec::from_slice_in(&pool, &numbers).unwrap();
        let two = DeviceVec::<u32>::zeroed_in(&pool, most as usize).unwrap();
        assert_eq!(one.to_vec().unwrap(), numbers);
        assert_eq!(two.to_vec().unwrap(), vec![0; most as usize]);
        let bytes = 4 * (numbers.len() as u64 + most as u64);
        assert!(pool.stats().unwrap().usage.used_bytes >= before + bytes);
        drop((one, two));
        if A::CAPS.frees {
            assert_eq!(
                pool.stats().unwrap().usage.used_bytes,
                before,
                "{}",
                A::NAME
            );
        }
    }

    #[test]
    fn the_host_allocates_in_every_kind_of_heap() {
        macro_rules! each {
            ($($allocator:ident),* $(,)?) => {
                $(
                    vectors_live_in::<$allocator>();
                    vectors_live_in::<Counted<$allocator>>();
                )*
            };
        }
        warpheap_rt::for_each_allocator!(each);
    }

    #[test]
    fn counted_heaps_count_the_hosts_blocks() {
        let pool: Pool<Counted<Bump>> = device().reserve(1 << 16).unwrap();
        let layout = layout::bytes(100);
        let ptr = pool.malloc(layout).unwrap();
        // SAFETY: the block is fresh from this heap, and nothing uses it.
        unsafe { pool.free(ptr, layout) }.unwrap();
        let stats = pool.stats().unwrap();
        assert_eq!((stats.mallocs, stats.frees), (1, 1));
        assert_eq!((stats.malloc_bytes, stats.free_bytes), (100, 100));
    }

    #[test]
    fn what_a_heap_cannot_give_is_an_error_with_the_cause() {
        let pool: Pool<Bump> = device().reserve(1 << 16).unwrap();
        for (layout, expected) in [
            (layout::bytes(1 << 20), AllocError::Exhausted),
            // More than 32 bits count, and more than a heap can have.
            (layout::bytes(3 << 32), AllocError::Exhausted),
            (layout::bytes(layout::ABSURD), AllocError::Unsupported),
            (layout::aligned(16, 1 << 20), AllocError::Unsupported),
        ] {
            match pool.malloc(layout) {
                Err(DeviceError::Heap { cause, .. }) => assert_eq!(cause, expected, "{layout:?}"),
                other => panic!("{layout:?}: {other:?}"),
            }
        }
    }
}

#[cfg(feature = "host")]
#[test]
fn a_device_knows_its_number() {
    let opened = Device::open_backend(BackendKind::Host, Some("0")).expect("the emulator");
    assert_eq!(opened.number(), Some(0));
}
