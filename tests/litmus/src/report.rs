//! What came of a test, as a line.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// What a weak outcome means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It may not be: something is wrong.
    Forbidden,
    /// It may be. That it is not seen says nothing.
    Allowed,
    /// It may be, because fences were left out. Where it is not seen, the device cannot tell whether they are there.
    Mutant,
}

/// What was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Instances.
    pub instances: u64,
    /// Of these, those with the weak outcome.
    pub weak: u64,
    /// Launches.
    pub launches: u64,
    /// Time on the device.
    pub time: Duration,
    /// All outcomes, and an example of a weak one.
    pub note: String,
}

/// A test came to an end, or cannot be done here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ran.
    Ran(Rule, Counted),
    /// Allocator or backend cannot do it by design; why.
    Refused(String),
}

/// What came of a test.
pub type Outcome = Result<Verdict, Box<dyn Error>>;

/// Whether something is wrong.
pub fn failed(outcome: &Outcome) -> bool {
    match outcome {
        Ok(Verdict::Ran(rule, counted)) => *rule == Rule::Forbidden && counted.weak != 0,
        Ok(Verdict::Refused(_)) => false,
        Err(_) => true,
    }
}

/// A test's line.
#[derive(Debug)]
pub struct Line<'a> {
    /// The shape's name.
    pub shape: &'a str,
    /// The variant's: which fences there are, or the allocator.
    pub variant: &'a str,
    /// What came of it.
    pub outcome: &'a Outcome,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8} {:<18} ", self.shape, self.variant)?;
        let counted = match self.outcome {
            Ok(Verdict::Ran(rule, counted)) => {
                let (weak, instances) = (counted.weak, counted.instances);
                match (rule, weak) {
                    (Rule::Forbidden, 0) => write!(f, "ok         0 of {instances}")?,
                    (Rule::Forbidden, _) => write!(f, "FORBIDDEN  {weak} of {instances}")?,
                    (Rule::Allowed, 0) => write!(f, "not seen   0 of {instances}")?,
                    (_, 1..) => write!(f, "seen       {weak} of {instances}")?,
                    (Rule::Mutant, 0) => {
                        write!(f, "not seen   this device cannot tell: 0 of {instances}")?;
                    }
                }
                counted
            }
            Ok(Verdict::Refused(why)) => return write!(f, "refused    {why}"),
            Err(error) => {
                return write!(f, "FAILED     {}", error.to_string().replace('\n', " "));
            }
        };
        let seconds = counted.time.as_secs_f64();
        write!(f, " in {} launches, {seconds:.3} s", counted.launches)?;
        match counted.note.is_empty() {
            true => Ok(()),
            false => write!(f, "; {}", counted.note),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_means() {
        let line = |rule, weak| {
            let counted = Counted {
                instances: 10,
                weak,
                launches: 2,
                time: Duration::from_millis(1500),
                note: "both 3".into(),
            };
            let outcome = Ok(Verdict::Ran(rule, counted));
            let line = Line {
                shape: "mp",
                variant: "fences",
                outcome: &outcome,
            };
            (line.to_string(), failed(&outcome))
        };
        let (text, wrong) = line(Rule::Forbidden, 0);
        assert!(text.contains("ok         0 of 10 in 2 launches, 1.500 s; both 3") && !wrong);
        let (text, wrong) = line(Rule::Forbidden, 3);
        assert!(text.contains("FORBIDDEN  3 of 10") && wrong);
        let (text, wrong) = line(Rule::Mutant, 0);
        assert!(text.contains("this device cannot tell: 0 of 10") && !wrong);
        let (text, wrong) = line(Rule::Mutant, 1);
        assert!(text.contains("seen       1 of 10") && !text.contains("not") && !wrong);
    }
}
