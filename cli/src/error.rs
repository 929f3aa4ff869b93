//! What makes the command line fail, and with which exit code.

use thiserror::Error;
use warpheap::DeviceError;
use warpheap_bench::BenchError;
use warpheap_bench::report::ReportError;
use warpheap_jobs::error::JobError;

/// Why a command did not do what it was asked to.
#[derive(Debug, Error)]
pub enum CliError {
    /// Arguments that make no sense together or on this machine. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// A device, a pool or a kernel failed. Exit code 1.
    #[error("{0}")]
    Run(String),
    /// A job failed. Exit code 2 if its settings or its file are to blame, 1 otherwise.
    #[error(transparent)]
    Job(#[from] JobError),
    /// Memory was handed out that may not be, in a measurement. Exit code 1.
    #[error("memory was handed out that may not be: {0}")]
    Overlap(String),
    /// A heap did not stay right. Exit code 1.
    #[error("{0}")]
    Unsound(String),
    /// Something became slower since an earlier run. Exit code 3.
    #[error("{0}")]
    Slower(String),
    /// The answer could not be written. Exit code 1.
    #[error("cannot write the result: {0}")]
    Write(#[from] std::io::Error),
}

impl From<DeviceError> for CliError {
    fn from(error: DeviceError) -> Self {
        JobError::from(error).into()
    }
}

impl From<BenchError> for CliError {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Device(error) => error.into(),
            BenchError::UnknownAllocator { .. }
            | BenchError::PoolTooSmall { .. }
            | BenchError::Unreplayable { .. }
            | BenchError::NoTrace => CliError::Usage(error.to_string()),
            error => CliError::Run(error.to_string()),
        }
    }
}

impl From<ReportError> for CliError {
    fn from(error: ReportError) -> Self {
        match error.is_input() {
            true => CliError::Usage(error.to_string()),
            false => CliError::Run(error.to_string()),
        }
    }
}

impl CliError {
    /// 2 when the user has to change the command or the file, 1 when the machine failed, 3 when it
    /// became slower.
    pub fn code(&self) -> u8 {
        match self {
            CliError::Usage(_) | CliError::Job(JobError::Usage(_) | JobError::Input(_)) => 2,
            CliError::Slower(_) => 3,
            CliError::Run(_)
            | CliError::Job(JobError::Run(_) | JobError::Wrong { .. })
            | CliError::Overlap(_)
            | CliError::Unsound(_)
            | CliError::Write(_) => 1,
        }
    }
}
