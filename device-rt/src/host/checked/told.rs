//! Reports of mistakes, read.

use crate::adaptor::checked::record::{self, Frame, Who};
use crate::adaptor::checked::{region, report};
use std::vec::Vec;
use warpheap_api::host::{
    BlockLayout, DeviceError, FoundBy, HeapAccess, HeapReader, LanePlace, Mistake, MistakeKind,
    Mistakes,
};
use warpheap_api::{DevicePtr, layout};

/// Takes the mistakes that were found since the last time.
pub(super) fn take(
    words: u64,
    _launches: &str,
    heap: &mut dyn HeapAccess,
) -> Result<Mistakes, DeviceError> {
    let settings = words - region::SETTINGS as u64;
    let mut own = [0; region::SETTINGS];
    heap.read(settings, &mut own)?;
    let (now, told) = (own[region::MISTAKES], own[region::TOLD]);
    let count = now.wrapping_sub(told);
    if count == 0 {
        return Ok(Mistakes::default());
    }
    let mut reports = [0; region::REPORTS as usize];
    heap.read(u64::from(own[region::BEGIN]) * 4, &mut reports)?;
    let mut first = Vec::new();
    for index in 0..count.min(region::KEPT) {
        let at = told.wrapping_add(index) % region::KEPT * region::REPORT_WORDS;
        let report = &reports[at as usize..][..region::REPORT_WORDS as usize];
        first.extend(read(report, heap)?);
    }
    heap.write(settings + region::TOLD as u64, &[now])?;
    Ok(Mistakes { count, first })
}

/// A lane and its line, of two words.
pub(super) fn place(block: u32, at: u32) -> LanePlace {
    let line = Who::line_of(at);
    LanePlace {
        block,
        lane: Who::lane_of(at),
        line: (line != 0).then_some(line),
    }
}

/// A layout, of two words.
pub(super) fn block_layout(packed: [u32; 2]) -> BlockLayout {
    let layout = record::unpacked(packed);
    BlockLayout {
        size: layout.size() as u64,
        align: layout.align() as u64,
    }
}

/// What a report tells; nothing of one that is none.
fn read(report: &[u32], heap: &mut dyn HeapReader) -> Result<Option<Mistake>, DeviceError> {
    let what = report[report::WHAT];
    let (call, flags) = (what >> 8 & 0xff, what >> 16);
    let kind = match what & 0xff {
        report::TWICE => MistakeKind::DoubleFree,
        report::FOREIGN => MistakeKind::ForeignHandle,
        report::STALE => MistakeKind::StaleHandle,
        report::LAYOUT => MistakeKind::WrongLayout,
        report::BEFORE => MistakeKind::WriteBefore,
        report::BEHIND => MistakeKind::WriteBehind,
        report::AFTER => MistakeKind::WriteAfterFree,
        _ => return Ok(None),
    };
    let two = |at: usize| [report[at], report[at + 1]];
    let lane = |at: usize| place(report[at], report[at + 1]);
    let has = |flag: u32| flags & flag != 0;
    let found_by = match call {
        report::REALLOC => FoundBy::Realloc,
        report::LEAVE => FoundBy::Leaving,
        _ => FoundBy::Free,
    };
    let wrote = matches!(
        kind,
        MistakeKind::WriteBefore | MistakeKind::WriteBehind | MistakeKind::WriteAfterFree
    );
    let mut mistake = Mistake {
        kind,
        found_by,
        ptr: DevicePtr::from_granule(report[report::GRANULE]),
        by: Some(lane(report::WHO)),
        given: (found_by != FoundBy::Leaving).then(|| block_layout(two(report::GIVEN))),
        block: has(report::HAS_BLOCK).then(|| block_layout(two(report::BLOCK))),
        malloc: has(report::HAS_BLOCK).then(|| lane(report::MALLOC)),
        free: has(report::HAS_FREE).then(|| lane(report::FREED)),
        wrote: wrote.then(|| {
            let word = report[report::WRONG] as i32;
            (i64::from(word) * 4, report[report::VALUE])
        }),
        lost: wrote && has(report::STAYS),
    };
    if has(report::PENDING) {
        mistake.free = freed_by(&mistake, report[report::EPOCH], heap)?;
    }
    Ok(Some(mistake))
}

/// Who freed a block that waits in the quarantine.
fn freed_by(
    mistake: &Mistake,
    epoch: u32,
    heap: &mut dyn HeapReader,
) -> Result<Option<LanePlace>, DeviceError> {
    let Some(block) = mistake.block else {
        return Ok(None);
    };
    let granule = mistake.ptr.granule();
    let size = layout::aligned(block.size as usize, block.align as usize);
    let behind = u64::from(granule) + u64::from(layout::granules(size));
    let (mut front, mut back) = ([0; 4], [0; 4]);
    heap.read((u64::from(granule) - 1) * 4, &mut front)?;
    heap.read(behind * 4, &mut back)?;
    let state = record::state_of(granule, epoch, front[0]);
    let waits = state == record::FREED && Frame::whole_back(granule, epoch, record::FREED, back);
    Ok(waits.then(|| place(back[2], back[3])))
}
