//! Streams: work that the host does not wait for, in order in each and beside the work of others.

#[path = "../common/mod.rs"]
mod common;
mod data;
mod devices;
mod ends;
mod explored;
mod failures;
mod heap;
mod order;
mod work;
