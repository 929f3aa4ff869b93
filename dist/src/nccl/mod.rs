//! Vectors on devices that go from GPU to GPU, by NCCL: no rank's host memory is between them.
//!
//! The ranks agree on it once. They take it if each has a CUDA device of its own and the library; otherwise what is on devices goes
//! through host memory and MPI. MPI carries what NCCL needs to begin.
//!
//! | module | what |
//! |---|---|
//! | `library` | NCCL's functions |
//! | `group` | what is sent and received in one go |
//! | `vecs` | whole vectors |

mod group;
mod library;
mod vecs;

use group::Piece;

use crate::{DistError, Op, World};
use library::{Comm, Functions, UniqueId};
use std::ptr::null_mut;
use std::sync::Arc;
use warpheap::api::host::BackendKind;
use warpheap::{Device, DeviceError, DeviceVec};

/// Bytes of a piece that NCCL sends as it sends any large one.
const LARGE: usize = 8 << 20;

/// Whether ranks look for it: `best` or `off`.
const VARIABLE: &str = "WARPHEAP_NCCL";

/// The ranks as NCCL knows them. It lasts as long as the process: to end it takes a device, which may be gone by then.
pub struct Nccl {
    functions: &'static Functions,
    comm: Comm,
    device: Device,
}

/// What became of it.
pub enum Found {
    /// All ranks are connected.
    Connected(Nccl),
    /// They are not, and why.
    Not(String),
}

impl Nccl {
    /// Connects the ranks, each with the device that it will always use. A call of all ranks.
    ///
    /// # Errors
    /// [`DistError::Nccl`] if the library cannot begin; [`DistError::Device`], also for a variable that makes no sense.
    pub fn connect(world: &World, device: &Device) -> Result<Found, DistError> {
        let mine = world.agree(wanted(std::env::var(VARIABLE).ok()))?;
        let mine = if mine {
            usable(device)
        } else {
            Err(format!("{VARIABLE} is off"))
        };
        let mut all = [u64::from(mine.is_ok())];
        world.reduce(Op::Min, &mut all)?;
        let functions = match mine {
            Err(why) => return Ok(Found::Not(why)),
            Ok(_) if all[0] == 0 => {
                let why = "another rank has no CUDA device, no NCCL, or is to go without";
                return Ok(Found::Not(why.into()));
            }
            Ok(functions) => functions,
        };
        let id = common_id(world, functions)?;
        let mut comm = null_mut();
        let mut answer = 0;
        let (size, rank) = (world.size() as i32, world.rank() as i32);
        let begin = |_: warpheap::Lent<'_>| {
            // SAFETY: room for the answer; the device is current, all ranks call this with one id, and each has a number of its own.
            answer = unsafe { (functions.ncclCommInitRank)(&mut comm, size, id, rank) };
        };
        // SAFETY: nothing is lent, and nothing queued.
        unsafe { device.lend(&[], begin) }?;
        // Two ranks with one GPU are refused, on all ranks.
        let refusal = functions.refusal(answer);
        let mut all = [u64::from(refusal.is_none())];
        world.reduce(Op::Min, &mut all)?;
        match refusal {
            Some(what) => return Ok(Found::Not(format!("{what} (two ranks with one GPU?)"))),
            None if all[0] == 0 => return Ok(Found::Not("it was refused on another rank".into())),
            None => {}
        }
        let nccl = Nccl {
            functions,
            comm,
            device: device.clone(),
        };
        nccl.try_out(world)?;
        Ok(Found::Connected(nccl))
    }

    /// Sends something from each rank to each. NCCL opens its ways when they are first used, which takes up to a second, and those of
    /// large pieces for themselves: here, and not where a job measures.
    fn try_out(&self, world: &World) -> Result<(), DistError> {
        for words in [1, LARGE / 4] {
            let mine = DeviceVec::<u32>::zeroed(&self.device, words)?;
            let mut all = DeviceVec::zeroed(&self.device, words * world.size())?;
            let lengths = vec![words * 4; world.size()];
            self.all_gather(world.size(), &mine, &mut all, &lengths)?;
        }
        Ok(())
    }

    /// Whether it was connected with this device.
    pub fn is_on(&self, device: &Device) -> bool {
        Arc::ptr_eq(self.device.backend(), device.backend())
    }

    /// The version of the library.
    pub fn version(&self) -> String {
        self.functions.version()
    }
}

/// Whether ranks are to look for it, as the variable says.
fn wanted(value: Option<String>) -> Result<bool, DeviceError> {
    match value.as_deref().map_or("", str::trim) {
        "" | "best" => Ok(true),
        "off" => Ok(false),
        other => Err(DeviceError::BadConfig {
            setting: VARIABLE.into(),
            value: other.into(),
            allowed: "`best` or `off`".into(),
        }),
    }
}

/// The library, if this rank can take it.
fn usable(device: &Device) -> Result<&'static Functions, String> {
    if device.info().backend != BackendKind::Cuda {
        return Err(format!("{} is no CUDA device", device.info().name));
    }
    library::functions()
}

/// What all ranks of a communicator begin with; rank 0 makes it.
fn common_id(world: &World, functions: &Functions) -> Result<UniqueId, DistError> {
    let mut id = UniqueId([0; 128]);
    let mut parts = vec![Vec::new(); world.size()];
    if world.rank() == 0 {
        // SAFETY: room for the answer.
        let answer = unsafe { (functions.ncclGetUniqueId)(&mut id) };
        if let Some(what) = functions.refusal(answer) {
            let call = "ncclGetUniqueId";
            return Err(DistError::Nccl { call, what });
        }
        parts.fill(id.0.to_vec());
    }
    let mut came = world.exchange(&parts)?;
    let from_0: Result<[u8; 128], _> = came.swap_remove(0).try_into();
    Ok(from_0.map_or(id, UniqueId))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_says_whether_it_is_looked_for() {
        let of = |value: &str| wanted(Some(value.into()));
        assert!(matches!(wanted(None), Ok(true)));
        assert!(matches!(
            (of(" best"), of(""), of("off")),
            (Ok(true), Ok(true), Ok(false))
        ));
        let message = of("ring").map_err(|error| error.to_string());
        assert!(
            message.is_err_and(|text| text.contains("WARPHEAP_NCCL") && text.contains("`off`"))
        );
    }
}
