//! A trace as bytes.
//!
//! All numbers are little-endian. First the head, 40 bytes: the magic `WHPTRACE`, the version and a word of flags (bit 0: times are
//! nanoseconds; a file with others is refused), the number of launches, the bytes of all texts, the number of events, the number of lost events. Then the texts, the
//! allocator's name and those of the launches, each as a word of its length and its bytes. Then the events, 32 bytes each: time,
//! bytes, launch, lane, granule, what happened.

use crate::error::JobError;
use std::fmt::{self, Display};
use std::path::Path;
use warpheap::api::AllocError;
use warpheap::{Trace, TraceCall, TraceEvent};

const MAGIC: &[u8; 8] = b"WHPTRACE";
/// The version that is written and read.
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 40;
const EVENT_BYTES: usize = 32;
const HAS_CLOCK: u32 = 1;
/// Where the flags lie.
const FLAGS_AT: usize = 12;

/// Why bytes are no trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceError {
    /// They begin with something else.
    Foreign,
    /// They are of another version of the format.
    Version(u32),
    /// The head has flags that this program does not know: these bits.
    Flags(u32),
    /// So many bytes are there, and the head tells of so many.
    Length(u64, u64),
    /// The event with this number, or a text, makes no sense.
    Damaged(u64),
}

impl Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Foreign => write!(f, "it is no trace: `warpheap trace record` writes one"),
            TraceError::Version(found) => write!(
                f,
                "it is a trace of version {found}, and this program reads version {VERSION}: record it again"
            ),
            TraceError::Flags(unknown) => write!(
                f,
                "its head has flags (0x{unknown:x}, at byte {FLAGS_AT}) that this program does not know: use the warpheap that \
                 wrote it, or record it again"
            ),
            TraceError::Length(found, told) => write!(
                f,
                "it has {found} bytes, and its head tells of {told}: copy it again, or record it again"
            ),
            TraceError::Damaged(at) => write!(
                f,
                "the bytes at {at} make no sense: copy it again, or record it again"
            ),
        }
    }
}

impl std::error::Error for TraceError {}

/// Writes a trace to a file.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, trace: &Trace) -> Result<(), JobError> {
    std::fs::write(path, to_bytes(trace))
        .map_err(|error| JobError::Run(format!("cannot write {}: {error}", path.display())))
}

/// Reads a trace from a file.
///
/// # Errors
/// A file that cannot be read, or is no trace.
pub fn read(path: &Path) -> Result<Trace, JobError> {
    let name = path.display();
    let bytes = std::fs::read(path)
        .map_err(|error| JobError::Input(format!("cannot read {name}: {error}")))?;
    from_bytes(&bytes).map_err(|why| JobError::Input(format!("cannot read {name}: {why}")))
}

/// A trace as bytes.
pub fn to_bytes(trace: &Trace) -> Vec<u8> {
    let mut texts = Vec::new();
    for text in std::iter::once(&trace.allocator).chain(&trace.launches) {
        texts.extend((text.len() as u32).to_le_bytes());
        texts.extend(text.as_bytes());
    }
    let mut bytes = MAGIC.to_vec();
    for word in [
        VERSION,
        u32::from(trace.clock) * HAS_CLOCK,
        trace.launches.len() as u32,
        texts.len() as u32,
    ] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend((trace.events.len() as u64).to_le_bytes());
    bytes.extend(trace.lost.to_le_bytes());
    bytes.extend(texts);
    for event in &trace.events {
        bytes.extend(event.time.to_le_bytes());
        bytes.extend(event.bytes.to_le_bytes());
        let words = [event.launch, event.lane, event.granule, code(event.call)];
        words
            .iter()
            .for_each(|word| bytes.extend(word.to_le_bytes()));
    }
    bytes
}

/// The trace that [`to_bytes`] made these of.
///
/// # Errors
/// [`TraceError`] if they are something else, or not all of it.
pub fn from_bytes(bytes: &[u8]) -> Result<Trace, TraceError> {
    if !bytes.starts_with(MAGIC) {
        return Err(TraceError::Foreign);
    }
    let found = bytes.len() as u64;
    let mut reader = Reader { bytes, at: 8 };
    let cut = |_| TraceError::Length(found, HEAD_BYTES as u64);
    let version = reader.word().map_err(cut)?;
    if version != VERSION {
        return Err(TraceError::Version(version));
    }
    let flags = reader.word().map_err(cut)?;
    // They may change what the rest means.
    match flags & !HAS_CLOCK {
        0 => {}
        unknown => return Err(TraceError::Flags(unknown)),
    }
    let launches = reader.word().map_err(cut)?;
    let text_bytes = reader.word().map_err(cut)?;
    let events = reader.wide().map_err(cut)?;
    let lost = reader.wide().map_err(cut)?;
    let told = events
        .saturating_mul(EVENT_BYTES as u64)
        .saturating_add(HEAD_BYTES as u64 + u64::from(text_bytes));
    if found != told {
        return Err(TraceError::Length(found, told));
    }
    let allocator = reader.text()?;
    let launches = (0..launches)
        .map(|_| reader.text())
        .collect::<Result<Vec<_>, _>>()?;
    if reader.at != HEAD_BYTES + text_bytes as usize {
        return Err(TraceError::Damaged(reader.at as u64));
    }
    let events = (0..events)
        .map(|_| reader.event(launches.len()))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Trace {
        allocator,
        clock: flags & HAS_CLOCK != 0,
        launches,
        events,
        lost,
    })
}

