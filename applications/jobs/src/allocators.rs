//! The allocators of the library that a user names, each with a job compiled for it.

use crate::error::JobError;
use serde::Serialize;

/// The allocator of someone who names none: the library's default.
pub const DEFAULT: &str = "WarpHeap";

/// One allocator.
#[derive(Clone, Copy)]
pub struct Allocator<J> {
    /// Its name.
    pub name: &'static str,
    /// Whether the user asked for it by name, and not for all that there are.
    pub by_name: bool,
    /// The job with it.
    pub job: J,
}

impl<J> Allocator<J> {
    /// An allocator that nobody has asked for yet.
    pub fn new(name: &'static str, job: J) -> Self {
        let by_name = false;
        Allocator { name, by_name, job }
    }
}

/// An allocator that cannot do the job.
#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub allocator: &'static str,
    /// Why.
    pub why: String,
}

impl LeftOut {
    /// The allocator and why.
    pub fn new(allocator: &'static str, why: &JobError) -> Self {
        let why = why.to_string();
        LeftOut { allocator, why }
    }
}

/// Those of `all` with these names, in this order; `all` stands for all of them. Without names those that
/// are called `otherwise`, which may be `all` too.
///
/// # Errors
/// [`JobError::Usage`] for an unknown name, with the names that exist.
pub fn named<J: Copy>(
    names: &[String],
    all: &[Allocator<J>],
    otherwise: &str,
) -> Result<Vec<Allocator<J>>, JobError> {
    let otherwise = [otherwise.to_owned()];
    let (names, asked) = match names {
        [] => (&otherwise[..], false),
        names => (names, true),
    };
    let mut chosen: Vec<Allocator<J>> = Vec::new();
    for name in names {
        let name = name.trim();
        let every = name.eq_ignore_ascii_case("all");
        let is = |allocator: &&Allocator<J>| every || allocator.name.eq_ignore_ascii_case(name);
        let mut known = all.iter().filter(is).peekable();
        if known.peek().is_none() {
            let names: Vec<&str> = all.iter().map(|allocator| allocator.name).collect();
            return Err(JobError::Usage(format!(
                "there is no allocator `{name}`; there are {}, and `all` for all of them",
                names.join(", ")
            )));
        }
        for allocator in known {
            if !chosen.iter().any(|other| other.name == allocator.name) {
                chosen.push(Allocator {
                    by_name: asked && !every,
                    ..*allocator
                });
            }
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Allocator<u32>; 3] {
        [("Bump", 1), (DEFAULT, 2), ("MpList", 3)].map(|(name, job)| Allocator::new(name, job))
    }

    fn chosen(names: &[&str], otherwise: &str) -> Result<Vec<(&'static str, bool)>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        match named(&names, &all(), otherwise) {
            Ok(chosen) => Ok(chosen.iter().map(|a| (a.name, a.by_name)).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn names_choose_in_their_order_and_once() {
        let every = all().map(|allocator| (allocator.name, false));
        assert_eq!(chosen(&["all"], DEFAULT), Ok(every.to_vec()));
        assert_eq!(chosen(&[" bump ", "Bump"], "all"), Ok(vec![("Bump", true)]));
        assert_eq!(chosen(&[], DEFAULT), Ok(vec![("WarpHeap", false)]));
        assert_eq!(chosen(&[], "all"), Ok(every.to_vec()));
        let mixed = [("MpList", true), ("Bump", false), ("WarpHeap", false)];
        assert_eq!(chosen(&["mplist", "ALL"], DEFAULT), Ok(mixed.to_vec()));
    }

    #[test]
    fn an_unknown_name_lists_all() {
        let message = chosen(&["Bump", "magic"], "all").unwrap_err();
        for allocator in all() {
            assert!(message.contains(allocator.name), "{message}");
        }
        assert!(message.contains("`magic`"), "{message}");
    }
}
