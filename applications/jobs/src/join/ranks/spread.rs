//! Rows brought to the ranks that join them.

use crate::device;
use crate::error::JobError;
use crate::join::tables::Tables;
use crate::progress::Progress;
use crate::ranks::cut::{Cut, Cutting};
use crate::ranks::rounds::{self, Rounds, Times};
use crate::room::Room;
use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig};
use warpheap_applications::Kernels;
use warpheap_applications::cut::SHARING;
use warpheap_applications::join::Tuple;
use warpheap_dist::World;

/// Rows that are worth a lane.
const EACH: usize = 64;

/// What a rank has to join, on its device, and what it took to bring it there.
pub struct Spread {
    /// All rows of the left table whose keys belong to this rank, and no others.
    pub left: DeviceVec<Tuple>,
    /// The same of the right one.
    pub right: DeviceVec<Tuple>,
    /// Copying rows to the device, cutting them there and putting together what came, and the exchange.
    pub times: Times,
}

/// Sends the rows that this rank read to those that join them, `batch` at a time, and receives its own. A call of all ranks.
///
/// # Errors
/// As [`World::exchange_ranges`]; a device that fails.
pub fn spread(
    world: &World,
    device: &Device,
    kernels: &Kernels,
    tables: &Tables,
    batch: u32,
    progress: &dyn Progress,
) -> Result<Spread, JobError> {
    let loaded = device::load(
        kernels,
        &["cut_count", "cut_scatter", "scan_up", "scan_down"],
    );
    world.agree(loaded.map_err(JobError::from))?;
    let mut times = Times::default();
    let mut table = |rows: &[Tuple]| -> Result<DeviceVec<Tuple>, JobError> {
        let rounds = rows.len().div_ceil(batch as usize) as u64;
        let bar = progress.bar("exchanging rows".to_owned(), rounds);
        let mut rows = Rows {
            rows,
            batch: batch as usize,
            kernels,
            room: Room::new(device),
            cutting: Cutting::new(device, kernels, world.size(), EACH, SHARING),
            received: Vec::new(),
        };
        let exchange = |cut: Result<Cut<Tuple>, DeviceError>| -> Result<_, JobError> {
            let cut = world.agree(cut.map_err(JobError::from))?;
            Ok(world.exchange_ranges(device, &cut.all, &cut.lengths)?)
        };
        times.append(rounds::all(world, rounds, &mut rows, exchange, || {
            bar.advance(1);
        })?);
        times.kernels += rows.cutting.time;
        world.agree(times.work.during(|| together(device, rows.received)))
    };
    let left = table(&tables.left)?;
    let right = table(&tables.right)?;
    Ok(Spread { left, right, times })
}

/// What came in all rounds, as one table.
fn together(device: &Device, came: Vec<DeviceVec<Tuple>>) -> Result<DeviceVec<Tuple>, JobError> {
    let rows = came.iter().map(DeviceVec::len).sum();
    let mut all = DeviceVec::uninit(device, rows)?;
    let mut end = 0;
    for part in came {
        all.copy_range_from_vec(end, &part, 0..part.len())?;
        end += part.len();
    }
    Ok(all)
}

/// The rows of a table that are sent, and those that came.
struct Rows<'a> {
    rows: &'a [Tuple],
    batch: usize,
    kernels: &'a Kernels,
    /// For the rows of a round.
    room: Room,
    cutting: Cutting<'a>,
    received: Vec<DeviceVec<Tuple>>,
}

impl Rounds for Rows<'_> {
    type Out = Result<Cut<Tuple>, DeviceError>;
    type In = DeviceVec<Tuple>;

    fn cut(&mut self, round: u64) -> Self::Out {
        let batch = self.rows.chunks(self.batch).nth(round as usize);
        let rows = self.room.filled(batch.unwrap_or_default())?;
        let lanes = self.cutting.lanes(rows.len());
        let (shape, kernels) = (LaunchConfig::for_num_elems(lanes.lanes), self.kernels);
        let (parts, of) = (lanes.parts, lanes.lanes);
        self.cutting.cut(
            lanes,
            rows.len(),
            |counts| vec![kernels.cut_count_launch(shape, &rows, counts, parts, of)],
            |places, out| kernels.cut_scatter_launch(shape, &rows, places, out, parts, of),
        )
    }

    fn take(&mut self, came: DeviceVec<Tuple>) {
        self.received.push(came);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::tables::Generator;
    use warpheap_applications::cut::part_of;

    #[test]
    fn rows_are_cut_once_and_evenly() {
        let device = crate::device::open(Some("host"), None).unwrap();
        let kernels = warpheap_applications::load(&device).unwrap();
        let all = Generator::default().tables().left;
        let mut rows = Rows {
            rows: &all,
            batch: 10_000,
            kernels: &kernels,
            room: Room::new(&device),
            cutting: Cutting::new(&device, &kernels, 3, EACH, SHARING),
            received: Vec::new(),
        };
        let mut counts = [0; 3];
        for round in 0..all.len().div_ceil(10_000) as u64 {
            let cut = rows.cut(round).unwrap();
            let came = cut.to_vec().unwrap();
            let mut rest = &came[..];
            for (rank, &length) in cut.lengths.iter().enumerate() {
                let part = rest.split_off(..length).unwrap();
                assert!(part.iter().all(|row| part_of(row.key, 3) == rank as u32));
                counts[rank] += length;
            }
            assert!(rest.is_empty());
            rows.take(DeviceVec::from_slice(&device, &came).unwrap());
        }
        let nothing = rows.cut(1 << 20).unwrap();
        assert_eq!(nothing.lengths, [0; 3]);
        let numbers = |rows: &[Tuple]| {
            let mut numbers: Vec<u32> = rows.iter().map(|row| row.payload).collect();
            numbers.sort_unstable();
            numbers
        };
        let received = together(&device, rows.received).unwrap();
        assert_eq!(numbers(&received.to_vec().unwrap()), numbers(&all));
        assert!(
            counts.iter().all(|count| (21_000..22_700).contains(count)),
            "{counts:?}"
        );
    }
}
