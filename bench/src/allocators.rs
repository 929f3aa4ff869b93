//! With which allocators.

use crate::BenchError;
use crate::cell::{self, Measured};
use crate::lab::Lab;
use crate::plan::Plan;
use crate::report::Row;
use warpheap_api::DeviceAlloc;
use warpheap_api::host::{DeviceError, Pool};
use warpheap_rt::alloc::*;

/// The allocator that runs always: the cheapest that is possible, since it never frees.
const FLOOR: &str = "Bump";

/// An allocator of the library.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Measures every cell of a plan with it.
    pub measure: Measure,
}

/// Measures every cell of a plan and passes on each row.
pub type Measure = fn(&mut Lab, &Plan, &mut dyn FnMut(Row)) -> Result<(), DeviceError>;

macro_rules! entries {
    ($($allocator:ident),* $(,)?) => {
        /// The allocators of the library.
        pub const ALL: &[Entry] = &[$(Entry {
            name: <$allocator as DeviceAlloc>::NAME,
            measure: measure::<$allocator>,
        }),*];
    };
}

warpheap_rt::for_each_allocator!(entries);

/// The allocators with these names, in the library's order; all for no names or `all`. The floor is
/// among them in any case.
///
/// # Errors
/// [`BenchError::UnknownAllocator`].
pub fn chosen(names: &[String]) -> Result<Vec<Entry>, BenchError> {
    let is = |entry: &Entry, name: &str| entry.name.eq_ignore_ascii_case(name);
    let every = |name: &str| name.eq_ignore_ascii_case("all");
    for name in names {
        if !every(name) && !ALL.iter().any(|entry| is(entry, name)) {
            let known: Vec<_> = ALL.iter().map(|entry| entry.name).collect();
            return Err(BenchError::UnknownAllocator {
                name: name.clone(),
                known: known.join(", "),
            });
        }
    }
    let all = names.is_empty() || names.iter().any(|name| every(name));
    let wanted = |entry: &&Entry| all || names.iter().any(|name| is(entry, name));
    let entries = ALL.iter().filter(|e| wanted(e) || e.name == FLOOR);
    Ok(entries.copied().collect())
}

fn measure<A: Measured>(
    lab: &mut Lab,
    plan: &Plan,
    row: &mut dyn FnMut(Row),
) -> Result<(), DeviceError> {
    let mut pool: Pool<A> = lab.device().reserve(plan.pool)?;
    for &cell in &plan.cells {
        row(cell::measure(lab, &mut pool, cell, plan.warp)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(asked: &[&str]) -> Result<Vec<&'static str>, BenchError> {
        let asked: Vec<_> = asked.iter().map(|name| name.to_string()).collect();
        Ok(chosen(&asked)?.iter().map(|entry| entry.name).collect())
    }

    #[test]
    fn the_floor_runs_always_and_unknown_names_are_answered_with_the_known() {
        let all: Vec<_> = ALL.iter().map(|entry| entry.name).collect();
        assert_eq!(names(&[]).unwrap(), all);
        assert_eq!(names(&["all"]).unwrap(), all);
        assert_eq!(names(&["bump"]).unwrap(), ["Bump"]);
        for entry in ALL {
            let got = names(&[entry.name]).unwrap();
            assert!(got.contains(&"Bump") && got.contains(&entry.name));
        }
        let text = names(&["Bump", "Tcmalloc"]).unwrap_err().to_string();
        assert!(
            text.contains("`Tcmalloc`") && text.contains("Bump"),
            "{text}"
        );
    }
}
