//! K-mers brought to the ranks that count them.

use super::pieces::{self, TooMany};
use crate::error::JobError;
use crate::kmer::arrivals::Pieces;
use crate::kmer::options::{MOST_BASES, Options};
use crate::kmer::sequences::{Builder, Sequences};
use crate::progress::Progress;
use crate::ranks::cut::{Cut, Cutting, Lanes};
use crate::ranks::rounds::{self, Rounds, Times};
use crate::room::Room;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig};
use warpheap_applications::Kernels;
use warpheap_applications::minimizer::{minimizer_len, minimizer_words};
use warpheap_applications::supermer::Supermer;
use warpheap_dist::World;

/// Places that a lane cuts, at least: at the end of them it cuts a piece in two.
const EACH: usize = 128;

/// What a rank has to count, and what it took to bring it there.
pub struct Spread {
    /// What came in each round: pieces of sequences with all k-mers that belong to this rank, and no others.
    pub received: Vec<Pieces>,
    /// Copying sequences to the device and cutting them there, and the exchange.
    pub times: Times,
}

/// Sends what this rank read to those that count it, `batch` places of the sequences at a time, and receives its own, which also goes
/// to whoever is `counting`, round by round. A call of all ranks.
///
/// # Errors
/// An exchange fails, or the device.
pub fn spread(
    world: &World,
    (device, kernels): &(Device, Kernels),
    sequences: &Sequences,
    options: &Options,
    counting: Sender<Pieces>,
    progress: &dyn Progress,
) -> Result<Spread, JobError> {
    let places = sequences.places(options.k);
    // What comes in a round has fewer k-mers than 32 bits count.
    let batch = options.batch.min(u32::MAX / world.size() as u32);
    let rounds = u64::from(places.div_ceil(batch));
    let mut cut = Cuts {
        device,
        kernels,
        cutting: Cutting::new(device, kernels, world.size(), EACH, 1),
        hashes: Room::new(device),
        owners: Room::new(device),
        k: options.k,
        sequences,
        uploaded: None,
        batch,
        places,
        received: Vec::new(),
        counting,
    };
    let exchange = |cut: Result<Cut<Supermer>, DeviceError>| -> Result<_, JobError> {
        let cut = world.agree(cut.map_err(JobError::from))?;
        Ok(world.exchange_ranges(device, &cut.all, &cut.lengths)?)
    };
    let bar = progress.bar("exchanging k-mers".to_owned(), rounds);
    let mut times = rounds::all(world, rounds, &mut cut, exchange, || bar.advance(1))?;
    times.kernels = cut.cutting.time;
    Ok(Spread {
        received: cut.received,
        times,
    })
}

impl Spread {
    /// What came, as sequences in host memory.
    ///
    /// # Errors
    /// There are more bases than a device counts; the device fails.
    pub fn sequences(&self, k: u32) -> Result<Sequences, JobError> {
        let mut all = Builder::default();
        for round in &self.received {
            for piece in round.to_vec()? {
                pieces::append(&mut all, piece, k).map_err(|TooMany| too_many())?;
            }
        }
        Ok(all.finish())
    }
}

/// Sequences on the device.
struct Uploaded {
    bases: DeviceVec<u32>,
    breaks: DeviceVec<u32>,
}

/// What is cut, and what came.
struct Cuts<'a> {
    device: &'a Device,
    kernels: &'a Kernels,
    cutting: Cutting<'a>,
    /// For the hashes of a round.
    hashes: Room,
    /// For whom the k-mers of a round belong to.
    owners: Room,
    k: u32,
    sequences: &'a Sequences,
    uploaded: Option<Uploaded>,
    /// Places of a round.
    batch: u32,
    /// Places of all.
    places: u32,
    received: Vec<Pieces>,
    /// Where each round goes to be counted.
    counting: Sender<Pieces>,
}

impl Rounds for Cuts<'_> {
    type Out = Result<Cut<Supermer>, DeviceError>;
    type In = DeviceVec<Supermer>;

    fn cut(&mut self, round: u64) -> Self::Out {
        let border = |round: u64| (round * u64::from(self.batch)).min(self.places.into()) as u32;
        let (first, end) = (border(round), border(round + 1));
        let (count, k, kernels) = (end - first, self.k, self.kernels);
        let uploaded = match self.uploaded.take() {
            Some(uploaded) => uploaded,
            None => Uploaded {
                bases: DeviceVec::from_slice(self.device, &self.sequences.bases)?,
                breaks: DeviceVec::from_slice(self.device, &self.sequences.breaks)?,
            },
        };
        let Uploaded { bases, breaks } = self.uploaded.insert(uploaded);
        let lanes = self.cutting.lanes(count as usize);
        let Lanes {
            parts, lanes: of, ..
        } = lanes;
        let (shape, each) = (LaunchConfig::for_num_elems(of), count.div_ceil(of));
        let (len, words) = (minimizer_len(k), minimizer_words(k));
        let hashed = match count {
            0 => 0,
            _ => count + words - 1,
        };
        let hashes = self.hashes.vec::<u32>(hashed as usize)?;
        let owners = self.owners.vec::<u32>(count as usize)?;
        let all = LaunchConfig::for_num_elems;
        self.cutting.cut(
            lanes,
            count as usize,
            |counts| {
                vec![
                    kernels.minimizer_hashes_launch(all(hashed), bases, &hashes, first, len),
                    kernels.minimizer_parts_launch(
                        all(count),
                        &hashes,
                        breaks,
                        &owners,
                        first,
                        k,
                        words,
                        parts,
                    ),
                    kernels.supermer_count_launch(shape, &owners, counts, k, of, each),
                ]
            },
            |places, out| {
                kernels.supermer_cut_launch(shape, bases, &owners, places, out, first, k, of, each)
            },
        )
    }

    fn take(&mut self, came: DeviceVec<Supermer>) {
        let came = Arc::new(came);
        self.received.push(came.clone());
        // Whoever counts may have failed: then all is counted once more.
        let _ = self.counting.send(came);
    }
}

