//! Kernels that were launched lately, found without comparing their names.
//!
//! Whoever launches a kernel names it by one and the same string of the program, so where that lies says which it is. Modules and
//! their kernels stay until the backend is dropped.

use crate::sys::CUfunction;

const PLACES: usize = 64;

/// What a launch needs to know of a kernel and its module.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) raw: CUfunction,
    pub(crate) registers: u32,
    pub(crate) max_block_dim: u32,
    /// Whether the module has a report of panics.
    pub(crate) reports_panics: bool,
}

// SAFETY: the handle is a number to the driver, which may be used from any thread.
unsafe impl Send for Found {}

/// Kernels that were launched lately: one for each place.
pub(crate) struct Recent {
    places: [Option<(u64, &'static str, Found)>; PLACES],
}

impl Recent {
    pub(crate) fn new() -> Self {
        Recent {
            places: [None; PLACES],
        }
    }

    /// A kernel of a module.
    #[inline]
    pub(crate) fn get(&self, module: u64, entry: &'static str) -> Option<&Found> {
        let (of, name, found) = self.places[place(module, entry)].as_ref()?;
        (*of == module && std::ptr::eq(*name, entry)).then_some(found)
    }

    /// Keeps a kernel, instead of another one where that has its place.
    pub(crate) fn put(&mut self, module: u64, entry: &'static str, found: Found) {
        self.places[place(module, entry)] = Some((module, entry, found));
    }
}

/// Where a kernel is, below [`PLACES`]. Names lie one behind the other, so their lowest bits differ, and those above them too.
fn place(module: u64, entry: &'static str) -> usize {
    let at = entry.as_ptr() as usize;
    (at ^ (at >> 6) ^ module as usize) % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(registers: u32) -> Found {
        Found {
            raw: std::ptr::null_mut(),
            registers,
            max_block_dim: 0,
            reports_panics: false,
        }
    }

    #[test]
    fn kernels_are_told_apart_by_module_and_by_all_of_their_name() {
        const NAME: &str = "build_l1";
        let mut recent = Recent::new();
        let registers = |recent: &Recent, module, entry| {
            let found = recent.get(module, entry);
            found.map(|found| found.registers)
        };
        recent.put(1, NAME, found(10));
        recent.put(2, NAME, found(20));
        assert_eq!(registers(&recent, 1, NAME), Some(10));
        assert_eq!(registers(&recent, 2, NAME), Some(20));
        assert_eq!(registers(&recent, 3, NAME), None);
        assert_eq!(registers(&recent, 1, &NAME[..5]), None);
        // Two of one place: the later one has it.
        let twin = 1 + PLACES as u64;
        recent.put(twin, NAME, found(30));
        assert_eq!(registers(&recent, twin, NAME), Some(30));
        assert_eq!(registers(&recent, 1, NAME), None);
    }
}
