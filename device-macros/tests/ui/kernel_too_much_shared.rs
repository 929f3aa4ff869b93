use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[kernel]
pub fn as_much_as_there_is(shared: SharedWords<12_287>) {
    shared.store(0, 1);
}

#[kernel]
pub fn a_word_more(shared: SharedWords<12_000>, more: SharedWords<288>) {
    shared.store(0, more.load(0));
}

fn main() {}
