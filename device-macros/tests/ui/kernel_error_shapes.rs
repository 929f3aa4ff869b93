use warpheap_rt::device::*;

#[derive(Clone, Copy, KernelError)]
pub enum NoWord {
    One,
}

#[derive(Clone, Copy, KernelError)]
#[repr(u32)]
pub enum WithFields {
    One(u32),
}

#[derive(Clone, Copy, KernelError)]
pub struct NoEnum;

#[derive(Clone, Copy, KernelError)]
#[repr(u32)]
pub enum TooLarge {
    One = 1 << 31,
}

fn main() {}
