//! By how much a heap grows that is full.

/// By how much [`Pool::launch_or_grow`](super::Pool::launch_or_grow) enlarges a pool that is full, and how large it becomes at
/// most.
///
/// ```
/// use warpheap_api::host::Growth;
///
/// let growth = Growth::double().at_most(5 << 30);
/// assert_eq!(growth.after(1 << 30), Some(2 << 30));
/// assert_eq!(growth.after(4 << 30), Some(5 << 30));
/// assert_eq!(growth.after(5 << 30), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    step: Step,
    most: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Double,
    By(u64),
}

impl Growth {
    /// To twice the size.
    pub const fn double() -> Self {
        Growth {
            step: Step::Double,
            most: u64::MAX,
        }
    }

    /// By so many bytes.
    pub const fn by(bytes: u64) -> Self {
        Growth {
            step: Step::By(bytes),
            most: u64::MAX,
        }
    }

    /// To no more than so many bytes in all. What was reserved is a limit in any case.
    pub const fn at_most(self, bytes: u64) -> Self {
        Growth {
            most: bytes,
            ..self
        }
    }

    /// The same, within what was reserved as well.
    pub(super) fn at_most_also(self, bytes: u64) -> Self {
        self.at_most(self.most.min(bytes))
    }

    /// The size that follows on `bytes`, in bytes; `None` if a pool of that size is not to grow.
    pub fn after(self, bytes: u64) -> Option<u64> {
        let more = match self.step {
            Step::Double => bytes.saturating_mul(2),
            Step::By(more) => bytes.saturating_add(more),
        };
        // Sizes of pools are multiples of 16 bytes.
        let next = more.min(self.most) & !15;
        (next > bytes).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_policy_shrinks_a_pool_or_goes_on_without_growing_it() {
        for growth in [
            Growth::double(),
            Growth::by(1 << 20),
            Growth::by(0),
            Growth::by(8),
        ] {
            for most in [0, 15, 1 << 20, (1 << 30) + 8, u64::MAX] {
                let mut bytes = 1 << 20;
                let growth = growth.at_most(most);
                while let Some(next) = growth.after(bytes).filter(|_| bytes < 1 << 40) {
                    assert!(next > bytes && next <= most && next % 16 == 0);
                    bytes = next;
                }
            }
        }
    }
}
