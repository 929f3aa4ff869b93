//! The rows of a graph that changes, on the CPU.

use super::batch::Batch;
use crate::graph::growth::{self, Demand};
use crate::graph::reference::InNeighbours;
use crate::threads::{each, processors};

/// Steps of capacities that there can be.
const CLASSES: usize = 31;

/// Sorted rows, and the blocks that rows of their lengths ask for.
pub struct Rows {
    rows: Vec<Vec<u32>>,
    blocks: [u64; CLASSES],
}

/// What a part of the rows came to.
struct Part {
    changed: u32,
    blocks: [u64; CLASSES],
}

impl Rows {
    /// No edges.
    pub fn new(vertices: u32) -> Self {
        Rows {
            rows: vec![Vec::new(); vertices as usize],
            blocks: [0; CLASSES],
        }
    }

    /// Merges a batch with all threads of the machine; gives how many edges came or went.
    pub fn merge(&mut self, batch: &Batch, adding: bool) -> u32 {
        let share = self.rows.len().div_ceil(processors()).max(1);
        let parts = self.rows.chunks_mut(share).enumerate().collect();
        let parts = each(parts, |(part, rows)| {
            merge_part(rows, part * share, batch, adding)
        });
        for part in &parts {
            for (sum, blocks) in self.blocks.iter_mut().zip(part.blocks) {
                *sum += blocks;
            }
        }
        parts.iter().map(|part| part.changed).sum()
    }

    /// The rows as they are.
    pub fn state(&self) -> InNeighbours {
        let mut offsets = vec![0];
        let mut sources = Vec::new();
        for row in &self.rows {
            sources.extend(row);
            offsets.push(sources.len() as u32);
        }
        InNeighbours { offsets, sources }
    }

    /// What rows of these lengths have asked of a heap so far.
    pub fn demand(&self) -> Demand {
        let last = self.blocks.iter().rposition(|blocks| *blocks > 0);
        Demand {
            blocks: self.blocks[..last.map_or(0, |last| last + 1)].to_vec(),
            live: self
                .rows
                .iter()
                .map(|row| growth::capacity(row.len() as u32) * 4)
                .sum(),
        }
    }
}

/// Merges what of a batch belongs to `rows`, the first of which is that of vertex `first`.
fn merge_part(rows: &mut [Vec<u32>], first: usize, batch: &Batch, adding: bool) -> Part {
    let mut part = Part {
        changed: 0,
        blocks: [0; CLASSES],
    };
    let segments = &batch.segments;
    let begin = segments.partition_point(|segment| (segment.vertex as usize) < first);
    for segment in &segments[begin..] {
        let Some(row) = rows.get_mut(segment.vertex as usize - first) else {
            break;
        };
        let edges = &batch.edges[segment.begin as usize..segment.end as usize];
        let before = row.len();
        *row = if adding {
            union(row, edges)
        } else {
            row.iter()
                .copied()
                .filter(|edge| edges.binary_search(edge).is_err())
                .collect()
        };
        part.changed += before.abs_diff(row.len()) as u32;
        let (old, new) = (
            growth::capacity(before as u32),
            growth::capacity(row.len() as u32),
        );
        if old != new && new > 0 {
            part.blocks[(new / growth::capacity(1)).ilog2() as usize] += 1;
        }
    }
    part
}

/// Two ascending sequences as one, without what comes twice.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let mut rest = a;
    for value in b {
        let before = rest.partition_point(|other| other < value);
        all.extend(&rest[..before]);
        rest = &rest[before..];
        if rest.first() != Some(value) {
            all.push(*value);
        }
    }
    all.extend(rest);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_asks_for_a_block_when_its_class_changes() {
        let mut rows = Rows::new(2);
        let batch = |edges: &[u32]| {
            let segment = warpheap_applications::graph::Segment {
                vertex: 1,
                begin: 0,
                end: edges.len() as u32,
            };
            Batch {
                owners: vec![1; edges.len()],
                edges: edges.to_vec(),
                segments: vec![segment],
            }
        };
        assert_eq!(rows.merge(&batch(&[1, 2, 3]), true), 3);
        assert_eq!(rows.merge(&batch(&[3, 4]), true), 1);
        assert_eq!(rows.merge(&batch(&[0, 9, 10]), true), 3);
        assert_eq!(rows.merge(&batch(&[0, 5, 9, 10]), false), 3);
        assert_eq!(rows.demand().blocks, [2, 1]);
        assert_eq!(rows.rows[1], [1, 2, 3, 4]);
    }
}
