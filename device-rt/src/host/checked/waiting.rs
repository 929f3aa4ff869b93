//! What a heap holds without the blocks that wait in the quarantine: for programs that know nothing of one, and look whether
//! all came back.

use crate::adaptor::checked::record::{self, FREED, Frame};
use crate::adaptor::checked::region;
use std::vec;
use warpheap_api::header;
use warpheap_api::host::{DeviceError, HeapReader, Usage};

/// The usage that the allocator within tells, less what waits.
///
/// Of a block that waits the bytes are known that were asked of the allocator within, not those that it gave. So as long as other
/// blocks are live the answer is a little too large, and that of classes is with all that waits. Where nothing is live it is exact.
pub(super) fn left_out(mut usage: Usage, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
    let mut pool = [0];
    heap.read(header::WORD_POOL as u64, &mut pool)?;
    let Some(at) = (u64::from(pool[0]) * 4).checked_sub(region::SETTINGS as u64) else {
        return Ok(usage);
    };
    let mut settings = [0; region::SETTINGS];
    heap.read(at, &mut settings)?;
    let (end, epoch) = (settings[region::BEGIN], settings[region::EPOCH]);
    let mut places = vec![0; settings[region::PLACES] as usize];
    heap.read(u64::from(end) * 4 + u64::from(region::REPORTS), &mut places)?;
    let (mut blocks, mut bytes) = (0, 0);
    for granule in places {
        if granule == 0 || granule >= end {
            continue;
        }
        let mut front = [0; 4];
        heap.read(u64::from(granule) * 4 - 4, &mut front)?;
        // One that was written over stays allocated: it will not come back.
        let freed = record::state_of(granule, epoch, front[0]) == FREED;
        if freed && Frame::whole_front(granule, epoch, front) {
            let layout = record::unpacked([front[1], record::packed_of(front[0])]);
            blocks += 1;
            bytes += record::around(layout).size() as u64;
        }
    }
    if usage.live_blocks == Some(blocks) {
        usage.used_bytes = 0;
        for class in &mut usage.classes {
            (class.live_blocks, class.used_bytes) = (0, 0);
        }
    }
    usage.used_bytes = usage.used_bytes.saturating_sub(bytes);
    usage.live_blocks = usage.live_blocks.map(|live| live.saturating_sub(blocks));
    Ok(usage)
}
