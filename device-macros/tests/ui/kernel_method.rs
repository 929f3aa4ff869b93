use warpheap_rt::device::*;

pub struct S;

impl S {
    #[kernel]
    pub fn k(&self) {}
}

fn main() {}
