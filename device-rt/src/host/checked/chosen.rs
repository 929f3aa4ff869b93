//! By what a heap is set, which depends on who chose the adaptor.

use super::CheckedConfig;
use crate::adaptor::{ByProgram, ByVariable, Chooser};
use std::fmt::Debug;

/// The settings of a heap of `Checked<A, Self>`.
pub trait CheckSettings: Chooser {
    /// Their type, where those of the allocator within are `C`.
    type Config<C: Clone + Default + Debug + Send + Sync + 'static>: Clone
        + Default
        + Debug
        + Send
        + Sync
        + 'static;
    /// What errors call the adaptor: what somebody wrote who has it.
    const NAME: &'static str;
    /// Whether statistics have the blocks that wait in the quarantine among those in use, as the allocator within has.
    const WAITING_IS_USED: bool;

    /// The ones with these for the allocator within, and the adaptor's defaults.
    fn around<C: Clone + Default + Debug + Send + Sync + 'static>(inner: C) -> Self::Config<C>;

    /// All of them.
    fn all<C: Clone + Default + Debug + Send + Sync + 'static>(
        config: &Self::Config<C>,
    ) -> CheckedConfig<C>;
}

impl CheckSettings for ByProgram {
    type Config<C: Clone + Default + Debug + Send + Sync + 'static> = CheckedConfig<C>;
    const NAME: &'static str = "Checked";
    const WAITING_IS_USED: bool = true;

    fn around<C: Clone + Default + Debug + Send + Sync + 'static>(inner: C) -> CheckedConfig<C> {
        CheckedConfig {
            inner,
            waiting: None,
            filled: None,
        }
    }

    fn all<C: Clone + Default + Debug + Send + Sync + 'static>(
        config: &CheckedConfig<C>,
    ) -> CheckedConfig<C> {
        config.clone()
    }
}

impl CheckSettings for ByVariable {
    type Config<C: Clone + Default + Debug + Send + Sync + 'static> = C;
    const NAME: &'static str = "Checked (WARPHEAP_CHECK=1)";
    const WAITING_IS_USED: bool = false;

    fn around<C: Clone + Default + Debug + Send + Sync + 'static>(inner: C) -> C {
        inner
    }

    fn all<C: Clone + Default + Debug + Send + Sync + 'static>(config: &C) -> CheckedConfig<C> {
        ByProgram::around(config.clone())
    }
}
