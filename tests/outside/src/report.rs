//! What came of a job, as a line.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A job went well, or cannot be done here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is as the CPU computes it.
    Ok {
        /// Time on the device.
        time: Duration,
        /// What is worth saying: that memory ran out where that was to be expected, for one.
        note: String,
    },
    /// Allocator or backend cannot do it by design; why.
    Refused(String),
}

/// What came of a job.
pub type Outcome = Result<Verdict, Box<dyn Error>>;

/// A job's line.
#[derive(Debug)]
pub struct Line<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// The allocator's.
    pub allocator: &'a str,
    /// What came of it.
    pub outcome: &'a Outcome,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12} {:<18} ", self.kernel, self.allocator)?;
        match self.outcome {
            Ok(Verdict::Ok { time, note }) => {
                write!(f, "ok      {:>10.3} ms", time.as_secs_f64() * 1e3)?;
                match note.is_empty() {
                    true => Ok(()),
                    false => write!(f, "  {note}"),
                }
            }
            Ok(Verdict::Refused(why)) => write!(f, "refused  {why}"),
            Err(error) => write!(f, "FAILED   {}", error.to_string().replace('\n', " ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_all() {
        let line = |outcome: Outcome| {
            let (kernel, allocator) = ("trees", "Bump");
            let outcome = &outcome;
            Line {
                kernel,
                allocator,
                outcome,
            }
            .to_string()
        };
        let time = Duration::from_micros(1500);
        let note = "full".to_owned();
        let good = line(Ok(Verdict::Ok { time, note }));
        assert!(good.starts_with("trees        Bump "), "{good}");
        assert!(good.ends_with("1.500 ms  full"), "{good}");
        assert!(line(Ok(Verdict::Refused("why".into()))).ends_with("refused  why"));
        assert!(line(Err("a\nb".into())).ends_with("FAILED   a b"));
    }
}
