//! A look through a whole heap: which blocks are live, and what was written where nobody may write.

use super::chosen::CheckSettings;
use super::told::{block_layout, place};
use crate::adaptor::Checked;
use crate::adaptor::checked::record::{self, DEAD, FREED, Frame, LIVE, PAD};
use crate::adaptor::checked::region;
use crate::arch::Words;
use std::fmt;
use std::vec;
use std::vec::Vec;
use warpheap_api::host::{
    BlockLayout, DeviceError, FoundBy, HostAlloc, LanePlace, Mistake, MistakeKind, Pool, RawPool,
};
use warpheap_api::{DevicePtr, layout};

/// A block that was allocated and not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveBlock {
    /// Its handle.
    pub ptr: DevicePtr<u8>,
    /// Size and alignment that were asked for.
    pub layout: BlockLayout,
    /// The lane that asked.
    pub malloc: LanePlace,
}

/// What is in a heap of [`Checked`]: what [`Checked::inspect`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapInspection {
    /// The live blocks, by their places in the heap. At the end of a program each is a leak.
    pub live: Vec<LiveBlock>,
    /// Writes around live blocks, and into freed ones that wait in the quarantine.
    pub mistakes: Vec<Mistake>,
}

impl HeapInspection {
    /// Bytes that the live blocks were asked for with.
    pub fn live_bytes(&self) -> u64 {
        self.live.iter().map(|block| block.layout.size).sum()
    }
}

/// Blocks that are shown one by one.
const SHOWN: usize = 20;

impl fmt::Display for HeapInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (blocks, bytes) = (self.live.len(), self.live_bytes());
        write!(f, "{blocks} live block(s), {bytes} bytes")?;
        for block in self.live.iter().take(SHOWN) {
            let LiveBlock {
                ptr,
                layout,
                malloc,
            } = block;
            let granule = ptr.granule();
            write!(
                f,
                "\n  {layout} at granule {granule}, allocated by {malloc}"
            )?;
        }
        if blocks > SHOWN {
            write!(f, "\n  … and {} more", blocks - SHOWN)?;
        }
        for mistake in &self.mistakes {
            write!(f, "\n  {mistake}")?;
        }
        Ok(())
    }
}

impl<A: HostAlloc<Memory = Words>, C: CheckSettings> Checked<A, C> {
    /// Looks through all of a heap: which blocks are live, with who asked for them, and whether somebody wrote around them or into
    /// freed blocks that still wait. Nothing is changed; writes that are found are found again by the free.
    ///
    /// It reads the whole pool, and takes 56 bytes of the host for each live block. With launches running in the heap, what it shows
    /// is of no single moment, and may tell of writes that are none.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn inspect(pool: &Pool<Self>) -> Result<HeapInspection, DeviceError> {
        let mut look = Look::new(pool.raw())?;
        let mut found = HeapInspection::default();
        let mut waiting = look.waiting()?;
        let mut granule = 1;
        while granule < look.end {
            granule = match look.at(granule)? {
                Some(Framed { state: LIVE, frame }) => {
                    found.live.push(frame.block(granule));
                    found.mistakes.extend(look.live(granule, frame)?);
                    frame.next(granule)
                }
                Some(Framed { frame, .. }) => {
                    waiting.retain(|&other| other != granule);
                    found.mistakes.extend(look.freed(granule, frame)?);
                    frame.next(granule)
                }
                None => granule + 1,
            };
        }
        // Those of which not even the record is left.
        for granule in waiting {
            let front = look.granule(granule - 1)?;
            found
                .mistakes
                .push(wrote(MistakeKind::WriteAfterFree, granule, (-16, front[0])));
        }
        Ok(found)
    }
}

/// What a whole record says.
#[derive(Clone, Copy)]
struct Record {
    front: [u32; 4],
    /// Granules of the block.
    granules: u32,
    /// The words behind it, and whether their seal is right.
    back: [u32; 4],
    back_whole: bool,
}

struct Framed {
    state: u32,
    frame: Record,
}

impl Record {
    fn layout(self) -> BlockLayout {
        block_layout([self.front[1], record::packed_of(self.front[0])])
    }

    fn malloc(self) -> LanePlace {
        let line = match self.back_whole {
            true => place(0, self.back[1]).line,
            false => None,
        };
        LanePlace {
            block: self.front[2],
            lane: record::lane_of(self.front[0]),
            line,
        }
    }

    fn block(self, granule: u32) -> LiveBlock {
        LiveBlock {
            ptr: DevicePtr::from_granule(granule),
            layout: self.layout(),
            malloc: self.malloc(),
        }
    }

    /// The first granule that may begin a block behind this one.
    fn next(self, granule: u32) -> u32 {
        granule + self.granules + 1
    }
}

/// A write, where it is all that is known.
fn wrote(kind: MistakeKind, granule: u32, wrote: (i64, u32)) -> Mistake {
    Mistake {
        kind,
        found_by: FoundBy::Host,
        ptr: DevicePtr::from_granule(granule),
        by: None,
        given: None,
        block: None,
        malloc: None,
        free: None,
        wrote: Some(wrote),
        lost: false,
    }
}

/// Reads a heap, a part at a time.
struct Look<'a> {
    pool: &'a RawPool,
    /// The granule at which the memory of blocks ends.
    end: u32,
    epoch: u32,
    /// Places of the quarantine.
    places: u32,
    /// Granules of a freed block that are filled, at most.
    filled: u32,
    /// Words that were read, from a granule on.
    first: u32,
    words: Vec<u32>,
}

