//! What can go wrong, and the one message a person gets for it.

use std::path::PathBuf;

/// Everything a command can fail with. The message says what, where and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program could not be started at all.
    #[error("cannot start `{program}`: {source}; {hint}")]
    Start {
        /// The program as it was named.
        program: String,
        /// The operating system's answer.
        source: std::io::Error,
        /// What to install or to set.
        hint: &'static str,
    },
    /// A program ran and failed.
    #[error("`{command}` failed ({status}){}{output}", if .output.is_empty() { "" } else { ":\n" })]
    Failed {
        /// The command line.
        command: String,
        /// Exit status in words.
        status: String,
        /// The end of what it printed, if that was captured.
        output: String,
    },
    /// A file operation failed.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// The operation, as a verb.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// A program printed something that this code does not understand.
    #[error("cannot read the output of {program}: {why}")]
    Output {
        /// Which program.
        program: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Device code could not be compiled, or prebuilt device code not be read or written.
    #[error(transparent)]
    Device(#[from] warpheap_build::BuildError),
    /// Anything that has a message of its own: what, where, what to do.
    #[error("{0}")]
    Message(String),
}

/// The result of a command.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// An error that is only a message.
pub fn message<T>(text: impl Into<String>) -> Result<T> {
    Err(Error::Message(text.into()))
}
