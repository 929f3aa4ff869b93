//! A driver that miscompiles loops is refused. One test, since it changes the environment of its
//! process.

mod common;

use warpheap_api::host::DeviceError;
use warpheap_kernels::selftest;
use warpheap_vulkan::open_unchecked;

/// Where Debian's mesa-vulkan-drivers puts it.
const DRIVER: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";

#[test]
fn llvmpipe_of_mesa_22_is_refused_by_the_self_test() {
    if !std::path::Path::new(DRIVER).exists() {
        eprintln!("SKIPPED, the self-test was not tried on a bad driver: there is no {DRIVER}");
        return;
    }
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        // SAFETY: the only test of this process, and nothing else in it reads the environment yet.
        unsafe { std::env::set_var(name, DRIVER) };
    }
    let Some(device) = common::unless_absent(open_unchecked(&common::config())) else {
        return;
    };
    let verdict = selftest::check(&device);
    // Later versions may do better, and then have to do all of it.
    if !device.info().driver.contains("Mesa 22.") {
        return verdict.unwrap();
    }
    let error = verdict.unwrap_err();
    assert!(matches!(error, DeviceError::SelfTest { .. }), "{error}");
    for part in ["llvmpipe", "Mesa 22.", "loops of more than"] {
        assert!(error.to_string().contains(part), "{error}");
    }
}
