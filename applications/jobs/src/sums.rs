//! Prefix sums on the device.

use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Prepared, RawBuffer};
use warpheap_applications::Kernels;
use warpheap_applications::scan::SPAN;

/// Device memory for the sums of spans.
pub struct Sums {
    levels: Vec<RawBuffer>,
    none: DeviceVec<u32>,
}

impl Sums {
    /// For up to `most` values.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(device: &Device, most: u64) -> Result<Self, DeviceError> {
        let mut levels = Vec::new();
        let mut left = most;
        while left > 1 {
            left = left.div_ceil(u64::from(SPAN));
            levels.push(device.alloc(left * 4)?);
        }
        let none = DeviceVec::new(device)?;
        Ok(Sums { levels, none })
    }

    /// The launches that replace each value by the sum of all before it.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn launches(
        &self,
        kernels: &Kernels,
        values: &DeviceVec<u32>,
    ) -> Result<Vec<Prepared>, DeviceError> {
        let spans = |values: &DeviceVec<u32>| (values.len() as u32).div_ceil(SPAN);
        let mut launches = Vec::new();
        let mut sums: Vec<DeviceVec<u32>> = Vec::new();
        for level in &self.levels {
            let below = sums.last().unwrap_or(values);
            if below.len() <= 1 {
                break;
            }
            let count = spans(below);
            // SAFETY: the buffer is one of words that nothing else uses meanwhile.
            let above = unsafe { DeviceVec::from_raw_parts(level.clone(), 0, count)? };
            let shape = LaunchConfig::for_num_elems(count);
            launches.push(kernels.scan_up_launch(shape, below, &above));
            sums.push(above);
        }
        for level in (0..=sums.len()).rev() {
            let values = match level.checked_sub(1) {
                Some(below) => &sums[below],
                None => values,
            };
            let above = sums.get(level).unwrap_or(&self.none);
            let shape = LaunchConfig::for_num_elems(spans(values));
            launches.push(kernels.scan_down_launch(shape, values, above));
        }
        Ok(launches)
    }
}
