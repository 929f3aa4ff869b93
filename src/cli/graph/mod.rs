//! The graph job: a real graph, built inside kernels that allocate.

pub mod batch;
pub mod check;
pub mod edges;
pub mod read;
pub mod reference;
pub mod report;
pub mod rmat;
pub mod show;