fn too_many() -> JobError {
    JobError::Run(format!(
        "more than {MOST_BASES} bases with k-mers of this rank, and its device counts no more: take more ranks"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::owners::Cutter;
    use super::*;
    use crate::kmer::{generate, reference};
    use std::collections::HashMap;
    use warpheap::DeviceHashMap;
    use warpheap::device::WarpHeap;
    use warpheap_applications::kmer::Kmer;

    #[test]
    fn the_device_cuts_as_the_cpu_does() {
        let device = crate::device::open(Some("host"), None).unwrap();
        let kernels = warpheap_applications::load(&device).unwrap();
        let sequences = generate::reads(5000, 3);
        for (k, ranks, batch) in [
            (1, 3, 5000),
            (2, 2, 700),
            (16, 4, 1111),
            (21, 1, 640),
            (31, 7, 5000),
        ] {
            let (counting, _come) = std::sync::mpsc::channel();
            let places = sequences.places(k);
            let mut cuts = Cuts {
                device: &device,
                kernels: &kernels,
                cutting: Cutting::new(&device, &kernels, ranks, EACH, 1),
                hashes: Room::new(&device),
                owners: Room::new(&device),
                k,
                sequences: &sequences,
                uploaded: None,
                batch,
                places,
                received: Vec::new(),
                counting,
            };
            for round in 0..places.div_ceil(batch) + 1 {
                let cut = cuts.cut(round.into()).unwrap();
                // Each lane's stretch by itself, as the device does it.
                let (first, end) = (places.min(round * batch), places.min((round + 1) * batch));
                let mut expected = vec![Vec::new(); ranks];
                let lanes = (end - first).div_ceil(EACH as u32).max(1);
                let each = (end - first).div_ceil(lanes);
                for lane in 0..lanes {
                    let begin = end.min(first + lane * each);
                    let stretch = begin..end.min(begin + each);
                    let pieces = Cutter::new(k, ranks).pieces(&sequences, stretch);
                    for (all, some) in expected.iter_mut().zip(pieces) {
                        all.extend(some);
                    }
                }
                let lengths: Vec<usize> = expected.iter().map(Vec::len).collect();
                assert_eq!(cut.lengths, lengths, "k {k}, {ranks} ranks");
                assert_eq!(
                    cut.to_vec().unwrap(),
                    expected.concat(),
                    "k {k}, {ranks} ranks"
                );
            }
        }
    }

    #[test]
    fn the_device_counts_all_kmers_of_pieces() {
        let device = crate::device::open(Some("host"), None).unwrap();
        let kernels = warpheap_applications::load(&device).unwrap();
        let sequences = generate::reads(3000, 5);
        for (k, canonical) in [
            (1, false),
            (2, true),
            (15, false),
            (17, true),
            (21, false),
            (31, true),
        ] {
            let places = sequences.places(k);
            let pieces = Cutter::new(k, 1).pieces(&sequences, 0..places).concat();
            let pool = device.reserve::<WarpHeap>(8 << 20).unwrap();
            let map = DeviceHashMap::<Kmer, u32, WarpHeap>::new(&pool, 10).unwrap();
            let added = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
            let shape = LaunchConfig::for_num_elems(pieces.len() as u32);
            let pieces = DeviceVec::from_slice(&device, &pieces).unwrap();
            kernels
                .supermer_add(
                    &pool,
                    shape,
                    map.map(),
                    &pieces,
                    &added,
                    k,
                    canonical.into(),
                )
                .unwrap();
            let counts = reference::count(&sequences, k, canonical);
            let word = |kmer: Kmer| u64::from(kmer.high) << 32 | u64::from(kmer.low);
            let found = map.to_vec().unwrap();
            let found: HashMap<u64, u32> =
                found.into_iter().map(|(kmer, n)| (word(kmer), n)).collect();
            assert_eq!(found, counts.of, "k {k}");
            assert_eq!(u64::from(added.to_vec().unwrap()[0]), counts.total);
        }
    }
}
