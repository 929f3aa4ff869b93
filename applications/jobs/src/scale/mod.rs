//! What hundreds of ranks would do: work shared out on the host by the functions of the jobs, and times of a model.
//!
//! Nothing here runs on a device. The example `scale` prints what comes of it, and `docs/scale.md` tells what it says.
//!
//! | module | what |
//! |---|---|
//! | `share` | work and bytes of each rank |
//! | [`inputs`] | what is shared out: k-mers, keys and edges, even and skewed |
//! | [`parts`] | the shares of k-mers, rows and edges |
//! | [`model`] | rates that were measured, assumptions, times |

pub mod inputs;
pub mod model;
pub mod parts;
mod share;

pub use share::Shares;

/// The numbers of ranks that are looked at: powers of two up to 64 machines of eight.
pub const RANKS: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
