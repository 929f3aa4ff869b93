//! What the CPU makes of the batches, with vectors of its own: how many edges each one changes, what the graph is after
//! each phase, and what the rows ask of a heap meanwhile.

use super::batch::Batch;
use super::connected::Connected;
use super::cpu::Rows;
use super::options::Changes;
use super::search::{Search, most_neighbours};
use crate::graph::edges::EdgeList;
use crate::graph::generate::mix;
use crate::graph::growth::Demand;
use crate::graph::reference::{InNeighbours, PageRank};
use crate::progress::Progress;

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

impl Phase {
    /// How reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Init => "init",
            Phase::Insert => "insert",
            Phase::Delete => "delete",
        }
    }
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
    /// The ranks after each phase, if they are asked for.
    pub ranked: Vec<Ranked>,
    /// What a search finds after each phase, if one is asked for.
    pub searches: Vec<Search>,
    /// The connected components after each phase, if they are asked for.
    pub connected: Vec<Connected>,
}

/// The vertices of a graph, ranked.
pub struct Ranked {
    /// How many edges leave each.
    pub out_degrees: Vec<u32>,
    /// Iterations of PageRank.
    pub iterations: u32,
    /// The rank of each.
    pub ranks: Vec<f64>,
}

impl Ranked {
    fn new(state: &InNeighbours, iterations: u32) -> Self {
        let mut out_degrees = vec![0; state.vertices() as usize];
        for source in &state.sources {
            out_degrees[*source as usize] += 1;
        }
        let ranks = PageRank::new(state.vertices()).run(state, &out_degrees, iterations);
        Ranked {
            out_degrees,
            iterations,
            ranks,
        }
    }
}

impl Expected {
    /// Makes the batches and does all steps. `list` is simple.
    pub fn new(list: &EdgeList, changes: &Changes, progress: &dyn Progress) -> Self {
        let vertices = list.vertices;
        let initial = InNeighbours::new(list);
        let triangles = changes.triangles.then(|| super::triangles::count(&initial));
        let mut batches = Batch::initial(&initial);
        let first = batches.len();
        let focus = changes.focus.unwrap_or(vertices).min(vertices);
        for round in 0..changes.rounds {
            let seed = mix(changes.seed ^ mix(u64::from(round)));
            batches.push(Batch::random(vertices, focus, changes.updates, seed));
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
            ranked: Vec::new(),
            searches: Vec::new(),
            connected: Vec::new(),
        }
    }

    /// Ranks the vertices after each phase.
    pub fn rank(&mut self, iterations: u32, progress: &dyn Progress) {
        let bar = progress.bar("the CPU's ranks".to_owned(), self.states.len() as u64);
        for state in &self.states {
            self.ranked.push(Ranked::new(state, iterations));
            bar.advance(1);
        }
    }

    /// Searches after each phase from `source`, a vertex of the graph; from the one with the most neighbours before all changes
    /// if none is given.
    pub fn search(&mut self, source: Option<u32>, progress: &dyn Progress) {
        let bar = progress.bar("the CPU's searches".to_owned(), self.states.len() as u64);
        let most = self.states.first().map_or(0, most_neighbours);
        for state in &self.states {
            self.searches
                .push(Search::new(state, source.unwrap_or(most)));
            bar.advance(1);
        }
    }

    /// Finds the connected components after each phase.
    pub fn connect(&mut self, progress: &dyn Progress) {
        let bar = progress.bar("the CPU's components".to_owned(), self.states.len() as u64);
        for state in &self.states {
            self.connected.push(Connected::new(state));
            bar.advance(1);
        }
    }

    /// The phases, in the order of [`states`](Self::states).
    pub fn phases(&self) -> impl Iterator<Item = Phase> {
        let done = self.steps.iter().filter(|step| step.state.is_some());
        done.map(|step| step.phase)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::Rmat;
    use crate::progress::Silent;
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
        let changes = Changes {
            rounds: 3,
            updates: 300,
            focus: Some(20),
            seed: 5,
            ..Changes::default()
        };
        let expected = Expected::new(&list, &changes, &Silent);
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
}
