//! K-mers brought to the ranks that count them.

use super::pieces::{self, TooMany};
use crate::device;
use crate::error::JobError;
use crate::kmer::arrivals::Pieces;
use crate::kmer::options::{MOST_BASES, Options};
use crate::kmer::parts::ALIGN;
use crate::kmer::sequences::{Builder, Sequences};
use crate::progress::Progress;
use crate::ranks::cut::{Cut, Cutting};
use crate::ranks::rounds::{self, Rounds, Times};
use crate::room::Room;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use warpheap::{Device, DeviceError, LaunchConfig};
use warpheap_applications::Kernels;
use warpheap_applications::supermer::{SUPERMER_TILE, Supermer};
use warpheap_dist::World;

/// Lanes of a block, which cut together.
const LANES: u32 = 256;
/// Places that are worth a lane.
const EACH: usize = SUPERMER_TILE / LANES as usize;

/// What a rank has to count, and what it took to bring it there.
pub struct Spread {
    /// What came in each round: pieces of sequences with all k-mers that belong to this rank, and no others.
    pub received: Vec<Pieces>,
    /// Copying sequences to the device and cutting them there, and the exchange.
    pub times: Times,
}

/// Sends what this rank read to those that count it, round by round, and receives its own, which goes to whoever is `counting`. A
/// call of all ranks.
///
/// # Errors
/// An exchange fails, or the device.
pub fn spread(
    world: &World,
    device: &Device,
    mut cut: Cuts<'_>,
    counting: Sender<Pieces>,
    progress: &dyn Progress,
) -> Result<Spread, JobError> {
    let rounds = u64::from(cut.places.div_ceil(cut.batch));
    let mut received = Vec::new();
    let exchange = |cut: Result<Cut<Supermer>, DeviceError>| -> Result<(), JobError> {
        let cut = world.agree(cut.map_err(JobError::from))?;
        let came = Arc::new(world.exchange_ranges(device, &cut.all, &cut.lengths)?);
        received.push(came.clone());
        // Whoever counts may have failed: then all is counted once more.
        let _ = counting.send(came);
        Ok(())
    };
    let bar = progress.bar("exchanging k-mers".to_owned(), rounds);
    let mut times = rounds::all(world, rounds, &mut cut, exchange, || bar.advance(1))?;
    times.kernels = cut.cutting.time;
    Ok(Spread { received, times })
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

/// What is cut, and what came.
pub struct Cuts<'a> {
    kernels: &'a Kernels,
    cutting: Cutting<'a>,
    /// For the sequences of a round.
    bases: Room,
    /// For their breaks.
    breaks: Room,
    /// For whom the k-mers of a round belong to.
    owners: Room,
    k: u32,
    sequences: &'a Sequences,
    /// Places of a round.
    batch: u32,
    /// Places of all.
    places: u32,
}

/// Rounds that are there at the same time: one is sent while others are cut.
const AT_ONCE: usize = 1 + rounds::AHEAD;

impl<'a> Cuts<'a> {
    /// What this rank read, to be cut for `ranks`. With the memory for it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        ranks: usize,
        (device, kernels): &'a (Device, Kernels),
        sequences: &'a Sequences,
        options: &Options,
    ) -> Result<Self, DeviceError> {
        device::load(
            kernels,
            &["supermer_count", "supermer_cut", "scan_up", "scan_down"],
        )?;
        let places = sequences.places(options.k);
        // What comes in a round has fewer k-mers than 32 bits count.
        let batch = options.batch.min(u32::MAX / ranks as u32);
        let mut cutting = Cutting::new(device, kernels, ranks, EACH, LANES);
        let most = batch.min(places) as usize;
        cutting.reserve::<Supermer>(AT_ONCE, most)?;
        let mut rooms = [(); 3].map(|()| Room::new(device));
        for (room, places_of_a_word) in rooms.iter_mut().zip([16, 32, 1]) {
            room.vec::<u32>(most / places_of_a_word + 8)?;
        }
        let [bases, breaks, owners] = rooms;
        Ok(Cuts {
            kernels,
            cutting,
            bases,
            breaks,
            owners,
            k: options.k,
            sequences,
            batch,
            places,
        })
    }
}

