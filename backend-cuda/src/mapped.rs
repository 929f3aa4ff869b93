//! Device memory that grows at its address: addresses are reserved for the most, and memory is mapped there piece by piece.

use crate::status::{Refused, ask};
use crate::sys::{self, CUdevice, vmm};

/// A step is cut into as many pieces at most. A piece is given back as a whole, and each takes some calls of the driver.
const PIECES: u64 = 64;

/// Reserved addresses, of which the first ones have memory. It is not freed by itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mapped {
    device: CUdevice,
    pub(crate) base: u64,
    /// Bytes of addresses.
    reserved: u64,
    pieces: Pieces,
}

impl Mapped {
    /// Reserves addresses for `most` bytes in the current context, which is that of `device`.
    pub(crate) fn reserve(device: CUdevice, most: u64) -> Result<Self, Refused> {
        let mut granularity = 0;
        let properties = vmm::Properties::of(device);
        // SAFETY: room for the answer, and properties that live as long as the call.
        unsafe {
            ask!(cuMemGetAllocationGranularity(
                &mut granularity,
                &properties,
                vmm::MINIMUM
            ))
        }?;
        let granularity = (granularity as u64).max(1);
        let reserved = most.max(1).next_multiple_of(granularity);
        let mut base = 0;
        // SAFETY: room for the answer; the size is a multiple of the granularity.
        unsafe { ask!(cuMemAddressReserve(&mut base, reserved as usize, 0, 0, 0)) }?;
        Ok(Mapped {
            device,
            base,
            reserved,
            pieces: Pieces::new(granularity),
        })
    }

    /// Bytes that there are addresses for.
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Maps memory until there are `bytes` bytes, no more than were reserved; after an error as much is mapped as before.
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), Refused> {
        self.pieces.grow(bytes, &self.driver())
    }

    /// Gives pieces back that lie behind `bytes` bytes.
    ///
    /// # Safety
    /// Nothing on the device uses what lies there.
    pub(crate) unsafe fn shrink(&mut self, bytes: u64) -> Result<(), Refused> {
        self.pieces.shrink(bytes, &self.driver())
    }

    /// Gives all back.
    ///
    /// # Safety
    /// Nothing on the device uses it any more.
    pub(crate) unsafe fn free(mut self) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { self.shrink(0) }?;
        // SAFETY: reserved by `reserve`, nothing is mapped there, and it is given back once.
        unsafe { ask!(cuMemAddressFree(self.base, self.reserved as usize)) }
    }

    fn driver(&self) -> Driver {
        Driver {
            device: self.device,
            base: self.base,
        }
    }
}

/// What is mapped.
#[derive(Debug, PartialEq, Eq)]
struct Pieces {
    /// What sizes of pieces are multiples of.
    granularity: u64,
    pieces: Vec<Piece>,
    bytes: u64,
}

/// A piece of memory, behind the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    handle: u64,
    bytes: u64,
}

/// What maps memory, at offsets from the beginning of the addresses.
trait Maps {
    fn create(&self, bytes: u64) -> Result<u64, Refused>;
    fn map(&self, at: u64, piece: Piece) -> Result<(), Refused>;
    /// Allows reads and writes.
    fn allow(&self, at: u64, bytes: u64) -> Result<(), Refused>;
    fn unmap(&self, at: u64, bytes: u64) -> Result<(), Refused>;
    fn release(&self, handle: u64) -> Result<(), Refused>;
}

impl Pieces {
    fn new(granularity: u64) -> Self {
        Pieces {
            granularity,
            pieces: Vec::new(),
            bytes: 0,
        }
    }

    fn grow(&mut self, bytes: u64, driver: &impl Maps) -> Result<(), Refused> {
        let before = self.bytes;
        let more = bytes.saturating_sub(before);
        if more == 0 {
            return Ok(());
        }
        let piece = more.div_ceil(PIECES).next_multiple_of(self.granularity);
        let grown = self.add(bytes, piece, driver);
        let grown = grown.and_then(|()| driver.allow(before, self.bytes - before));
        if grown.is_err()
            && let Err(Refused { call, status }) = self.shrink(before, driver)
        {
            tracing::warn!(call, %status, "memory could not be given back");
        }
        grown
    }

