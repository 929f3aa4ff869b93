//! A launch with everything looked up, and how launches are named.

use crate::sys::CUfunction;

/// A launch with everything looked up. Its block of arguments is kept beside it, since it is large and moved by nobody.
pub(crate) struct Ready {
    pub(crate) entry: &'static str,
    pub(crate) module: u64,
    /// Whether the module has a report of panics.
    pub(crate) reports_panics: bool,
    pub(crate) kernel: CUfunction,
    pub(crate) grid_dim: u32,
    pub(crate) block_dim: u32,
}

impl std::fmt::Display for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the launch of {}", self.entry)
    }
}

/// Names the launches that may have caused what a wait ended with.
pub(crate) fn describe(pending: &[&str]) -> String {
    match pending {
        [] => "no launch".to_string(),
        [one] => format!("the launch of {one}"),
        [first, .., last] => {
            format!("one of {} launches, {first} to {last}", pending.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launches_that_may_be_at_fault_are_named() {
        let batch = ["a_l1", "b_l1", "c_l1"];
        assert_eq!(describe(&batch[1..2]), "the launch of b_l1");
        assert_eq!(describe(&batch), "one of 3 launches, a_l1 to c_l1");
        assert_eq!(describe(&[]), "no launch");
    }
}
