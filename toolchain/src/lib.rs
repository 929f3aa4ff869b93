//! What a project with kernels does once and not in each build: gets compilers for device code, and compiles its kernels into images
//! that lie beside their sources.
//!
//! These are the commands `warpheap toolchain` and `warpheap kernels`, and `cargo xtask` of the library's own workspace has the same.
//! Each is a type of [`clap`] and a function that runs it.
//!
//! | module | what, from the bottom up |
//! |---|---|
//! | [`error`] | what can go wrong, as one message |
//! | [`sh`], [`cargo`], [`debian`] | programs and files; cargo; Debian's packages |
//! | [`compilers`] | looks for, installs, makes and tries the compilers |
//! | [`kernels`] | compiles what is stale of a project's images, and checks them |

pub mod cargo;
pub mod compilers;
pub mod debian;
pub mod error;
pub mod kernels;
pub mod sh;
