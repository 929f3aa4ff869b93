//! Images that do not fit: each is an error that says what to do.

mod common;

use common::device;
use warpheap_api::host::{
    Device, DeviceError, DeviceVec, KernelImage, LaunchConfig, Prepared, unpack,
};
use warpheap_kernels::{IMAGES, load};

fn image(spirv: Option<&[u8]>) -> KernelImage<'_> {
    KernelImage {
        name: "other",
        ptx: None,
        spirv,
    }
}

fn spirv() -> Vec<u8> {
    let rest = IMAGES.packed.iter().find(|image| image.0.is_empty());
    let packed = rest.and_then(|image| image.2);
    unpack(packed.expect("the tests are built with it")).expect("it is whole")
}

/// Launches `entry` of `image`.
fn launch(
    device: &Device,
    image: &KernelImage<'_>,
    entry: &'static str,
) -> Result<(), DeviceError> {
    let out = DeviceVec::<u32>::zeroed(device, 64)?;
    let config = LaunchConfig::for_num_elems(64);
    let like = load(device)?.selftest_index_launch(config, &out);
    let host = like.launch()?.host;
    let module = device.load(image)?;
    // SAFETY: the arguments are those of the only kernel that could be found.
    let launch = unsafe { Prepared::new(module, entry, host, config, vec![out.arg()]) };
    launch.run().map(drop)
}

#[test]
fn spirv_of_another_layout_version_is_refused() {
    let Some(device) = device() else { return };
    // Versions are one digit: names keep their lengths.
    let (now, then) = (b"selftest_index_l1\0", b"selftest_index_l0\0");
    let mut old = spirv();
    for at in 0..old.len() - now.len() {
        if &old[at..at + now.len()] == now {
            old[at..at + now.len()].copy_from_slice(then);
        }
    }
    let error = launch(&device, &image(Some(&old)), "selftest_index_l1").unwrap_err();
    assert!(
        matches!(error, DeviceError::LayoutMismatch { .. }),
        "{error}"
    );
    let message = error.to_string();
    for part in [
        "`other`",
        "selftest_index_l0",
        "build the device crate again",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn an_entry_that_is_missing_is_told_from_an_old_one() {
    let Some(device) = device() else { return };
    let error = launch(&device, &image(Some(&spirv())), "nobody_l1").unwrap_err();
    assert!(
        matches!(error, DeviceError::LayoutMismatch { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("none of its"), "{error}");
}

#[test]
fn an_image_without_spirv_names_the_feature() {
    let Some(device) = device() else { return };
    let error = launch(&device, &image(None), "selftest_index_l1").unwrap_err();
    assert!(matches!(error, DeviceError::NoImage { .. }), "{error}");
    assert!(error.to_string().contains("`vulkan`"), "{error}");
}

#[test]
fn damaged_images_are_refused_before_the_driver_sees_them() {
    let Some(device) = device() else { return };
    let whole = spirv();
    let mut cut = whole.clone();
    cut.truncate(whole.len() / 8 * 4);
    let mut turned = whole.clone();
    turned[..4].reverse();
    for (bytes, word) in [
        (cut, "damaged"),
        (turned, "begins with"),
        (whole[..6].to_vec(), "6 bytes"),
        (Vec::new(), "0 bytes"),
    ] {
        let error = launch(&device, &image(Some(&bytes)), "selftest_index_l1").unwrap_err();
        assert!(matches!(error, DeviceError::Driver { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn the_same_image_is_loaded_once() {
    let Some(device) = device() else { return };
    let [first, second] = [0, 1].map(|_| load(&device).unwrap().module("").id().unwrap());
    assert_eq!(first, second);
}