    fn add(&mut self, bytes: u64, most: u64, driver: &impl Maps) -> Result<(), Refused> {
        while self.bytes < bytes {
            let rest = (bytes - self.bytes).next_multiple_of(self.granularity);
            let bytes = rest.min(most);
            let handle = driver.create(bytes)?;
            let piece = Piece { handle, bytes };
            if let Err(refused) = driver.map(self.bytes, piece) {
                driver.release(handle)?;
                return Err(refused);
            }
            self.pieces.push(piece);
            self.bytes += bytes;
        }
        Ok(())
    }

    fn shrink(&mut self, bytes: u64, driver: &impl Maps) -> Result<(), Refused> {
        while let Some(last) = self.pieces.last().copied() {
            let begin = self.bytes - last.bytes;
            if begin < bytes {
                break;
            }
            driver.unmap(begin, last.bytes)?;
            // Unmapped in any case.
            self.pieces.pop();
            self.bytes = begin;
            driver.release(last.handle)?;
        }
        Ok(())
    }
}

/// The driver, for addresses from `base` on.
struct Driver {
    device: CUdevice,
    base: u64,
}

impl Maps for Driver {
    fn create(&self, bytes: u64) -> Result<u64, Refused> {
        let mut handle = 0;
        let properties = vmm::Properties::of(self.device);
        // SAFETY: room for the answer, and properties that live as long as the call.
        unsafe { ask!(cuMemCreate(&mut handle, bytes as usize, &properties, 0)) }?;
        Ok(handle)
    }

    fn map(&self, at: u64, piece: Piece) -> Result<(), Refused> {
        // SAFETY: the addresses were reserved and nothing is mapped there; the piece was just created with this size.
        unsafe {
            ask!(cuMemMap(
                self.base + at,
                piece.bytes as usize,
                0,
                piece.handle,
                0
            ))
        }
    }

    fn allow(&self, at: u64, bytes: u64) -> Result<(), Refused> {
        let access = vmm::Access::of(self.device);
        // SAFETY: all of it is mapped; one description, which lives as long as the call.
        unsafe { ask!(cuMemSetAccess(self.base + at, bytes as usize, &access, 1)) }
    }

    fn unmap(&self, at: u64, bytes: u64) -> Result<(), Refused> {
        // SAFETY: a whole piece that is mapped there, which nothing uses: the promise of `shrink`, or it is new.
        unsafe { ask!(cuMemUnmap(self.base + at, bytes as usize)) }
    }

    fn release(&self, handle: u64) -> Result<(), Refused> {
        // SAFETY: created by `create`, and mapped nowhere.
        unsafe { ask!(cuMemRelease(handle)) }
    }
}

