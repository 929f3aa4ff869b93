//! A GPU that is lost to a fault of a kernel in a stream: in a program of its own, since that ends CUDA for the whole process.

mod common;

use common::streams::Stream;
use common::{kernels, launch};
use warpheap_api::host::{DeviceError, Work};
use warpheap_cuda::CudaConfig;

#[test]
fn a_fault_in_a_stream_names_its_launch_and_is_the_end() {
    let Some(device) = common::open(&CudaConfig::default()) else {
        return;
    };
    let module = kernels(&device);
    let buffer = device.alloc(64).unwrap();
    let (first, second) = (Stream::open(&device), Stream::open(&device));
    second.fill(&buffer, 0, 16, 1);
    let mark = first.launch(&launch(&module, "fault_l1", 1, 1, Vec::new()));
    let text = first.streams.wait(mark).unwrap_err().to_string();
    assert!(text.contains("lost in the launch of fault_l1"), "{text}");
    let refused = second.try_queue(&[], Work::Stamp);
    assert!(
        matches!(refused, Err(DeviceError::Lost { .. })),
        "{refused:?}"
    );
    common::assert_lost(&device, "fault_l1");
    drop((first, second));
    drop((buffer, module, device));

    let again = warpheap_cuda::open_unchecked(&CudaConfig::default());
    let text = again.unwrap_err().to_string();
    assert!(text.contains("start the program again"), "{text}");
}
