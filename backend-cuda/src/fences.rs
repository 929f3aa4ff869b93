//! Which fences kernels get: those for every GPU, or the cheaper ones that newer GPUs have, or, for tests, none.

use crate::config::CudaConfig;
use crate::driver;
use std::borrow::Cow;
use warpheap_ptx::{ACQUIRE, ONE_WAY_FENCES, RELEASE, with_one_way_fences};

/// What the fences of kernels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fences {
    /// Each is only what it is for; else acquire and release in one.
    one_way: bool,
    without_release: bool,
    without_acquire: bool,
}

impl Fences {
    /// The best that a device of this compute capability has with the driver of this process, if `config` asks for no
    /// others.
    pub(crate) fn best(capability: (u32, u32), config: &CudaConfig) -> Self {
        let version = driver::version().unwrap_or(0);
        let (least, least_version) = ONE_WAY_FENCES;
        Fences {
            one_way: !config.fences_both_ways && capability >= least && version >= least_version,
            without_release: config.without_release,
            without_acquire: config.without_acquire,
        }
    }

    /// The text with these fences.
    pub(crate) fn of(self, ptx: &str) -> Cow<'_, str> {
        let mut text = Cow::Borrowed(ptx);
        for (fence, leave_out) in [
            (RELEASE, self.without_release),
            (ACQUIRE, self.without_acquire),
        ] {
            if leave_out {
                text = text.replace(fence, "").into();
            }
        }
        match (self.one_way, text) {
            (false, text) => text,
            (true, Cow::Borrowed(text)) => with_one_way_fences(text),
            (true, Cow::Owned(text)) => with_one_way_fences(&text).into_owned().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_left_out_by_direction() {
        let ptx = format!("a {RELEASE} b {ACQUIRE} c");
        let of = |one_way, without_release, without_acquire| {
            let fences = Fences {
                one_way,
                without_release,
                without_acquire,
            };
            fences.of(&ptx).into_owned()
        };
        assert_eq!(of(false, false, false), ptx);
        assert_eq!(of(false, true, false), format!("a  b {ACQUIRE} c"));
        assert_eq!(of(true, true, false), "a  b fence.acquire.gpu; c");
        assert_eq!(of(true, false, true), "a fence.release.gpu; b  c");
        assert_eq!(of(true, true, true), "a  b  c");
    }
}
