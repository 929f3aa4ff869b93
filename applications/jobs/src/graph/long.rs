//! Rows too long for one lane, and the parts of their sums that lanes add up, level by level.

use std::ops::Range;
use warpheap::{Device, DeviceError, DeviceVec};
use warpheap_applications::rank::{Parts, TILE};

/// Which lanes add up what, on the device.
pub struct Long {
    /// The parts of each long row at each of its levels.
    pub list: DeviceVec<Parts>,
    /// The index in `list` that each part belongs to.
    pub owners: DeviceVec<u32>,
    /// The parts: 4 bytes for each, as their owners have.
    pub parts: DeviceVec<f32>,
    /// The parts of the first level, of the second, and so on.
    pub levels: Vec<Range<u32>>,
    /// The last level of each long row, with the vertex that it is of.
    pub rows: DeviceVec<Parts>,
}

impl Long {
    /// For the vertices with so many neighbours.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(device: &Device, lengths: &[u32]) -> Result<Self, DeviceError> {
        let plan = Plan::new(lengths);
        Ok(Long {
            list: DeviceVec::from_slice(device, &plan.list)?,
            owners: DeviceVec::from_slice(device, &plan.owners)?,
            parts: DeviceVec::uninit(device, plan.owners.len())?,
            levels: plan.levels,
            rows: DeviceVec::from_slice(device, &plan.rows)?,
        })
    }
}

/// The same in host memory.
struct Plan {
    list: Vec<Parts>,
    owners: Vec<u32>,
    levels: Vec<Range<u32>>,
    rows: Vec<Parts>,
}

impl Plan {
    fn new(lengths: &[u32]) -> Self {
        let mut plan = Plan {
            list: Vec::new(),
            owners: Vec::new(),
            levels: Vec::new(),
            rows: Vec::new(),
        };
        // What is still too much for one lane: its vertex, its index in what it is kept in, and how many values it has.
        let rows = (0..).zip(lengths).map(|(v, &length)| (v, v, length));
        let mut left: Vec<(u32, u32, u32)> = rows.filter(|(.., length)| *length > TILE).collect();
        while !left.is_empty() {
            left = plan.level(&left);
        }
        plan
    }

    /// Adds the next level of these, and gives those of which it is not the last.
    fn level(&mut self, left: &[(u32, u32, u32)]) -> Vec<(u32, u32, u32)> {
        let first = self.owners.len() as u32;
        let mut more = Vec::new();
        for &(vertex, of, values) in left {
            let parts = values.div_ceil(TILE);
            let index = self.list.len() as u32;
            let begin = self.owners.len() as u32;
            let end = begin + parts;
            self.owners.resize(end as usize, index);
            self.list.push(Parts { of, begin, end });
            if parts > TILE {
                more.push((vertex, index, parts));
            } else {
                let of = vertex;
                self.rows.push(Parts { of, begin, end });
            }
        }
        self.levels.push(first..self.owners.len() as u32);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes through the additions as the kernels do: each value of each row goes into its sum once, and no lane adds more than a tile.
    #[test]
    fn every_neighbour_is_added_once_by_lanes_with_little_to_do() {
        let square = TILE * TILE;
        let lengths = [
            square + 1,
            0,
            TILE,
            TILE + 1,
            100_000,
            1,
            square,
            2 * TILE,
            square * TILE,
            square * TILE + 1,
            (1 << 22) + 5,
        ];
        let plan = Plan::new(&lengths);
        assert_eq!(plan.levels.len(), 4);
        assert_eq!(plan.levels[3].len(), 5);
        // How many neighbours each part has.
        let mut sums = vec![0; plan.owners.len()];
        for (number, level) in plan.levels.iter().enumerate() {
            for p in level.clone() {
                let its = plan.list[plan.owners[p as usize] as usize];
                assert!((its.begin..its.end).contains(&p));
                let (first, step) = (p - its.begin, (its.end - its.begin) as usize);
                let values = match number {
                    0 => (first..lengths[its.of as usize]).step_by(step).count() as u32,
                    _ => {
                        let from = plan.list[its.of as usize];
                        let before = plan.levels[number - 1].clone();
                        assert!(before.start <= from.begin && from.end <= before.end);
                        let values = (from.begin + first..from.end).step_by(step);
                        assert!(values.clone().count() <= TILE as usize);
                        values.map(|at| sums[at as usize]).sum()
                    }
                };
                assert!(number > 0 || (1..=TILE).contains(&values), "{values}");
                sums[p as usize] = values;
            }
        }
        let mut found = lengths.map(|length| if length > TILE { 0 } else { length });
        for row in &plan.rows {
            assert!(row.end - row.begin <= TILE);
            found[row.of as usize] += sums[row.begin as usize..row.end as usize]
                .iter()
                .sum::<u32>();
        }
        assert_eq!(found, lengths);
    }

    #[test]
    fn parts_are_few() {
        let lengths = [TILE + 1, 3000, 7, 1 << 20];
        let edges: u32 = lengths.iter().sum();
        let parts = Plan::new(&lengths).owners.len() as u32;
        assert!(parts < edges / (TILE - 1) + 4, "{parts} of {edges} edges");
        let none = Plan::new(&[TILE, 0, 1]);
        assert!(none.levels.is_empty() && none.rows.is_empty() && none.owners.is_empty());
    }
}
