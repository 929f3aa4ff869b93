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
use warpheap::Device;
use warpheap::api::host::BackendKind;

/// `off` keeps ranks from taking it.
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
    /// [`DistError::Nccl`] if the library cannot begin; [`DistError::Device`].
    pub fn connect(world: &World, device: &Device) -> Result<Found, DistError> {
        let mine = usable(device);
        let mut all = [u64::from(mine.is_ok())];
        world.reduce(Op::Min, &mut all)?;
        let functions = match mine {
            Err(why) => return Ok(Found::Not(why)),
            Ok(_) if all[0] == 0 => {
                let why = "another rank has no CUDA device or no NCCL";
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
        Ok(match refusal {
            Some(what) => Found::Not(format!("{what} (two ranks with one GPU?)")),
            None if all[0] == 0 => Found::Not("it was refused on another rank".into()),
            None => Found::Connected(Nccl {
                functions,
                comm,
                device: device.clone(),
            }),
        })
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

/// The library, if this rank can take it.
fn usable(device: &Device) -> Result<&'static Functions, String> {
    if std::env::var(VARIABLE).is_ok_and(|value| value.trim() == "off") {
        return Err(format!("{VARIABLE} is off"));
    }
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
