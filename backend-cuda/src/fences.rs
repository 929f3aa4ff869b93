//! Which fences kernels get: those for every GPU, or the cheaper ones that newer GPUs have.

use cust::CudaApiVersion;
use std::borrow::Cow;
use warpheap_ptx::{ONE_WAY_FENCES, with_one_way_fences};

/// What the fences of kernels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fences {
    /// Acquire and release in one.
    BothWays,
    /// Each only what it is for.
    OneWay,
}

impl Fences {
    /// The best that a device of this compute capability has with the driver of this process. `both_ways` asks for
    /// the others, so that the two can be compared.
    pub(crate) fn best(capability: (u32, u32), both_ways: bool) -> Self {
        let version = CudaApiVersion::get().map_or(0, |v| v.major() * 1000 + v.minor() * 10);
        let (least, least_version) = ONE_WAY_FENCES;
        match !both_ways && capability >= least && version >= least_version {
            true => Fences::OneWay,
            false => Fences::BothWays,
        }
    }

    /// The text with these fences.
    pub(crate) fn of(self, ptx: &str) -> Cow<'_, str> {
        match self {
            Fences::BothWays => Cow::Borrowed(ptx),
            Fences::OneWay => with_one_way_fences(ptx),
        }
    }
}