impl Rounds for Cuts<'_> {
    type Out = Result<Cut<Supermer>, DeviceError>;
    /// What comes is counted at once.
    type In = ();

    fn cut(&mut self, round: u64) -> Self::Out {
        let border = |round: u64| (round * u64::from(self.batch)).min(self.places.into()) as u32;
        let (first, end) = (border(round), border(round + 1));
        let (count, k, kernels) = (end - first, self.k, self.kernels);
        let begin = first / ALIGN * ALIGN;
        let part = self.sequences.part(&(begin..end));
        let bases = self.bases.filled(part.bases)?;
        let breaks = self.breaks.filled(part.breaks)?;
        let owners = self.owners.vec::<u32>(count as usize)?;
        let lanes = self.cutting.lanes(count as usize);
        let parts = lanes.parts;
        let shape = LaunchConfig {
            block_dim: LANES,
            grid_dim: lanes.lanes.div_ceil(LANES),
        };
        let tiles = count
            .div_ceil(SUPERMER_TILE as u32)
            .div_ceil(shape.grid_dim);
        let first = first - begin;
        self.cutting.cut(
            lanes,
            count as usize,
            |counts| {
                vec![kernels.supermer_count_launch(
                    shape, &bases, &breaks, counts, &owners, first, count, k, parts, tiles,
                )]
            },
            |places, out| {
                kernels.supermer_cut_launch(
                    shape, &bases, &owners, places, out, first, count, k, parts, tiles,
                )
            },
        )
    }

    fn take(&mut self, (): ()) {}
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
    use warpheap::device::WarpHeap;
    use warpheap::{DeviceHashMap, DeviceVec};
    use warpheap_applications::kmer::Kmer;

    #[test]
    fn the_device_cuts_as_the_cpu_does() {
        let device = crate::device::open(Some("host"), None).unwrap();
        let kernels = warpheap_applications::load(&device).unwrap();
        let sequences = generate::reads(5000, 3);
        for (k, ranks, batch, each) in [
            (1, 3, 5000, EACH),
            (2, 2, 700, EACH),
            (16, 4, 1111, EACH),
            (21, 1, 640, EACH),
            (31, 7, 5000, EACH),
            // Blocks that cut several tiles, and more ranks than they share counters of.
            (31, 2, 5000, 3 * EACH),
            (21, 90, 5000, 3 * EACH),
        ] {
            let places = sequences.places(k);
            let mut cuts = Cuts {
                kernels: &kernels,
                cutting: Cutting::new(&device, &kernels, ranks, each, LANES),
                bases: Room::new(&device),
                breaks: Room::new(&device),
                owners: Room::new(&device),
                k,
                sequences: &sequences,
                batch,
                places,
            };
            for round in 0..places.div_ceil(batch) + 1 {
                let cut = cuts.cut(round.into()).unwrap();
                // Each tile by itself, as the device does it.
                let (first, end) = (places.min(round * batch), places.min((round + 1) * batch));
                let mut expected = vec![Vec::new(); ranks];
                for begin in (first..end).step_by(SUPERMER_TILE) {
                    let tile = begin..end.min(begin + SUPERMER_TILE as u32);
                    let pieces = Cutter::new(k, ranks).pieces(&sequences, tile);
                    for (all, some) in expected.iter_mut().zip(pieces) {
                        all.extend(some);
                    }
                }
                let lengths: Vec<usize> = expected.iter().map(Vec::len).collect();
                assert_eq!(cut.lengths, lengths, "k {k}, {ranks} ranks");
                let came = cut.to_vec().unwrap();
                let mut rest = &came[..];
                for mut pieces in expected {
                    // Lanes put theirs in any order.
                    let mut cut = rest.split_off(..pieces.len()).unwrap().to_vec();
                    cut.sort_unstable();
                    pieces.sort_unstable();
                    assert_eq!(cut, pieces, "k {k}, {ranks} ranks");
                }
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
            assert_eq!(u64::from(added.to_vec().unwrap()[0]), counts.total);
            assert_eq!(found, counts.all(), "k {k}");
        }
    }
}