/// Granules that are read at once.
const PART: u32 = 1 << 18;

impl<'a> Look<'a> {
    fn new(pool: &'a RawPool) -> Result<Self, DeviceError> {
        let mut look = Look {
            pool,
            end: 0,
            epoch: 0,
            places: 0,
            filled: 0,
            first: 0,
            words: Vec::new(),
        };
        let settings = look.read(pool.words() - region::SETTINGS as u64, region::SETTINGS)?;
        look.end = settings[region::BEGIN];
        look.epoch = settings[region::EPOCH];
        look.places = settings[region::PLACES];
        look.filled = settings[region::FILLED];
        Ok(look)
    }

    fn read(&self, first: u64, words: usize) -> Result<Vec<u32>, DeviceError> {
        let mut bytes = vec![0; words * 4];
        self.pool.read(first * 4, &mut bytes)?;
        let words = bytes.chunks_exact(4);
        Ok(words
            .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }

    /// The blocks that wait.
    fn waiting(&self) -> Result<Vec<u32>, DeviceError> {
        let first = u64::from(self.end) * 4 + u64::from(region::REPORTS);
        let places = self.read(first, self.places as usize)?;
        let blocks = places.into_iter();
        Ok(blocks.filter(|&at| at != 0 && at < self.end).collect())
    }

    /// The words of a granule.
    fn granule(&mut self, granule: u32) -> Result<[u32; 4], DeviceError> {
        let known = self.words.len() as u32 / 4;
        if granule < self.first || granule - self.first >= known {
            self.first = granule;
            let granules = PART.min(self.end - granule);
            self.words = self.read(u64::from(granule) * 4, granules as usize * 4)?;
        }
        let at = (granule - self.first) as usize * 4;
        let words = &self.words[at..at + 4];
        Ok([words[0], words[1], words[2], words[3]])
    }

    /// The words of a granule further on, for which the part that was read is kept.
    fn ahead(&self, granule: u32) -> Result<[u32; 4], DeviceError> {
        let at = granule.wrapping_sub(self.first) as usize * 4;
        if let Some(words) = self.words.get(at..at.saturating_add(4)) {
            return Ok([words[0], words[1], words[2], words[3]]);
        }
        let words = self.read(u64::from(granule) * 4, 4)?;
        Ok([words[0], words[1], words[2], words[3]])
    }

    /// The block that begins at a granule, if one does.
    fn at(&mut self, granule: u32) -> Result<Option<Framed>, DeviceError> {
        let front = self.granule(granule - 1)?;
        let state = record::state_of(granule, self.epoch, front[0]);
        if state != LIVE && state != FREED {
            return Ok(None);
        }
        let layout = record::unpacked([front[1], record::packed_of(front[0])]);
        let granules = layout::granules(layout);
        if granules >= self.end || granule >= self.end - granules {
            return Ok(None);
        }
        let back = self.ahead(granule + granules)?;
        let back_whole = Frame::whole_back(granule, self.epoch, state, back);
        if !back_whole && !Frame::whole_front(granule, self.epoch, front) {
            return Ok(None);
        }
        let frame = Record {
            front,
            granules,
            back,
            back_whole,
        };
        Ok(Some(Framed { state, frame }))
    }

    /// What was written around a live block.
    fn live(&self, granule: u32, frame: Record) -> Result<Option<Mistake>, DeviceError> {
        let found = if !Frame::whole_front(granule, self.epoch, frame.front) {
            Some((MistakeKind::WriteBefore, (-4, frame.front[3])))
        } else {
            let bytes = frame.layout().size;
            let used = record::whole_words(bytes as usize) - (frame.granules as usize - 1) * 4;
            let last = self.ahead(granule + frame.granules - 1)?;
            let pad = (used..4).find(|&word| last[word] != PAD);
            let from = i64::from(frame.granules - 1) * 16;
            match pad {
                Some(word) => Some((from + word as i64 * 4, last[word])),
                None if !frame.back_whole => Some((from + 16, frame.back[0])),
                None => None,
            }
            .map(|at| (MistakeKind::WriteBehind, at))
        };
        Ok(found.map(|(kind, at)| Mistake {
            block: Some(frame.layout()),
            malloc: Some(frame.malloc()),
            ..wrote(kind, granule, at)
        }))
    }

    /// What was written to a freed block.
    fn freed(&self, granule: u32, frame: Record) -> Result<Option<Mistake>, DeviceError> {
        let words = frame.granules.min(self.filled) as usize * 4;
        let found = if !Frame::whole_front(granule, self.epoch, frame.front) {
            Some((-4, frame.front[3]))
        } else {
            let body = self.read(u64::from(granule) * 4, words)?;
            match body.iter().position(|&word| word != DEAD) {
                Some(word) => Some((word as i64 * 4, body[word])),
                None if !frame.back_whole => Some((i64::from(frame.granules) * 16, frame.back[0])),
                None => None,
            }
        };
        Ok(found.map(|at| Mistake {
            block: Some(frame.layout()),
            malloc: Some(frame.malloc()),
            free: frame
                .back_whole
                .then(|| place(frame.back[2], frame.back[3])),
            ..wrote(MistakeKind::WriteAfterFree, granule, at)
        }))
    }
}
