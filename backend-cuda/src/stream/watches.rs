//! Of which modules a stream sees the panics.

use super::StreamState;
use crate::ready::Ready;
use crate::watch::Watch;

impl StreamState {
    /// Whether this stream would not see the panics of a launch's module.
    pub(crate) fn lacks_watch(&self, launch: &Ready) -> bool {
        launch.reports_panics && !self.watches.iter().any(|w| w.module == launch.module)
    }

    pub(crate) fn watch(&mut self, watch: Watch) {
        self.watches.push(watch);
    }

    /// Whether there are launches of a module that were not looked at.
    pub(crate) fn is_open_for(&self, module: u64) -> bool {
        let mut watches = self.watches.iter();
        watches.any(|watch| watch.module == module && watch.is_open())
    }

    /// The modules of which there are some.
    pub(crate) fn open_modules(&self) -> impl Iterator<Item = u64> + '_ {
        let open = self.watches.iter().filter(|watch| watch.is_open());
        open.map(|watch| watch.module)
    }
}
