//! What the driver's compiler made of a kernel, where the driver tells (`VK_KHR_pipeline_executable_properties`).
//!
//! Drivers name their figures as they like. These are the names of NVIDIA's; those of others are added as they are met.

use crate::compile::Wanted;
use crate::gpu::Gpu;
use ash::{khr, vk};
use std::ffi::CStr;
use warpheap_api::host::{DeviceError, KernelResources};

const REGISTERS: &str = "Register Count";
const LOCAL: &str = "Local Memory Size";
const CODE: &str = "Binary Size";

/// Compiles a kernel for an answer; `None` where the driver does not tell the registers.
pub(crate) fn of(gpu: &Gpu, wanted: &Wanted) -> Result<Option<KernelResources>, DeviceError> {
    let pipeline = gpu.compile(wanted)?;
    let figures = figures(gpu, pipeline);
    // SAFETY: made above, never bound.
    unsafe { gpu.device.destroy_pipeline(pipeline, None) };
    Ok(read(&figures?))
}

/// The figures that are known here.
fn read(figures: &[(String, u64)]) -> Option<KernelResources> {
    let figure = |name| figures.iter().find(|(known, _)| known == name);
    let word = |name| figure(name).map(|&(_, value)| value as u32);
    Some(KernelResources {
        registers: word(REGISTERS)?,
        // The lower half: NVIDIA's driver 580 has something else in the upper one.
        local_bytes: word(LOCAL).unwrap_or(0),
        code_bytes: figure(CODE).map(|&(_, value)| value),
    })
}

/// Whatever the driver tells: names and numbers.
fn figures(gpu: &Gpu, pipeline: vk::Pipeline) -> Result<Vec<(String, u64)>, DeviceError> {
    let calls = khr::pipeline_executable_properties::Device::new(&gpu.instance.raw, &gpu.device);
    let info = vk::PipelineExecutableInfoKHR::default()
        .pipeline(pipeline)
        .executable_index(0);
    // SAFETY: the extension and its feature are enabled; a compute pipeline has one executable at least, and this one was
    // made to have statistics.
    let found = unsafe { calls.get_pipeline_executable_statistics(&info) };
    let found = gpu.check("vkGetPipelineExecutableStatisticsKHR", found)?;
    Ok(found.iter().map(figure).collect())
}

fn figure(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> (String, u64) {
    type Format = vk::PipelineExecutableStatisticFormatKHR;
    // SAFETY: the driver wrote a text that ends.
    let name = unsafe { CStr::from_ptr(statistic.name.as_ptr()) };
    // SAFETY: the format says which it is.
    let value = unsafe {
        match statistic.format {
            Format::BOOL32 => statistic.value.b32 as u64,
            Format::INT64 => statistic.value.i64 as u64,
            Format::FLOAT64 => statistic.value.f64 as u64,
            _ => statistic.value.u64,
        }
    };
    (name.to_string_lossy().into_owned(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(figures: &[(&str, u64)]) -> Option<KernelResources> {
        let owned = figures.iter().map(|&(name, value)| (name.into(), value));
        read(&owned.collect::<Vec<_>>())
    }

    #[test]
    fn what_nvidias_driver_tells_is_understood() {
        let figures = [
            ("Register Count", 39),
            ("Binary Size", 11_648),
            ("Stack Size", 0),
            ("Local Memory Size", (16 << 32) + 32),
            ("Shared Memory Size", 0),
        ];
        let expected = KernelResources {
            registers: 39,
            local_bytes: 32,
            code_bytes: Some(11_648),
        };
        assert_eq!(told(&figures), Some(expected));
    }

    #[test]
    fn a_driver_with_other_names_tells_nothing() {
        assert_eq!(told(&[("VGPRs", 24), ("Code size", 100)]), None);
    }
}
