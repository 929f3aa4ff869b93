//! Streams: work that the host does not wait for, in order in each of them and beside that of others.

#[path = "../common/mod.rs"]
mod common;
mod data;
mod order;
mod refused;
mod waits;
mod work;
