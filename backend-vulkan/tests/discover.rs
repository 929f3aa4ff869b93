//! Finding and choosing devices.

mod common;

use warpheap_api::host::{BackendKind, DeviceError};
use warpheap_vulkan::{DeviceChoice, VulkanConfig, enumerate, open_unchecked};

#[test]
fn devices_are_listed_and_each_usable_one_opens_by_its_index() {
    let Some(found) = common::unless_absent(enumerate()) else {
        return;
    };
    for (index, listed) in found.iter().enumerate() {
        assert_eq!(listed.index, index);
        let config = VulkanConfig {
            device: Some(DeviceChoice::Index(index)),
            ..common::config()
        };
        match (&listed.problem, open_unchecked(&config)) {
            (None, Ok(device)) => {
                let info = device.info();
                assert_eq!(info.backend, BackendKind::Vulkan);
                assert_eq!(
                    (&info.name, info.warp_width),
                    (&listed.name, listed.warp_width)
                );
                assert!(info.max_block_dim >= 128 && info.max_grid_dim >= 65535);
            }
            (Some(problem), Err(error)) => {
                assert!(matches!(error, DeviceError::NoDevice { .. }), "{error}");
                assert!(error.to_string().contains(problem.as_str()), "{error}");
            }
            (problem, opened) => panic!("{}: {problem:?}, yet {opened:?}", listed.name),
        }
    }
}

#[test]
fn a_device_that_is_not_there_is_refused_with_the_list() {
    let Some(found) = common::unless_absent(enumerate()) else {
        return;
    };
    let config = VulkanConfig {
        device: Some(DeviceChoice::Name("no such device".into())),
        ..common::config()
    };
    let error = open_unchecked(&config).unwrap_err();
    assert!(matches!(error, DeviceError::NoDevice { .. }), "{error}");
    assert!(error.to_string().contains(&found[0].name), "{error}");
}
