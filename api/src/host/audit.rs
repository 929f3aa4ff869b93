//! What in the metadata of a heap cannot be while no lane runs.

use std::fmt;
use std::string::String;
use std::vec::Vec;

/// What contradicts itself in a heap's metadata, from [`Pool::audit`](super::Pool::audit): a count that is not the number of bits that
/// it counts, a unit of no size class that has blocks, a place that is neither free nor taken.
///
/// It shows itself as one line for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    wrong: u64,
    told: Vec<String>,
}

impl Audit {
    /// Contradictions of which is kept what they are; the others are counted.
    pub const MOST: usize = 16;

    /// Notes what `what` says unless it is right.
    pub fn expect(&mut self, right: bool, what: impl FnOnce() -> String) {
        if right {
            return;
        }
        self.wrong += 1;
        if self.told.len() < Self::MOST {
            self.told.push(what());
        }
    }

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.wrong == 0
    }

    /// How much is wrong.
    pub fn wrong(&self) -> u64 {
        self.wrong
    }

    /// What is wrong, a sentence each: the first [`MOST`](Self::MOST).
    pub fn told(&self) -> &[String] {
        &self.told
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("nothing contradicts itself");
        }
        f.write_str(&self.told.join("\n"))?;
        match self.wrong - self.told.len() as u64 {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;

    #[test]
    fn the_first_are_told_and_all_are_counted() {
        let mut audit = Audit::default();
        audit.expect(true, || unreachable!("it is right"));
        assert!(audit.is_clean());
        assert_eq!(audit.to_string(), "nothing contradicts itself");
        (0..20).for_each(|number| audit.expect(false, || format!("{number} is wrong")));
        assert!(!audit.is_clean());
        assert_eq!((audit.wrong(), audit.told().len()), (20, Audit::MOST));
        let text = audit.to_string();
        assert!(text.starts_with("0 is wrong\n1 is wrong\n"), "{text}");
        assert!(text.ends_with("15 is wrong\nand 4 more"), "{text}");
    }
}
