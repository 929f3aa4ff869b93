//! What a panic in a kernel leaves for the host, on CUDA.

use crate::arch;
use crate::thread;
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use warpheap_api::HeapMemory;
use warpheap_api::abi;

/// Text that goes into words of the report.
struct Text {
    /// The word where it begins.
    at: usize,
    /// Bytes that there is room for.
    room: usize,
    /// Bytes so far, also of what there was no room for.
    len: usize,
}

impl Text {
    fn put(&mut self, bytes: &[u8]) {
        let start = arch::panic_report().address(self.at).cast::<u8>();
        let mut i = 0;
        while i < bytes.len() && self.len + i < self.room {
            // SAFETY: within the room in the report, which this lane alone writes.
            unsafe { *start.add(self.len + i) = bytes[i] };
            i += 1;
        }
        self.len += bytes.len();
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text.as_bytes());
        Ok(())
    }
}

/// Counts the calling lane among those that panicked. Whether it is the first, and then the report is its
/// own, with its place in the launch filled in.
fn first() -> bool {
    let report = arch::panic_report();
    // The count at which nobody is first is beyond the lanes of a launch.
    let first = report.fetch_add(abi::PANIC_LANES, 1) == 0;
    if first {
        report.write(abi::PANIC_BLOCK, thread::block_index());
        report.write(abi::PANIC_LANE, thread::index_in_block());
    }
    first
}

fn message() -> Text {
    Text {
        at: abi::PANIC_TEXT,
        room: abi::PANIC_TEXT_BYTES,
        len: 0,
    }
}

/// Ends the calling lane and reports `message`, without a place in the source.
#[cold]
#[inline(never)]
pub(crate) fn stop(text: &str) -> ! {
    if first() {
        let mut message = message();
        message.put(text.as_bytes());
        arch::panic_report().write(abi::PANIC_TEXT_LEN, message.len as u32);
    }
    arch::end_lane()
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    if first() {
        let report = arch::panic_report();
        if let Some(place) = info.location() {
            report.write(abi::PANIC_LINE, place.line());
            report.write(abi::PANIC_LINE + 1, place.column());
            let mut file = Text {
                at: abi::PANIC_FILE,
                room: abi::PANIC_FILE_BYTES,
                len: 0,
            };
            let name = place.file().as_bytes();
            file.put(&name[name.len().saturating_sub(abi::PANIC_FILE_BYTES)..]);
            report.write(abi::PANIC_FILE_LEN, file.len as u32);
        }
        let mut message = message();
        // Writing does not fail; what a `Display` of the message's own answers does not matter.
        let _ = write!(message, "{}", info.message());
        report.write(abi::PANIC_TEXT_LEN, message.len as u32);
    }
    arch::end_lane()
}
