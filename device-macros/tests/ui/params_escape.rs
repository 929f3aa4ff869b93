// What a lane may write through cannot be kept beyond the launch, where another lane would find it.
use warpheap_rt::device::*;

pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[kernel]
pub fn for_ever(out: PerLane<'static, u32>) {
    let _ = out;
}

std::thread_local! {
    static KEPT: std::cell::Cell<Option<LaneIndex<'static>>> = const { std::cell::Cell::new(None) };
}

#[kernel]
pub fn keeps_its_index(out: PerLane<u32>) {
    KEPT.set(out.lane_index());
}

fn main() {}
