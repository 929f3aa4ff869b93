//! Every test by name.

use crate::report::Outcome;
use crate::shapes::{mailbox, pairs, reuse};
use crate::stage::Stage;
use warpheap::api::DeviceAlloc;
use warpheap::device::*;

/// A test.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// The shape's name.
    pub shape: &'static str,
    /// Which fences there are, or the allocator.
    pub variant: &'static str,
    /// Does it.
    pub run: fn(&Stage) -> Outcome,
}

/// The shapes' names, in the order in which they are run.
pub const SHAPES: [&str; 5] = ["mp", "sb", "corr", "mailbox", "reuse"];

/// The tests of all shapes but `reuse`.
const RAW: [(&str, &str, fn(&Stage) -> Outcome); 11] = [
    ("mp", "fences", pairs::mp_fences),
    ("mp", "no release", pairs::mp_no_release),
    ("mp", "no acquire", pairs::mp_no_acquire),
    ("mp", "no fences", pairs::mp_relaxed),
    ("sb", "fences", pairs::sb_fences),
    ("sb", "no fences", pairs::sb_relaxed),
    ("corr", "no fences", pairs::corr),
    ("mailbox", "fences", mailbox::fences),
    ("mailbox", "no release", mailbox::no_release),
    ("mailbox", "no acquire", mailbox::no_acquire),
    ("mailbox", "no fences", mailbox::relaxed),
];

macro_rules! list {
    ($($allocator:ident),* $(,)?) => {
        /// The shape `reuse` with each allocator of the library's list.
        const REUSE: &[(&str, &str, fn(&Stage) -> Outcome)] = &[
            $(("reuse", <$allocator as DeviceAlloc>::NAME, reuse::run::<$allocator>),)*
        ];
    };
}

warpheap::rt::for_each_allocator!(list);

/// All tests.
pub fn all() -> impl Iterator<Item = Test> {
    let tests = RAW.iter().chain(REUSE);
    tests.map(|&(shape, variant, run)| Test {
        shape,
        variant,
        run,
    })
}

/// The tests of this shape, and of `reuse` those with this allocator; `all` is every one.
///
/// # Errors
/// There is none, and what there is.
pub fn chosen(shape: &str, allocator: &str) -> Result<Vec<Test>, String> {
    let is = |wanted: &str, name: &str| wanted == "all" || wanted.eq_ignore_ascii_case(name);
    let names: Vec<&str> = REUSE.iter().map(|&(_, name, _)| name).collect();
    if !names.iter().any(|name| is(allocator, name)) {
        let names = names.join(", ");
        return Err(format!("no allocator `{allocator}`: {names}, or all"));
    }
    if !SHAPES.iter().any(|name| is(shape, name)) {
        return Err(format!("no shape `{shape}`: {}, or all", SHAPES.join(", ")));
    }
    let of = |test: &Test| test.shape != "reuse" || is(allocator, test.variant);
    Ok(all()
        .filter(|test| is(shape, test.shape) && of(test))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_chosen_by_name() {
        assert_eq!(chosen("all", "all").expect("there are").len(), 11 + 18);
        assert_eq!(chosen("reuse", "warpheap").expect("there is").len(), 1);
        assert_eq!(chosen("mailbox", "all").expect("there are").len(), 4);
        assert!(chosen("all", "malloc").is_err_and(|text| text.contains("WarpHeap")));
        assert!(chosen("iriw", "all").is_err_and(|text| text.contains("corr")));
    }
}
