//! A GPU that is lost to a fault of a kernel: in a program of its own, since that ends CUDA for the
//! whole process, and in one test, so that nothing else runs meanwhile.

mod common;

use common::{IMAGE, launch};
use warpheap_api::host::DeviceVec;
use warpheap_cuda::CudaConfig;

#[test]
fn after_a_fault_every_call_says_so_and_the_program_must_be_started_again() {
    let Some(device) = common::open(&CudaConfig::default()) else {
        return;
    };
    let module = device.load(&IMAGE).unwrap();
    let kept = DeviceVec::<u32>::zeroed(&device, 16).unwrap();
    let fault = launch(&module, "fault_l1", 1, 1, Vec::new()).run();
    let text = fault.unwrap_err().to_string();
    assert!(text.contains("lost in the launch of fault_l1"), "{text}");
    common::assert_lost(&device, "fault_l1");
    drop((kept, module, device));

    let again = warpheap_cuda::open_unchecked(&CudaConfig::default());
    let text = again.unwrap_err().to_string();
    assert!(text.contains("start the program again"), "{text}");
}
