//! What comes of a command.

use crate::error::CliError;

/// What comes of a command.
pub struct Done {
    /// All that is to be printed.
    pub text: String,
    /// What is to be said of it, once it is printed.
    pub verdict: Result<(), CliError>,
}

impl From<String> for Done {
    fn from(text: String) -> Self {
        Done {
            text,
            verdict: Ok(()),
        }
    }
}
