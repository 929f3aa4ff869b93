//! The part of the edges that a rank reads.

use crate::error::JobError;
use crate::graph::edges::EdgeList;
use crate::graph::input::{Graph, Input};
use crate::graph::report::Source;
use crate::graph::{Options, loaded, read};
use std::time::Duration;
use warpheap::Device;
use warpheap_applications::Kernels;
use warpheap_dist::{Op, World};

/// What a rank has before anything is sent.
pub struct Loaded {
    pub kernels: Kernels,
    pub source: Source,
    /// All vertices, and the edges that it read.
    pub list: EdgeList,
    /// To read or generate the edges.
    pub time: Duration,
    /// How many it read.
    pub read: u64,
}

/// Loads the kernels, and reads or generates this rank's part of the edges. A call of all ranks.
///
/// # Errors
/// Settings that make no sense, a bad file, a device that fails, on the lowest rank that finds it.
pub fn load(world: &World, device: &Device, options: &Options) -> Result<Loaded, JobError> {
    let (rank, size) = (world.rank(), world.size());
    let mine =
        loaded(device, options).and_then(|kernels| Ok((kernels, options.input.part(rank, size)?)));
    let (kernels, (mut list, source, time)) = world.agree(mine)?;
    let read = list.edges.len() as u64;
    let mut largest = [list.vertices.into(), list.base.into()];
    let mut edges = [read];
    world.reduce(Op::Max, &mut largest)?;
    world.reduce(Op::Sum, &mut edges)?;
    // They are numbers of 32 bits of some rank.
    (list.vertices, list.base) = (largest[0] as u32, largest[1] as u32);
    world.agree(whole(&options.input, rank, list.vertices, edges[0]))?;
    Ok(Loaded {
        kernels,
        source,
        list,
        time,
        read,
    })
}

/// Checks that what all ranks read is a graph.
fn whole(input: &Input, rank: usize, vertices: u32, edges: u64) -> Result<(), JobError> {
    let Graph::File { path, options } = &input.graph else {
        return Ok(());
    };
    if edges == 0 && rank == 0 {
        // It says what a process that is alone says of a file without an edge.
        read::read(path, *options)?;
    }
    Ok(read::whole(&path.display().to_string(), vertices, edges)?)
}
