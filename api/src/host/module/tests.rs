//! Which images are loaded, and when.

use super::*;
use crate::host::{Backend, BufferId, DeviceInfo, Launch, LaunchReport};
use std::boxed::Box;
use std::vec;

/// A device that keeps what it is told to load.
#[derive(Debug)]
struct Loader {
    info: DeviceInfo,
    loaded: Mutex<Vec<String>>,
}

impl Backend for Loader {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn alloc(&self, _bytes: u64) -> Result<BufferId, DeviceError> {
        Ok(BufferId(1))
    }
    fn dealloc(&self, _buffer: BufferId) {}
    fn write(&self, _: BufferId, _: u64, _: &[u8]) -> Result<(), DeviceError> {
        Ok(())
    }
    fn read(&self, _: BufferId, _: u64, _: &mut [u8]) -> Result<(), DeviceError> {
        Ok(())
    }
    fn fill(&self, _: BufferId, _: u64, _: u64, _: u32) -> Result<(), DeviceError> {
        Ok(())
    }
    fn copy(&self, _: (BufferId, u64), _: (BufferId, u64), _: u64) -> Result<(), DeviceError> {
        Ok(())
    }
    fn load(&self, image: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        let spirv = image.spirv.map(String::from_utf8_lossy);
        let text = image.ptx.map(str::to_string).or(spirv.map(Into::into));
        let mut loaded = self.loaded.lock().unwrap();
        loaded.push(text.unwrap_or_default());
        Ok(ModuleId(loaded.len() as u64))
    }
    fn submit(&self, _: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        Ok(Vec::new())
    }
}

fn device(backend: BackendKind) -> (Device, Arc<Loader>) {
    let loader = Arc::new(Loader {
        info: DeviceInfo {
            backend,
            name: "Loader".into(),
            driver: "1".into(),
            warp_width: 4,
            max_block_dim: 256,
            max_grid_dim: 65535,
            max_buffer_bytes: 1 << 30,
            memory_bytes: 0,
        },
        loaded: Mutex::default(),
    });
    (Device::new(loader.clone()), loader)
}

fn packed(text: &str) -> &'static [u8] {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap().leak()
}

fn images(packed: Vec<PackedImage>) -> &'static KernelImages {
    Box::leak(Box::new(KernelImages {
        name: "kernels",
        packed: packed.leak(),
    }))
}

#[test]
fn an_allocators_image_is_loaded_when_it_is_asked_for_and_once() {
    let images = images(vec![
        ("", Some(packed("rest ptx")), Some(packed("rest spirv"))),
        ("Bump", Some(packed("bump ptx")), Some(packed("bump spirv"))),
    ]);
    for (backend, rest, bump) in [
        (BackendKind::Cuda, "rest ptx", "bump ptx"),
        (BackendKind::Vulkan, "rest spirv", "bump spirv"),
        (BackendKind::Host, "", ""),
    ] {
        let (device, loader) = device(backend);
        let modules = Modules::new(&device, images).unwrap();
        let loaded = || loader.loaded.lock().unwrap().clone();
        assert_eq!(loaded(), [rest]);
        let own = modules.of("Bump").id().unwrap();
        assert_eq!(modules.clone().of("Bump").id().unwrap(), own);
        assert_eq!(loaded(), [rest, bump]);
        // What has no image of its own lies in the other one.
        assert_eq!(
            modules.of("Mine").id().unwrap(),
            modules.of("").id().unwrap()
        );
        assert_eq!(loaded().len(), 2);
    }
}

#[test]
fn a_damaged_image_says_what_to_do() {
    let whole = packed("some ptx");
    let images = images(vec![
        ("", Some(packed("rest")), None),
        ("Bump", Some(&whole[..whole.len() - 9]), None),
    ]);
    let (device, loader) = device(BackendKind::Cuda);
    let modules = Modules::new(&device, images).unwrap();
    let error = modules.of("Bump").id().unwrap_err().to_string();
    assert!(
        error.contains("`kernels` is damaged") && error.contains("build the program again"),
        "{error}"
    );
    assert_eq!(loader.loaded.lock().unwrap().len(), 1);
}

#[test]
fn a_crate_may_have_nothing_but_kernels_of_allocators() {
    let images = images(vec![("Bump", Some(packed("bump ptx")), None)]);
    let (device, loader) = device(BackendKind::Cuda);
    let modules = Modules::new(&device, images).unwrap();
    assert!(loader.loaded.lock().unwrap().is_empty());
    modules.of("Bump").id().unwrap();
    assert_eq!(loader.loaded.lock().unwrap().clone(), ["bump ptx"]);
}
