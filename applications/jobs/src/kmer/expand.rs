//! The k-mers of pieces of sequences, each by itself, on the device.

use super::run::Context;
use crate::sums::Sums;
use std::time::Duration;
use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig};
use warpheap_applications::Kernels;
use warpheap_applications::kmer::Kmer;
use warpheap_applications::supermer::Supermer;

/// All k-mers of these pieces, in their order, and the device's time.
///
/// # Errors
/// Errors of the device.
pub fn expanded(
    (device, kernels): (&Device, &Kernels),
    context: &Context<'_>,
    pieces: &DeviceVec<Supermer>,
) -> Result<(DeviceVec<Kmer>, Duration), DeviceError> {
    let places = DeviceVec::<u32>::uninit(device, pieces.len() + 1)?;
    let shape = LaunchConfig::for_num_elems(places.len() as u32);
    let mut time = kernels.supermer_sizes(shape, pieces, &places)?.device_time;
    let sums = Sums::new(device, places.len() as u64)?;
    for launch in sums.launches(kernels, &places)? {
        time += launch.run()?.device_time;
    }
    let mut number = [0];
    places.copy_range_to(pieces.len(), &mut number)?;
    let kmers = DeviceVec::uninit(device, number[0] as usize)?;
    let (k, canonical) = (context.k, context.canonical.into());
    let report = kernels.supermer_expand(shape, pieces, &places, &kmers, k, canonical)?;
    Ok((kmers, time + report.device_time))
}
