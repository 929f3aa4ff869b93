//! Devices that tests run on: the emulator as they want it, and a GPU if there is one.

mod site;

pub use warpheap_api::host::BackendKind;
pub use warpheap_host::HostConfig;

use std::fmt::Display;
use std::sync::OnceLock;
use warpheap_api::host::{Device, DeviceError, DeviceInfo};
use warpheap_host::Mode;

/// The emulator with warps of `width` lanes, in run mode on so many threads, telling of overlapping blocks; of reads of what nobody
/// has written if the environment asks for it.
pub fn on_threads(width: u32, threads: usize) -> HostConfig {
    HostConfig {
        warp_width: width,
        threads,
        check_blocks: Some(true),
        unwritten: std::env::var_os("WARPHEAP_UNWRITTEN").is_some(),
        ..HostConfig::default()
    }
}

/// The emulator under the schedule that `seed` stands for, telling of overlapping blocks and of reads of what nobody has written;
/// `config` has the other settings.
pub fn explored(width: u32, seed: u64, config: HostConfig) -> HostConfig {
    HostConfig {
        warp_width: width,
        mode: Mode::Explore { seed },
        check_blocks: Some(true),
        unwritten: true,
        ..config
    }
}

/// The emulator with room on the stack for kernels that are not optimised, which keep all that is inlined in them there.
///
/// # Errors
/// Those of [`warpheap_host::open`].
pub fn roomy(config: HostConfig) -> Result<Device, DeviceError> {
    warpheap_host::open(HostConfig {
        stack_bytes: 8 << 20,
        ..config
    })
}

/// Whether it is Vulkan on CPUs, which compiles kernels slowly and runs few lanes at a time.
pub fn is_vulkan_on_cpus(info: &DeviceInfo) -> bool {
    let name = info.name.to_lowercase();
    let mut known = ["swiftshader", "llvmpipe"].iter();
    info.backend == BackendKind::Vulkan && known.any(|known| name.contains(known))
}

/// What `open` makes of a GPU, kept in `place` and made once. Without such a device there is none, and a line on standard error
/// says that `tests` are skipped; but with `WARPHEAP_REQUIRE_CUDA=1` or `WARPHEAP_REQUIRE_VULKAN=1` every test that asks for it
/// fails.
pub fn once<T, E: Display>(
    place: &'static OnceLock<Option<T>>,
    backend: BackendKind,
    tests: &str,
    open: impl FnOnce() -> Result<T, E>,
) -> Option<&'static T> {
    let opened = place.get_or_init(|| match open() {
        Ok(opened) => Some(opened),
        Err(error) => {
            // Not through `eprintln`, which the test harness keeps to itself.
            use std::io::Write;
            let text = format!("SKIPPED: every {backend} test of {tests}: {error}\n");
            let _ = std::io::stderr().write_all(text.as_bytes());
            None
        }
    });
    let required = match backend {
        BackendKind::Cuda => "WARPHEAP_REQUIRE_CUDA",
        _ => "WARPHEAP_REQUIRE_VULKAN",
    };
    let must = std::env::var(required).is_ok_and(|value| value.trim() == "1");
    assert!(
        opened.is_some() || !must,
        "{required}=1 and there is no {backend} device: the line that begins with SKIPPED says why"
    );
    opened.as_ref()
}
