//! The library's allocators, each with the job compiled for it.

use super::growth::Demand;
use super::pool;
use super::report::Run;
use super::run::{self, Context};
use crate::error::CliError;
use warpheap::api::DeviceAlloc;
use warpheap::device::*;

/// One allocator.
#[derive(Clone, Copy)]
pub struct Allocator {
    /// Its name.
    pub name: &'static str,
    /// Whether the user asked for it by name, and not for all that there are.
    pub by_name: bool,
    /// Says why it cannot do a job.
    pub fits: fn(&Demand) -> Result<(), CliError>,
    /// Runs the job with it.
    pub run: fn(&Context<'_>) -> Result<Run, CliError>,
}

/// An allocator with the job compiled for it.
macro_rules! entry {
    ($allocator:ident) => {
        Allocator {
            name: <$allocator as DeviceAlloc>::NAME,
            by_name: false,
            fits: pool::check_largest::<Counted<$allocator>>,
            run: run::run::<Counted<$allocator>>,
        }
    };
}

macro_rules! list {
    ($($allocator:ident),* $(,)?) => {
        /// Every allocator of the library, in its order.
        pub fn all() -> Vec<Allocator> {
            vec![$(entry!($allocator)),*]
        }
    };
}

warpheap::rt::for_each_allocator!(list);

/// The allocator of someone who names none: the library's default.
pub fn default() -> Allocator {
    entry!(WarpHeap)
}

/// The allocators of these names, in this order; `all` stands for all of them. `otherwise` if there
/// are no names.
///
/// # Errors
/// [`CliError::Usage`] for an unknown name, with the names that exist.
pub fn named(names: &[String], otherwise: Vec<Allocator>) -> Result<Vec<Allocator>, CliError> {
    if names.is_empty() {
        return Ok(otherwise);
    }
    let mut chosen: Vec<Allocator> = Vec::new();
    for name in names {
        let name = name.trim();
        let all = all().into_iter();
        let known: Vec<Allocator> = match name.eq_ignore_ascii_case("all") {
            true => all.collect(),
            false => all
                .filter(|allocator| allocator.name.eq_ignore_ascii_case(name))
                .map(|allocator| Allocator {
                    by_name: true,
                    ..allocator
                })
                .collect(),
        };
        if known.is_empty() {
            let names: Vec<&str> = self::all().iter().map(|allocator| allocator.name).collect();
            return Err(CliError::Usage(format!(
                "there is no allocator `{name}`; there are {}, and `all` for all of them",
                names.join(", ")
            )));
        }
        for allocator in known {
            if !chosen.iter().any(|other| other.name == allocator.name) {
                chosen.push(allocator);
            }
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str]) -> Result<Vec<&'static str>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        match named(&names, vec![default()]) {
            Ok(allocators) => Ok(allocators.iter().map(|allocator| allocator.name).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn names_choose_in_their_order_and_once() {
        let all: Vec<&str> = all().iter().map(|allocator| allocator.name).collect();
        assert_eq!(chosen(&["all"]), Ok(all.clone()));
        assert_eq!(chosen(&[" bump ", "Bump"]), Ok(vec!["Bump"]));
        assert_eq!(
            chosen(&["Bump", "ALL"]).map(|names| names.len()),
            Ok(all.len())
        );
        assert_eq!(chosen(&[]), Ok(vec!["WarpHeap"]));
        assert!(all.contains(&"WarpHeap"));
    }

    #[test]
    fn the_builder_makes_an_image_for_each() {
        let all: Vec<&str> = all().iter().map(|allocator| allocator.name).collect();
        assert_eq!(warpheap_build::ALLOCATORS[..], all[..]);
    }

    #[test]
    fn an_unknown_name_lists_all() {
        let message = chosen(&["Bump", "magic"]).unwrap_err();
        for allocator in all() {
            assert!(message.contains(allocator.name), "{message}");
        }
        assert!(message.contains("`magic`"), "{message}");
    }
}
