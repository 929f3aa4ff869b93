//! A GPU that is lost to a kernel that does not end in time: in a program of its own, since the
//! context is shared by the whole process.

mod common;

use common::check_that_it_works;
use warpheap_cuda::CudaConfig;

#[test]
fn a_device_whose_kernel_does_not_end_is_lost_until_it_is_opened_again() {
    let Some((device, module)) = common::open_impatient() else {
        return;
    };
    let sleep = |ms| common::sleep(&module, ms);
    sleep(50).run().unwrap();
    let text = sleep(3000).run().unwrap_err().to_string();
    assert!(
        text.contains("the launch of sleep_l1") && text.contains("WARPHEAP_TIMEOUT_S"),
        "{text}"
    );
    common::assert_lost(&device, "sleep_l1");
    drop((module, device));

    // What is left of it does not disturb a device that is opened afterwards.
    let device = common::open(&CudaConfig::default()).expect("it was there before");
    check_that_it_works(&device);
}
