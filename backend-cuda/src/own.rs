//! The streams of the backend itself.

use std::sync::Mutex;
use warpheap_api::host::StreamId;

/// The streams of calls that are waited for, each opened when it is needed first.
#[derive(Default)]
pub(crate) struct Own {
    /// That of launches; who runs some has it for so long.
    pub(crate) launches: Mutex<Option<StreamId>>,
    /// That of fills and copies, which does not wait for launches.
    pub(crate) copies: Mutex<Option<StreamId>>,
}
