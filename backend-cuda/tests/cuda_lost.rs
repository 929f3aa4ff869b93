//! A GPU that is lost: in a program of its own, since a fault ends the context that the whole process
//! shares, and in one test, so that nothing else runs meanwhile.

mod common;

use common::{IMAGE, check_that_it_works, launch};
use std::time::Duration;
use warpheap_api::host::{Device, DeviceError, DeviceVec, IntoArg};
use warpheap_cuda::CudaConfig;

/// Every call on a lost device returns an error that says so.
fn assert_lost(device: &Device, want: &str) {
    for result in [device.load(&IMAGE).map(drop), device.alloc(64).map(drop)] {
        let error = result.unwrap_err();
        assert!(matches!(error, DeviceError::Lost { .. }), "{error:?}");
        assert!(error.to_string().contains(want), "{error}");
    }
}

#[test]
fn a_lost_device_says_so_until_it_is_opened_again() {
    let Some(device) = common::open(&CudaConfig::default()) else {
        return;
    };
    let module = device.load(&IMAGE).unwrap();
    let kept = DeviceVec::<u32>::zeroed(&device, 16).unwrap();
    let fault = launch(&module, "fault_l1", 1, 1, Vec::new()).run();
    let text = fault.unwrap_err().to_string();
    assert!(
        text.contains("lost in the launch of fault_l1") && text.contains("open it again"),
        "{text}"
    );
    assert_lost(&device, "fault_l1");
    drop((kept, module, device));

    let impatient = CudaConfig {
        timeout: Duration::from_millis(200),
        ..CudaConfig::default()
    };
    let device = common::open(&impatient).expect("it was there before the fault");
    check_that_it_works(&device);
    let module = device.load(&IMAGE).unwrap();
    let sleep = |ms: u32| launch(&module, "sleep_l1", 1, 1, vec![ms.into_arg()]);
    sleep(50).run().unwrap();
    let text = sleep(3000).run().unwrap_err().to_string();
    assert!(
        text.contains("the launch of sleep_l1") && text.contains("WARPHEAP_TIMEOUT_S"),
        "{text}"
    );
    assert_lost(&device, "sleep_l1");
    drop((module, device));

    // What is left of it does not disturb a device that is opened afterwards.
    let device = common::open(&CudaConfig::default()).expect("it was there before");
    check_that_it_works(&device);
}