/// Reads from bytes, from front to back.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn damaged(&self) -> TraceError {
        TraceError::Damaged(self.at as u64)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], TraceError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..count).ok_or(self.damaged())?;
        self.at += count;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u32, TraceError> {
        let bytes = self.take(4)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u32::from(*byte)))
    }

    fn wide(&mut self) -> Result<u64, TraceError> {
        let (low, high) = (self.word()?, self.word()?);
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    fn text(&mut self) -> Result<String, TraceError> {
        let before = self.damaged();
        let count = self.word()?;
        let bytes = self.take(count as usize)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| before)
    }

    /// An event of one of so many launches.
    fn event(&mut self, launches: usize) -> Result<TraceEvent, TraceError> {
        let before = self.damaged();
        let (time, bytes) = (self.wide()?, self.wide()?);
        let (launch, lane, granule) = (self.word()?, self.word()?, self.word()?);
        let call = call(self.word()?).ok_or(before)?;
        if launch as usize >= launches {
            return Err(before);
        }
        Ok(TraceEvent {
            time,
            launch,
            lane,
            call,
            granule,
            bytes,
        })
    }
}

/// What errors add to the number of a call.
const ERROR: u32 = 16;

/// The number of what happened.
fn code(call: TraceCall) -> u32 {
    match call {
        TraceCall::Malloc => 1,
        TraceCall::Free => 2,
        TraceCall::Failed(error) => 3 + ERROR * error.code(),
        TraceCall::ResizedFrom => 4,
        TraceCall::ResizedTo => 5,
        TraceCall::NotResized(error) => 6 + ERROR * error.code(),
        TraceCall::Reset => 7,
    }
}

/// What a number stands for.
fn call(code: u32) -> Option<TraceCall> {
    let error = AllocError::from_code(code / ERROR);
    let call = match code % ERROR {
        1 => TraceCall::Malloc,
        2 => TraceCall::Free,
        3 => TraceCall::Failed(error),
        4 => TraceCall::ResizedFrom,
        5 => TraceCall::ResizedTo,
        6 => TraceCall::NotResized(error),
        7 => TraceCall::Reset,
        _ => return None,
    };
    (self::code(call) == code).then_some(call)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two launches: 100 bytes become 5000, 16 bytes are freed, and one request fails.
    pub fn trace() -> Trace {
        use TraceCall::*;
        let events = [
            (0, 0, 0, Malloc, 40, 100),
            (640, 0, 1, Malloc, 50, 16),
            (700, 0, 2, Failed(AllocError::Exhausted), 0, 1 << 36),
            (1000, 1, 0, ResizedFrom, 40, 100),
            (1064, 1, 0, ResizedTo, 60, 5000),
            (2000, 1, 1, Free, 50, 16),
            (2500, 1, 1, NotResized(AllocError::Contended), 0, 9),
        ];
        Trace {
            allocator: "WarpHeap".into(),
            clock: true,
            launches: vec!["fill".into(), "…".into()],
            events: events
                .map(|(time, launch, lane, call, granule, bytes)| TraceEvent {
                    time,
                    launch,
                    lane,
                    call,
                    granule,
                    bytes,
                })
                .to_vec(),
            lost: 3,
        }
    }

    #[test]
    fn what_was_written_is_read() {
        for clock in [true, false] {
            let mut trace = trace();
            trace.clock = clock;
            trace.events[6].call = TraceCall::Reset;
            assert_eq!(from_bytes(&to_bytes(&trace)), Ok(trace));
        }
        let nothing = Trace::default();
        assert_eq!(from_bytes(&to_bytes(&nothing)), Ok(nothing));
    }

    #[test]
    fn what_is_cut_or_foreign_is_refused() {
        let bytes = to_bytes(&trace());
        for end in 0..bytes.len() {
            let why = from_bytes(&bytes[..end]).expect_err("it is cut");
            match end < 8 {
                true => assert_eq!(why, TraceError::Foreign),
                false => assert!(matches!(why, TraceError::Length(found, told)
                    if found == end as u64 && told > found)),
            }
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(matches!(from_bytes(&longer), Err(TraceError::Length(..))));
        assert_eq!(from_bytes(b"{\"a\": 1}"), Err(TraceError::Foreign));
        let with = |at: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            from_bytes(&bytes)
        };
        assert_eq!(with(8, 9), Err(TraceError::Version(9)));
        // What a flag says that this program does not know may change what the rest means.
        for (at, byte) in [(12, 1 | 2), (12, 4), (15, 0x80)] {
            let why = with(at, byte)
                .expect_err("there is no such flag")
                .to_string();
            assert!(why.contains("flags") && why.contains("byte 12"), "{why}");
        }
        // No such call, no such launch, a text that is longer than all of them, one that is no text.
        let last = bytes.len() - EVENT_BYTES;
        for (at, byte) in [
            (last + 28, 9),
            (last + 16, 2),
            (HEAD_BYTES, 200),
            (HEAD_BYTES + 4, 0xff),
        ] {
            let why = with(at, byte).expect_err("it makes no sense");
            assert!(matches!(why, TraceError::Damaged(_)), "{why}");
        }
        // Whatever one byte is, nothing breaks.
        for (at, byte) in bytes.iter().enumerate() {
            let _ = with(at, !byte);
        }
    }
}
