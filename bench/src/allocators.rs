//! With which allocators.

use crate::BenchError;
use crate::lab::Lab;
use crate::measure::arenas::Arenas;
use crate::measure::{self, arenas, unmeasured};
use crate::plan::{Cell, Plan};
use crate::row::{Call, Row};
use warpheap_api::DeviceAlloc;
use warpheap_api::host::{DeviceError, HostAlloc, Pool};
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

/// Measures every cell of a plan and passes on each row. Errors of the device become rows.
pub type Measure = fn(&Lab, &Plan, &mut dyn FnMut(Row)) -> Outcome;

/// What has become of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It can be used further.
    Done,
    /// It is gone; nothing more can be measured.
    Lost,
}

macro_rules! entries {
    ($($allocator:ident),* $(,)?) => {
        /// The allocators of the library, and arenas of warps over its default.
        pub const ALL: &[Entry] = &[
            $(Entry {
                name: <$allocator as DeviceAlloc>::NAME,
                measure: |lab, plan, row| measure_all(lab, plan, row, measure::measure::<$allocator>),
            },)*
            Entry {
                name: <Arenas as DeviceAlloc>::NAME,
                measure: |lab, plan, row| measure_all(lab, plan, row, arenas::measure),
            },
        ];
    };
}

warpheap_rt::for_each_allocator!(entries);

/// The allocators with these names, in the library's order; all for no names or `all`. The floor is among them in any case.
///
/// # Errors
/// [`BenchError::UnknownAllocator`].
pub fn chosen(names: &[String]) -> Result<Vec<Entry>, BenchError> {
    let known: Vec<_> = ALL.iter().map(|entry| entry.name).collect();
    let wanted = named(names, &known)?;
    let is_wanted = |entry: &&Entry| wanted.contains(&entry.name);
    let entries = ALL.iter().filter(|e| is_wanted(e) || e.name == FLOOR);
    Ok(entries.copied().collect())
}

/// Those of the `known` allocators that have these names, in the order of `known`; all for no names or `all`.
///
/// # Errors
/// [`BenchError::UnknownAllocator`].
pub(crate) fn named(
    names: &[String],
    known: &[&'static str],
) -> Result<Vec<&'static str>, BenchError> {
    let is = |one: &str, name: &str| one.eq_ignore_ascii_case(name);
    let every = |name: &str| is("all", name);
    for name in names {
        if !every(name) && !known.iter().any(|one| is(one, name)) {
            return Err(BenchError::UnknownAllocator {
                name: name.clone(),
                known: known.join(", "),
            });
        }
    }
    let all = names.is_empty() || names.iter().any(|name| every(name));
    let wanted = |one: &&&'static str| all || names.iter().any(|name| is(one, name));
    Ok(known.iter().filter(wanted).copied().collect())
}

/// Measures one cell in a pool.
type MeasureCell<A> = fn(&Lab, &mut Pool<A>, &Cell, Call) -> Result<Vec<Row>, DeviceError>;

fn measure_all<A: HostAlloc>(
    lab: &Lab,
    plan: &Plan,
    row: &mut dyn FnMut(Row),
    measure: MeasureCell<A>,
) -> Outcome {
    // Cells that share a pool follow each other; there is memory for one.
    let mut pool: Option<Pool<A>> = None;
    for cell in &plan.cells {
        if pool.as_ref().is_none_or(|pool| pool.bytes() != cell.pool) {
            pool = None;
            match lab.device().reserve(cell.pool) {
                Ok(fresh) => pool = Some(fresh),
                Err(error) => {
                    row(unmeasured::<A>(cell, plan.call, &error));
                    continue;
                }
            }
        }
        let Some(pool) = &mut pool else { continue };
        match measure(lab, pool, cell, plan.call) {
            Ok(rows) => rows.into_iter().for_each(&mut *row),
            Err(error) => {
                row(unmeasured::<A>(cell, plan.call, &error));
                if matches!(error, DeviceError::Lost { .. }) {
                    return Outcome::Lost;
                }
            }
        }
    }
    Outcome::Done
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
