//! What the CPU makes of the batches, with vectors of its own: how many edges each one changes, what the graph is after
//! each phase, and what the rows ask of a heap meanwhile.

use super::batch::Batch;
use crate::args::ChangeArgs;
use crate::graph::edges::EdgeList;
use crate::graph::generate::mix;
use crate::graph::growth::{self, Demand};
use crate::graph::reference::InNeighbours;
use crate::progress::Progress;
use std::thread;

/// What a step is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The initial graph.
    Init,
    /// Insertions.
    Insert,
    /// Deletions.
    Delete,
}

/// A batch that is inserted or deleted.
pub struct Step {
    /// What it is part of.
    pub phase: Phase,
    /// Index of the batch.
    pub batch: usize,
    /// Edges that come or go.
    pub changed: u32,
    /// The graph afterwards, as an index of [`Expected::states`], if this is the last step of its phase.
    pub state: Option<usize>,
}

impl Step {
    /// Whether edges are inserted.
    pub fn adding(&self) -> bool {
        self.phase != Phase::Delete
    }
}

/// Everything that a run is measured against.
pub struct Expected {
    /// Vertices of the graph.
    pub vertices: u32,
    /// The batches.
    pub batches: Vec<Batch>,
    /// What is done with them.
    pub steps: Vec<Step>,
    /// The graph after each phase.
    pub states: Vec<InNeighbours>,
    /// What the rows ask of a heap.
    pub demand: Demand,
    /// Triangles of the initial graph, if they are asked for.
    pub triangles: Option<u64>,
}

impl Expected {
    /// Makes the batches and does all steps. `list` is simple.
    pub fn new(list: &EdgeList, args: &ChangeArgs, seed: u64, progress: Progress) -> Self {
        let vertices = list.vertices;
        let initial = InNeighbours::new(list);
        let triangles = args.triangles.then(|| super::triangles::count(&initial));
        let mut batches = Batch::initial(&initial);
        let first = batches.len();
        let focus = args.focus.unwrap_or(vertices).min(vertices);
        for round in 0..args.rounds {
            let seed = mix(seed ^ mix(u64::from(round)));
            batches.push(Batch::random(vertices, focus, args.updates, seed));
        }
        let order = (0..first)
            .map(|batch| (Phase::Init, batch))
            .chain((first..batches.len()).map(|batch| (Phase::Insert, batch)))
            .chain((first..batches.len()).map(|batch| (Phase::Delete, batch)));
        let order: Vec<(Phase, usize)> = order.collect();
        let bar = progress.bar("the CPU's answers".to_owned(), order.len() as u64);
        let mut rows = Rows::new(vertices);
        let mut steps: Vec<Step> = Vec::new();
        let mut states = Vec::new();
        for (number, (phase, batch)) in order.iter().enumerate() {
            let changed = rows.merge(&batches[*batch], *phase != Phase::Delete);
            let last = order.get(number + 1).is_none_or(|(next, _)| next != phase);
            let state = last.then(|| {
                states.push(rows.state());
                states.len() - 1
            });
            steps.push(Step {
                phase: *phase,
                batch: *batch,
                changed,
                state,
            });
            bar.advance(1);
        }
        Expected {
            vertices,
            batches,
            steps,
            states,
            demand: rows.demand(),
            triangles,
        }
    }

    /// Edges that come or go in a phase.
    pub fn changed(&self, phase: Phase) -> u64 {
        let steps = self.steps.iter().filter(|step| step.phase == phase);
        steps.map(|step| u64::from(step.changed)).sum()
    }

    /// Words that hold every row at any time, each filled up to a multiple of `tile`.
    pub fn most_words(&self, tile: u32) -> u64 {
        let words = |state: &InNeighbours| -> u64 {
            let degrees = (0..state.vertices()).map(|vertex| state.degree(vertex));
            degrees
                .map(|degree| u64::from(degree.div_ceil(tile)) * u64::from(tile))
                .sum()
        };
        // Edges only come until the deletions, and only go from there on.
        self.states.iter().map(words).max().unwrap_or(0)
    }
}

/// Steps of capacities that there can be.
const CLASSES: usize = 31;

/// Sorted rows, and the blocks that rows of their lengths ask for.
struct Rows {
    rows: Vec<Vec<u32>>,
    blocks: [u64; CLASSES],
}

/// What a part of the rows came to.
struct Part {
    changed: u32,
    blocks: [u64; CLASSES],
}

impl Rows {
    fn new(vertices: u32) -> Self {
        Rows {
            rows: vec![Vec::new(); vertices as usize],
            blocks: [0; CLASSES],
        }
    }

    /// Merges a batch with all threads of the machine; gives how many edges came or went.
    fn merge(&mut self, batch: &Batch, adding: bool) -> u32 {
        let threads = thread::available_parallelism().map_or(1, |n| n.get());
        let share = self.rows.len().div_ceil(threads).max(1);
        let parts: Vec<Part> = thread::scope(|scope| {
            let work = self.rows.chunks_mut(share).enumerate().map(|(part, rows)| {
                let first = part * share;
                scope.spawn(move || merge_part(rows, first, batch, adding))
            });
            let work: Vec<_> = work.collect();
            work.into_iter()
                .filter_map(|part| part.join().ok())
                .collect()
        });
        for part in &parts {
            for (sum, blocks) in self.blocks.iter_mut().zip(part.blocks) {
                *sum += blocks;
            }
        }
        parts.iter().map(|part| part.changed).sum()
    }

    fn state(&self) -> InNeighbours {
        let mut offsets = vec![0];
        let mut sources = Vec::new();
        for row in &self.rows {
            sources.extend(row);
            offsets.push(sources.len() as u32);
        }
        InNeighbours { offsets, sources }
    }

    fn demand(&self) -> Demand {
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
    use crate::graph::generate::rmat::Rmat;
    use std::collections::BTreeSet;

    #[test]
    fn phases_are_what_sets_make_of_them() {
        let mut list = Rmat {
            scale: 7,
            edge_factor: 4,
            seed: 1,
        }
        .generate();
        list.make_simple();
        let args = ChangeArgs {
            rounds: 3,
            updates: 300,
            focus: Some(20),
            ..ChangeArgs::default()
        };
        let expected = Expected::new(&list, &args, 5, Progress::detect());
        let mut set: BTreeSet<[u32; 2]> = list.edges.iter().map(|[a, b]| [*b, *a]).collect();
        for step in &expected.steps {
            let batch = &expected.batches[step.batch];
            let before = set.len();
            for (owner, edge) in batch.owners.iter().zip(&batch.edges) {
                match (step.phase, step.adding()) {
                    (Phase::Init, _) => continue,
                    (_, true) => set.insert([*owner, *edge]),
                    (_, false) => set.remove(&[*owner, *edge]),
                };
            }
            if step.phase != Phase::Init {
                assert_eq!(step.changed as usize, before.abs_diff(set.len()));
            }
            if let Some(state) = step.state {
                let state = &expected.states[state];
                let rows = (0..128)
                    .flat_map(|v| state.sources[state.range(v)].iter().map(move |e| [v, *e]));
                assert!(rows.eq(set.iter().copied()), "{:?}", step.phase);
            }
        }
        assert_eq!(expected.states.len(), 3);
        assert!(expected.changed(Phase::Delete) > expected.changed(Phase::Insert));
    }

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
