//! What carries the contents of vectors on devices from rank to rank.

#[cfg(feature = "mpi")]
use crate::nccl::{Found, Nccl};
use crate::{DistError, World};
use std::fmt;
use warpheap::Device;

/// What carries the contents of vectors on devices from rank to rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carrier {
    /// NCCL, from GPU to GPU; its version.
    Nccl(String),
    /// Host memory and MPI, and why NCCL does not.
    Host(String),
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Carrier::Nccl(version) => write!(f, "NCCL {version}"),
            Carrier::Host(why) => write!(f, "host memory ({why})"),
        }
    }
}

impl World {
    /// What carries the contents of vectors on this rank's device to other ranks: NCCL, if every rank has a CUDA device of its own and
    /// `libnccl.so.2`, and the variable `WARPHEAP_NCCL` is not `off`. A call of all ranks, the first of which connects them, so that
    /// [`exchange_vecs`](Self::exchange_vecs), [`exchange_ranges`](Self::exchange_ranges) and [`all_gather`](Self::all_gather) need not. From then on each rank keeps to its device.
    ///
    /// # Errors
    /// [`DistError::Nccl`], [`DistError::OtherDevice`], [`DistError::Device`].
    pub fn carrier(&self, device: &Device) -> Result<Carrier, DistError> {
        #[cfg(feature = "mpi")]
        if self.size() > 1 {
            return Ok(match self.connected(device)? {
                Found::Connected(nccl) => Carrier::Nccl(nccl.version()),
                Found::Not(why) => Carrier::Host(why.clone()),
            });
        }
        let _ = device;
        Ok(Carrier::Host("there is one rank".into()))
    }

    /// NCCL, if it carries what is on devices. A call of all ranks.
    #[cfg(feature = "mpi")]
    pub(crate) fn nccl(&self, device: &Device) -> Result<Option<&Nccl>, DistError> {
        match self.size() {
            1 => Ok(None),
            _ => Ok(match self.connected(device)? {
                Found::Connected(nccl) => Some(nccl),
                Found::Not(_) => None,
            }),
        }
    }

    #[cfg(feature = "mpi")]
    fn connected(&self, device: &Device) -> Result<&Found, DistError> {
        let found = match self.found_nccl().get() {
            Some(found) => found,
            None => {
                let found = Nccl::connect(self, device)?;
                self.found_nccl().get_or_init(|| found)
            }
        };
        match found {
            Found::Connected(nccl) if !nccl.is_on(device) => Err(DistError::OtherDevice),
            _ => Ok(found),
        }
    }
}
