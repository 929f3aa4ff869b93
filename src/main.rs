//! The `warpheap` command line: runs the graph job, and looks at the machine.

mod cli;

fn main() {}