/// Whether a device and its driver map memory.
pub(crate) fn is_supported(device: CUdevice) -> bool {
    let mut value = 0;
    // SAFETY: room for the answer.
    let status = unsafe { sys::cuDeviceGetAttribute(&mut value, vmm::SUPPORTED, device) };
    status == 0 && value != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    const MIB: u64 = 1 << 20;

    /// A device of some memory, which notices what may not be.
    #[derive(Default)]
    struct Fake(RefCell<State>);

    #[derive(Default)]
    struct State {
        free: u64,
        created: BTreeMap<u64, u64>,
        mapped: BTreeMap<u64, (u64, u64)>,
        allowed: u64,
        calls: u64,
    }

    impl Fake {
        fn with(free: u64) -> Self {
            let state = State {
                free,
                ..State::default()
            };
            Fake(RefCell::new(state))
        }
    }

    impl Maps for Fake {
        fn create(&self, bytes: u64) -> Result<u64, Refused> {
            let mut state = self.0.borrow_mut();
            if bytes > state.free {
                let (call, status) = ("cuMemCreate", Status::OUT_OF_MEMORY);
                return Err(Refused { call, status });
            }
            state.free -= bytes;
            state.calls += 1;
            let handle = state.calls;
            state.created.insert(handle, bytes);
            Ok(handle)
        }

        fn map(&self, at: u64, piece: Piece) -> Result<(), Refused> {
            let mut state = self.0.borrow_mut();
            assert_eq!(state.created.get(&piece.handle), Some(&piece.bytes));
            let end = state.mapped.last_key_value().map_or(0, |(at, m)| at + m.1);
            assert_eq!(at, end, "behind what is mapped");
            state.mapped.insert(at, (piece.handle, piece.bytes));
            Ok(())
        }

        fn allow(&self, at: u64, bytes: u64) -> Result<(), Refused> {
            let mut state = self.0.borrow_mut();
            assert_eq!(at, state.allowed);
            state.allowed = at + bytes;
            Ok(())
        }

        fn unmap(&self, at: u64, bytes: u64) -> Result<(), Refused> {
            let mut state = self.0.borrow_mut();
            let (_, mapped) = state.mapped.remove(&at).expect("it is mapped");
            assert_eq!(mapped, bytes, "a whole piece");
            state.allowed = state.allowed.min(at);
            Ok(())
        }

        fn release(&self, handle: u64) -> Result<(), Refused> {
            let mut state = self.0.borrow_mut();
            assert!(state.mapped.values().all(|piece| piece.0 != handle));
            let bytes = state.created.remove(&handle).expect("it was created");
            state.free += bytes;
            Ok(())
        }
    }

    #[test]
    fn steps_are_a_few_pieces_and_all_of_it_may_be_used() {
        let (fake, mut pieces) = (Fake::with(64 << 30), Pieces::new(2 * MIB));
        let mut before = 0;
        for bytes in [4, 3 * MIB, 1 << 30, (1 << 30) + 4, 2 << 30, 32 << 30] {
            let calls = fake.0.borrow().calls;
            pieces.grow(bytes, &fake).unwrap();
            assert!(pieces.bytes >= bytes && pieces.bytes - bytes < 2 * MIB);
            assert_eq!(fake.0.borrow().allowed, pieces.bytes);
            assert!(fake.0.borrow().calls - calls <= PIECES);
            assert!(pieces.bytes >= before);
            before = pieces.bytes;
        }
    }

    #[test]
    fn what_lies_behind_is_given_back_and_nothing_else() {
        let (fake, mut pieces) = (Fake::with(1 << 30), Pieces::new(2 * MIB));
        pieces.grow(10 * MIB, &fake).unwrap();
        pieces.grow(20 * MIB, &fake).unwrap();
        pieces.shrink(9 * MIB, &fake).unwrap();
        assert_eq!(
            (pieces.bytes, fake.0.borrow().allowed),
            (10 * MIB, 10 * MIB)
        );
        assert_eq!(fake.0.borrow().free, (1 << 30) - 10 * MIB);
        pieces.grow(9 * MIB, &fake).unwrap();
        assert_eq!(pieces.bytes, 10 * MIB);
        pieces.grow(30 * MIB, &fake).unwrap();
        pieces.shrink(0, &fake).unwrap();
        assert_eq!(fake.0.borrow().free, 1 << 30);
        assert!(fake.0.borrow().created.is_empty());
    }

    #[test]
    fn a_step_for_which_there_is_no_memory_changes_nothing() {
        let (fake, mut pieces) = (Fake::with(100 * MIB), Pieces::new(2 * MIB));
        pieces.grow(30 * MIB, &fake).unwrap();
        let refused = pieces.grow(200 * MIB, &fake).unwrap_err();
        assert_eq!(refused.status, Status::OUT_OF_MEMORY);
        assert_eq!((pieces.bytes, fake.0.borrow().free), (30 * MIB, 70 * MIB));
        assert_eq!(fake.0.borrow().created.len(), pieces.pieces.len());
        pieces.grow(100 * MIB, &fake).unwrap();
    }
}
