//! Streams on a GPU: order, what comes back, and what is refused. One test at a time: some look at the device while it is busy, and
//! the driver keeps calls waiting while other threads load modules.

#[path = "../common/mod.rs"]
mod common;
mod data;
mod failures;
mod order;
mod refused;

use common::launch;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use warpheap_api::host::{BufferId, Device, DeviceVec, Module, Prepared};
use warpheap_cuda::CudaConfig;

const MS: Duration = Duration::from_millis(1);

static ALONE: Mutex<()> = Mutex::new(());

fn open() -> Option<(MutexGuard<'static, ()>, Device)> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Some((alone, another()?))
}

/// The same device once more, for a test that has the first.
fn another() -> Option<Device> {
    common::open(&CudaConfig::default())
}

fn increment(module: &Module, count: &DeviceVec<u32>) -> Prepared {
    launch(module, "increment_l1", 1, 1, vec![count.arg_mut()])
}

fn report(module: &Module, lanes: u32) -> Prepared {
    launch(module, "report_l1", 1, lanes, Vec::new())
}

fn empty(module: &Module) -> Prepared {
    launch(module, "empty_l1", 1, 1, Vec::new())
}

/// The buffer of a vector.
fn id(vec: &DeviceVec<u32>) -> BufferId {
    let (buffer, ..) = vec.arg().binding().unwrap();
    buffer
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|b| u32::from_ne_bytes(b.try_into().unwrap()))
        .collect()
}
