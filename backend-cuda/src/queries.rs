//! What a GPU can be asked besides what every backend is asked.

use crate::backend::CudaBackend;
use crate::context::memory;
use crate::module::{FunctionInfo, Loaded};
use crate::session::Session;
use crate::state::{State, foreign};
use warpheap_api::host::{DeviceError, ModuleId};

impl CudaBackend {
    /// The GPU's compute capability: 9.0 is `(9, 0)`.
    pub fn capability(&self) -> (u32, u32) {
        self.capability
    }

    /// What the driver's compiler made of a kernel.
    ///
    /// # Errors
    /// [`DeviceError::LayoutMismatch`] if the module has no such entry; [`DeviceError::Lost`],
    /// [`DeviceError::Driver`].
    pub fn function_info(
        &self,
        module: ModuleId,
        entry: &str,
    ) -> Result<FunctionInfo, DeviceError> {
        const DURING: &str = "asking for a kernel's properties";
        self.of_module(DURING, module, entry, |loaded, session| {
            loaded.info(session, entry)
        })
    }

    /// Loads a kernel of a module for blocks of so many lanes, if that has not been done.
    pub(crate) fn load_alone(
        &self,
        module: ModuleId,
        entry: &str,
        lanes: u32,
    ) -> Result<(), DeviceError> {
        self.of_module("loading a kernel", module, entry, |loaded, session| {
            loaded.kernel_for(session, entry, lanes).map(drop)
        })
    }

    /// Asks the module of a kernel something.
    fn of_module<R>(
        &self,
        during: &'static str,
        module: ModuleId,
        entry: &str,
        ask: impl FnOnce(&mut Loaded, &mut Session) -> Result<R, DeviceError>,
    ) -> Result<R, DeviceError> {
        let mut state = self.enter(during)?;
        let State {
            modules, session, ..
        } = &mut **state;
        match modules.get_mut(&module.0) {
            Some(loaded) => ask(loaded, session),
            None => Err(foreign(entry, "its module")),
        }
    }

    /// Free and total bytes of the GPU's memory, as the driver counts them.
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    pub fn memory(&self) -> Result<(u64, u64), DeviceError> {
        const DURING: &str = "asking for free memory";
        let mut state = self.enter(DURING)?;
        state.bury(DURING)?;
        match memory() {
            Ok(memory) => Ok(memory),
            Err(refused) => Err(state.refuse(refused, DURING)),
        }
    }
}
