//! Memory of the emulated device: plain memory of the process, zero pages until touched.

use crate::span::Span;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use warpheap_api::host::{BufferId, DeviceError, aligned};

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
    /// As many bytes as there is room for.
    most: u64,
}

// SAFETY: an area owns its memory, nothing of it belongs to a thread.
unsafe impl Send for Area {}

impl Area {
    fn new(bytes: u64, most: u64) -> Option<Self> {
        // Alignment by hand: the system's zeroed memory is lazy only at ordinary alignments.
        let size = usize::try_from(most).ok()?.checked_add(ALIGN)?;
        let layout = Layout::from_size_align(size, 16).ok()?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skip = start.as_ptr().align_offset(ALIGN);
        Some(Area {
            start,
            layout,
            skip,
            bytes,
            most,
        })
    }

    fn base(&self) -> NonNull<u8> {
        // SAFETY: skip is less than ALIGN, by which the area is longer than its bytes.
        unsafe { self.start.add(self.skip) }
    }

    /// Its address, exposed: lanes make a pointer of it again.
    fn address(&self) -> usize {
        self.base().as_ptr().expose_provenance()
    }

    /// The words of a range that lies inside.
    fn span(
        &self,
        what: &'static str,
        offset: u64,
        bytes: Option<u64>,
    ) -> Result<Span, DeviceError> {
        let end = bytes.and_then(|bytes| offset.checked_add(bytes));
        match end {
            Some(end) if end <= self.bytes => {
                aligned(what, offset, 4)?;
                aligned(what, end - offset, 4)?;
                // SAFETY: the offset is not beyond the end of the area.
                let start = unsafe { self.base().add(offset as usize) }.cast();
                // SAFETY: base and offset are multiples of 4, and the range was checked.
                Ok(unsafe { Span::new(start, ((end - offset) / 4) as usize) })
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
        self.reserve(bytes, bytes)
    }

    /// A new buffer of `bytes` bytes with room for `most`. Room is pages that nobody has touched, which the system does not
    /// count as memory in use.
    pub(crate) fn reserve(&mut self, bytes: u64, most: u64) -> Result<u64, DeviceError> {
        if most > MOST_BYTES {
            return Err(DeviceError::TooLarge {
                device: self.device.clone(),
                bytes: most,
                limit: MOST_BYTES,
                what: "the reach of a 32-bit handle",
            });
        }
        self.has_room(bytes, bytes)?;
        let Some(area) = Area::new(bytes, most) else {
            return Err(self.out_of_memory(most, "the operating system refused".into()));
        };
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        self.used += bytes;
        self.buffers.insert(id, area);
        Ok(id)
    }

    /// Gives a buffer another size, within the room that it has. Pages that were touched stay with the process.
    pub(crate) fn resize(&mut self, id: u64, bytes: u64) -> Result<(), DeviceError> {
        let area = self.area("resize", id)?;
        let (before, most) = (area.bytes, area.most);
        if bytes > most {
            return Err(DeviceError::CannotResize {
                what: format!("a buffer of {before} bytes"),
                bytes,
                why: format!("there is room for {most} bytes, which were reserved for it"),
            });
        }
        self.has_room(bytes.saturating_sub(before), bytes)?;
        self.used = self.used - before + bytes;
        if let Some(area) = self.buffers.get_mut(&id) {
            area.bytes = bytes;
        }
        Ok(())
    }

    /// Refuses `more` bytes, for a buffer of `bytes`, if the limit does not allow them.
    fn has_room(&self, more: u64, bytes: u64) -> Result<(), DeviceError> {
        if self.limit != 0 && more > self.limit.saturating_sub(self.used) {
            return Err(self.out_of_memory(
                bytes,
                format!(
                    "the machine has {} bytes, {} are in use by buffers",
                    self.limit, self.used
                ),
            ));
        }
        Ok(())
    }

    fn out_of_memory(&self, bytes: u64, why: String) -> DeviceError {
        DeviceError::OutOfMemory {
            device: self.device.clone(),
            bytes,
            why,
        }
    }

    /// Gives a buffer back: the address that it had, `None` if there is no such buffer.
    pub(crate) fn dealloc(&mut self, id: u64) -> Option<usize> {
        let area = self.buffers.remove(&id)?;
        self.used -= area.bytes;
        Some(area.address())
    }

    /// Address and bytes of a buffer.
    pub(crate) fn place(&self, id: u64) -> Option<(usize, u64)> {
        let area = self.buffers.get(&id)?;
        Some((area.address(), area.bytes))
    }

    /// Bytes that a buffer has room for.
    pub(crate) fn room(&self, id: u64) -> Option<u64> {
        self.buffers.get(&id).map(|area| area.most)
    }

    /// The words that an operation of this name goes to: `bytes` bytes at byte `offset` of a buffer. `None` are more bytes than
    /// there are numbers.
    pub(crate) fn span(
        &self,
        what: &'static str,
        (id, offset): (BufferId, u64),
        bytes: Option<u64>,
    ) -> Result<Span, DeviceError> {
        self.area(what, id.0)?.span(what, offset, bytes)
    }

    /// The words that a copy goes from and to.
    pub(crate) fn spans_of_copy(
        &self,
        from: (BufferId, u64),
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<(Span, Span), DeviceError> {
        let spans = (
            self.span("copy", from, Some(bytes))?,
            self.span("copy", to, Some(bytes))?,
        );
        let apart = from.1.abs_diff(to.1);
        if from.0 == to.0 && apart < bytes {
            return Err(DeviceError::OutOfRange {
                what: "copy between ranges of one buffer that overlap",
                got: bytes,
                room: apart,
            });
        }
        Ok(spans)
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
        let all = memory.span("read", (BufferId(id), 0), Some(40));
        // SAFETY: the buffer is still there.
        unsafe { all.expect("in range").read(&mut data) };
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
        let id = BufferId(memory.alloc(16).expect("16 bytes"));
        let span = memory.span("fill", (id, 4), Some(12)).expect("in range");
        let mut data = [0u8; 8];
        let begin = memory.span("read", (id, 0), Some(8)).expect("in range");
        // SAFETY: the buffer is still there.
        unsafe {
            span.fill(7);
            begin.read(&mut data);
        }
        assert_eq!(data, [0, 0, 0, 0, 7, 0, 0, 0]);
        for (offset, bytes) in [
            (8, Some(12)),
            (20, Some(0)),
            (0, Some(!3)),
            (0, None),
            (u64::MAX - 3, Some(4)),
        ] {
            let error = memory.span("fill", (id, offset), bytes);
            let error = error.expect_err("out of range");
            assert!(matches!(error, DeviceError::OutOfRange { .. }), "{error}");
        }
        for (offset, bytes) in [(2, 4), (4, 2)] {
            let error = memory.span("fill", (id, offset), Some(bytes));
            let error = error.expect_err("not whole words").to_string();
            assert!(error.starts_with("fill: 2 is no multiple of 4"), "{error}");
        }
        let other = memory.span("write", (BufferId(0), 0), Some(4));
        assert!(matches!(other, Err(DeviceError::Driver { .. })));
    }

    #[test]
    fn copies_inside_a_buffer_do_not_overlap() {
        let mut memory = Memory::new("here".into(), 0);
        let mut buffer = || BufferId(memory.alloc(32).expect("32 bytes"));
        let (one, two) = (buffer(), buffer());
        for (from, to, bytes, good) in [
            ((one, 0), (one, 16), 16, true),
            ((one, 16), (one, 0), 16, true),
            ((one, 0), (two, 0), 32, true),
            ((one, 8), (one, 8), 0, true),
            ((one, 0), (one, 12), 16, false),
            ((one, 12), (one, 0), 16, false),
            ((one, 8), (one, 8), 4, false),
            ((one, 16), (two, 0), 20, false),
            ((one, 0), (two, 16), 20, false),
        ] {
            let spans = memory.spans_of_copy(from, to, bytes);
            assert_eq!(spans.is_ok(), good, "{from:?} {to:?} {bytes}: {spans:?}");
        }
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
