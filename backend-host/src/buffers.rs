//! Memory of the emulated device: plain memory of the process, zero pages until touched.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use warpheap_api::host::DeviceError;

/// Every buffer begins at a multiple of this.
const ALIGN: usize = 64 << 10;

/// The largest buffer, in bytes.
pub(crate) const MOST_BYTES: u64 = 64 << 30;

/// Names of buffers differ between devices too, so that a buffer of another one is noticed.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// All buffers of one device.
#[derive(Debug)]
pub(crate) struct Memory {
    device: String,
    /// Bytes that all buffers together may have; 0 for unknown.
    limit: u64,
    used: u64,
    buffers: HashMap<u64, Area>,
}

/// One buffer.
#[derive(Debug)]
struct Area {
    start: NonNull<u8>,
    layout: Layout,
    /// From `start` to the first multiple of `ALIGN`.
    skip: usize,
    bytes: u64,
}

// SAFETY: an area owns its memory, nothing of it belongs to a thread.
unsafe impl Send for Area {}

impl Area {
    fn new(bytes: u64) -> Option<Self> {
        // Alignment by hand: the system's zeroed memory is lazy only at ordinary alignments.
        let size = usize::try_from(bytes).ok()?.checked_add(ALIGN)?;
        let layout = Layout::from_size_align(size, 16).ok()?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skip = start.as_ptr().align_offset(ALIGN);
        Some(Area {
            start,
            layout,
            skip,
            bytes,
        })
    }

    fn base(&self) -> *mut u8 {
        // SAFETY: skip is less than ALIGN, by which the area is longer than its bytes.
        unsafe { self.start.as_ptr().add(self.skip) }
    }

