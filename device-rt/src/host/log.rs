//! Lines that kernels left for the host.

use crate::log::{FIRST_LINE, MOST_WORDS};
use crate::text::words_of;
use std::fmt;
use std::ops::Deref;
use warpheap_api::host::{Arg, Device, DeviceError, DeviceVec};

/// Memory of a device that kernels leave lines in: what a launch takes for a parameter `Log`, into which
/// [`heap_print!`](crate::heap_print) prints.
///
/// It is no part of a heap, and never grows: what finds no room is counted. Launches may share one at the same time; reading and
/// clearing it wait for those that have it.
#[derive(Debug)]
pub struct DeviceLog {
    words: DeviceVec<u32>,
}

impl DeviceLog {
    /// An empty log with room for `bytes` bytes: of each line the text in whole words, and 12 more.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] from 4 GiB on; as [`DeviceVec::zeroed`].
    pub fn new(device: &Device, bytes: usize) -> Result<Self, DeviceError> {
        let words = bytes.div_ceil(4) + FIRST_LINE as usize;
        if words > MOST_WORDS as usize {
            return Err(DeviceError::OutOfRange {
                what: "bytes of a log",
                got: bytes as u64,
                room: 4 * (MOST_WORDS - FIRST_LINE) as u64,
            });
        }
        Ok(DeviceLog {
            words: DeviceVec::zeroed(device, words)?,
        })
    }

    /// The lines that kernels left since the log was made or cleared.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn read(&self) -> Result<LogLines, DeviceError> {
        let mut counts = [0; FIRST_LINE as usize];
        self.words.copy_range_to(0, &mut counts)?;
        let [asked, lost_lines, low, high] = counts;
        let used = (asked as usize).min(self.words.len() - counts.len());
        let mut words = vec![0; used];
        self.words.copy_range_to(counts.len(), &mut words)?;
        Ok(LogLines {
            lines: lines_of(&words),
            lost_lines,
            lost_bytes: low as u64 | (high as u64) << 32,
        })
    }

    /// Forgets all lines, and how many were lost.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn clear(&mut self) -> Result<(), DeviceError> {
        self.words.fill_zero()
    }

    /// Writes all lines to standard output, and how many were lost if any were; then clears the log. A line is
    /// `[block 3, lane 17] text`.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn print(&mut self) -> Result<(), DeviceError> {
        let lines = self.read()?;
        if !lines.is_empty() || lines.lost_lines != 0 {
            print!("{lines}");
        }
        self.clear()
    }

    /// The log as an argument of a kernel.
    #[doc(hidden)]
    pub fn arg(&self) -> Arg {
        self.words.arg()
    }
}

/// A line that a lane left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Index of the lane's block (workgroup).
    pub block: u32,
    /// Index of the lane in its block.
    pub lane: u32,
    /// What it printed. Bytes that are no UTF-8, as strings of a heap may have them, are U+FFFD.
    pub text: String,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogLine { block, lane, text } = self;
        write!(f, "[block {block}, lane {lane}] {text}")
    }
}

/// The lines of a log, in the order in which lanes got room for them. It says nothing of lines of different lanes; those of one lane
/// are in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLines {
    lines: Vec<LogLine>,
    lost_lines: u32,
    lost_bytes: u64,
}

impl LogLines {
    /// Lines that were lost, for lack of room or for their length, modulo 2^32.
    pub fn lost_lines(&self) -> u32 {
        self.lost_lines
    }

    /// Bytes of their texts.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// The lines by block, and in each by lane.
    pub fn by_lane(mut self) -> Self {
        self.lines.sort_by_key(|line| (line.block, line.lane));
        self
    }
}

impl Deref for LogLines {
    type Target = [LogLine];

    fn deref(&self) -> &[LogLine] {
        &self.lines
    }
}

impl IntoIterator for LogLines {
    type Item = LogLine;
    type IntoIter = std::vec::IntoIter<LogLine>;

    fn into_iter(self) -> Self::IntoIter {
        self.lines.into_iter()
    }
}

impl fmt::Display for LogLines {
    /// Each line, and one more that says how many were lost, if any were.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        let LogLines {
            lost_lines,
            lost_bytes,
            ..
        } = self;
        match lost_lines {
            0 => Ok(()),
            _ => writeln!(f, "[{lost_lines} lines of {lost_bytes} bytes were lost]"),
        }
    }
}

/// The lines that lie side by side in these words, up to the first that has no room there.
fn lines_of(words: &[u32]) -> Vec<LogLine> {
    let mut lines = Vec::new();
    let mut rest = words;
    while let [length @ 1..=u32::MAX, block, lane, behind @ ..] = rest {
        let bytes = length - 1;
        let Some((text, next)) = behind.split_at_checked(words_of(bytes) as usize) else {
            break;
        };
        let text: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
        lines.push(LogLine {
            block: *block,
            lane: *lane,
            text: String::from_utf8_lossy(&text[..bytes as usize]).into_owned(),
        });
        rest = next;
    }
    lines
}
