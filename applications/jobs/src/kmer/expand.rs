//! The k-mers of pieces of sequences, each by itself, on the device.

use crate::room::{Lent, Room, Summed};
use std::time::Duration;
use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig};
use warpheap_applications::Kernels;
use warpheap_applications::kmer::Kmer;
use warpheap_applications::supermer::Supermer;

/// Device memory for the k-mers of a round.
pub struct Expanding {
    places: Summed,
    kmers: Room,
}

impl Expanding {
    /// No k-mers yet.
    pub fn new(device: &Device) -> Self {
        Expanding {
            places: Summed::new(device),
            kmers: Room::new(device),
        }
    }

    /// All k-mers of these pieces, of `k` bases and perhaps `canonical`, in their order; and the device's time.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn expand(
        &mut self,
        kernels: &Kernels,
        pieces: &DeviceVec<Supermer>,
        k: u32,
        canonical: bool,
    ) -> Result<(Lent<'_, Kmer>, Duration), DeviceError> {
        // Behind the last size there is a 0, so that the sum of all is there.
        let shape = LaunchConfig::for_num_elems(pieces.len() as u32 + 1);
        let (places, time) = self.places.of(kernels, pieces.len() + 1, |sizes| {
            Ok(kernels.supermer_sizes(shape, pieces, sizes)?.device_time)
        })?;
        let mut number = [0];
        places.copy_range_to(pieces.len(), &mut number)?;
        let kmers = self.kmers.vec(number[0] as usize)?;
        let report =
            kernels.supermer_expand(shape, pieces, &places, &kmers, k, canonical.into())?;
        Ok((kmers, time + report.device_time))
    }
}