    /// The first byte of a range that lies inside.
    fn range(
        &self,
        what: &'static str,
        offset: u64,
        bytes: Option<u64>,
    ) -> Result<*mut u8, DeviceError> {
        let end = bytes.and_then(|bytes| offset.checked_add(bytes));
        match end {
            Some(end) if end <= self.bytes && offset % 4 == 0 && end % 4 == 0 => {
                // SAFETY: the offset is not beyond the end of the area.
                Ok(unsafe { self.base().add(offset as usize) })
            }
            _ => Err(DeviceError::OutOfRange {
                what,
                got: end.unwrap_or(u64::MAX),
                room: self.bytes,
            }),
        }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

impl Memory {
    /// No buffers yet; `limit` bytes for all of them, 0 for as many as the system gives.
    pub(crate) fn new(device: String, limit: u64) -> Self {
        Memory {
            device,
            limit,
            used: 0,
            buffers: HashMap::new(),
        }
    }

    /// A new buffer of `bytes` bytes: its name.
    pub(crate) fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        if bytes > MOST_BYTES {
            return Err(DeviceError::TooLarge {
                device: self.device.clone(),
                bytes,
                limit: MOST_BYTES,
                what: "the reach of a 32-bit handle",
            });
        }
        let out_of_memory = |why| DeviceError::OutOfMemory {
            device: self.device.clone(),
            bytes,
            why,
        };
        if self.limit != 0 && bytes > self.limit.saturating_sub(self.used) {
            return Err(out_of_memory(format!(
                "the machine has {} bytes, {} are in use by other buffers",
                self.limit, self.used
            )));
        }
        let Some(area) = Area::new(bytes) else {
            return Err(out_of_memory("the operating system refused".into()));
        };
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        self.used += bytes;
        self.buffers.insert(id, area);
        Ok(id)
    }

    /// Gives a buffer back: the address that it had, `None` if there is no such buffer.
    pub(crate) fn dealloc(&mut self, id: u64) -> Option<usize> {
        let area = self.buffers.remove(&id)?;
        self.used -= area.bytes;
        Some(area.base() as usize)
    }

    /// Address and bytes of a buffer.
    pub(crate) fn place(&self, id: u64) -> Option<(usize, u64)> {
        let area = self.buffers.get(&id)?;
        Some((area.base() as usize, area.bytes))
    }

    pub(crate) fn write(&mut self, id: u64, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        let to = self
            .area("write", id)?
            .range("write", offset, Some(data.len() as u64))?;
        // SAFETY: the range was checked, and kernels and other calls wait while this one borrows
        // the memory.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
        Ok(())
    }

    pub(crate) fn read(&self, id: u64, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        let from = self
            .area("read", id)?
            .range("read", offset, Some(data.len() as u64))?;
        // SAFETY: as in `write`; the bytes were zeroed when they were allocated.
        unsafe { std::ptr::copy_nonoverlapping(from, data.as_mut_ptr(), data.len()) };
        Ok(())
    }

    pub(crate) fn fill(
        &mut self,
        id: u64,
        offset: u64,
        words: u64,
        value: u32,
    ) -> Result<(), DeviceError> {
        let area = self.area("fill", id)?;
        let to = area.range("fill", offset, words.checked_mul(4))?;
        // SAFETY: the range was checked and begins at a multiple of 4; nobody else uses it while
        // this call borrows the memory.
        unsafe { std::slice::from_raw_parts_mut(to.cast::<u32>(), words as usize) }.fill(value);
        Ok(())
    }

    fn area(&self, what: &'static str, id: u64) -> Result<&Area, DeviceError> {
        self.buffers.get(&id).ok_or(DeviceError::Driver {
            device: self.device.clone(),
            call: what,
            what: format!("there is no buffer {id}: it was given back, or is another device's"),
        })
    }
}

/// Memory of the machine in bytes, 0 if unknown: the least of what is built in and what the
/// process's control group may use.
pub(crate) fn machine_bytes() -> u64 {
    let built_in = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(0, |kib| kib << 10);
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    match allowed {
        Some(allowed) if built_in == 0 || allowed < built_in => allowed,
        _ => built_in,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_zero_and_counted() {
        let mut memory = Memory::new("here".into(), 1 << 20);
        let id = memory.alloc(40).expect("40 bytes");
        let (address, bytes) = memory.place(id).expect("it exists");
        assert_eq!((address % ALIGN, bytes), (0, 40));
        let mut data = [1u8; 40];
        memory.read(id, 0, &mut data).expect("in range");
        assert_eq!(data, [0; 40]);
        assert!(matches!(
            memory.alloc((1 << 20) - 36),
            Err(DeviceError::OutOfMemory { .. })
        ));
        assert_eq!(memory.dealloc(id), Some(address));
        assert_eq!(memory.dealloc(id), None);
        assert!(memory.alloc(1 << 20).is_ok());
    }

    #[test]
    fn ranges_are_checked() {
        let mut memory = Memory::new("here".into(), 0);
        let id = memory.alloc(16).expect("16 bytes");
        assert!(memory.fill(id, 4, 3, 7).is_ok());
        let mut data = [0u8; 8];
        assert!(memory.read(id, 0, &mut data).is_ok());
        assert_eq!(data, [0, 0, 0, 0, 7, 0, 0, 0]);
        for (offset, words) in [
            (8, 3),
            (20, 0),
            (0, u64::MAX / 2),
            (u64::MAX - 3, 1),
            (2, 1),
        ] {
            let error = memory.fill(id, offset, words, 0).expect_err("out of range");
            assert!(matches!(error, DeviceError::OutOfRange { .. }), "{error}");
        }
        assert!(memory.write(id, 12, &[0; 8]).is_err());
        assert!(memory.write(99, 0, &[0; 4]).is_err());
    }

    #[test]
    fn more_than_a_handle_reaches_is_too_large() {
        let mut memory = Memory::new("here".into(), 0);
        assert!(matches!(
            memory.alloc(MOST_BYTES + 4),
            Err(DeviceError::TooLarge { .. })
        ));
    }
}
