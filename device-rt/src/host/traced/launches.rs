//! The table of launches: how far each ring was filled when a launch had ended.

use crate::adaptor::traced::region::{
    ASKED, BEGIN, CAPACITY, HEAD_WORDS, HEADS, LAUNCH_WORDS, LAUNCHES, LOST, MOST_LAUNCHES,
    NAME_WORDS, RINGS, SETTINGS,
};
use crate::arch::Words;
use std::string::String;
use std::vec::Vec;
use warpheap_api::LAYOUT_VERSION;
use warpheap_api::host::{DeviceError, HeapAccess, HeapReader, HostAlloc, Mistakes};

/// The name of launches beyond those that the table holds.
const BEYOND: &str = "…";

/// How far the rings are filled.
pub(super) struct Filled {
    /// Places of each ring that are taken.
    pub(super) places: Vec<u32>,
    /// Events that were lost.
    pub(super) lost: u64,
}

/// A launch, or several.
pub(super) struct Ended {
    /// Names of its kernels.
    pub(super) kernels: String,
    /// Places of each ring that were taken at its end.
    pub(super) places: Vec<u32>,
}

/// Where the region begins and what it holds.
pub(super) struct Place {
    /// First word of the region.
    pub(super) begin: u64,
    /// Events of a ring.
    pub(super) capacity: u32,
    /// Launches in the table.
    launches: u32,
    /// The word that counts them.
    pub(super) count: u64,
}

impl Place {
    /// Of a heap of so many words.
    pub(super) fn read(words: u64, heap: &mut dyn HeapReader) -> Result<Self, DeviceError> {
        let first = words - SETTINGS as u64;
        let mut settings = [0; SETTINGS];
        heap.read(first, &mut settings)?;
        let own =
            u64::from(settings[BEGIN]) * 4 + super::region_bytes(settings[CAPACITY].into()) / 4;
        if own != words {
            return Err(DeviceError::BadHeap {
                expected: "Traced",
                version: LAYOUT_VERSION,
                why: "a kernel wrote over the settings behind its events; run it with WARPHEAP_BACKEND=host to find the access, \
                      reset the pool to go on"
                    .into(),
            });
        }
        Ok(Place {
            begin: u64::from(settings[BEGIN]) * 4,
            capacity: settings[CAPACITY],
            launches: settings[LAUNCHES].min(MOST_LAUNCHES),
            count: first + LAUNCHES as u64,
        })
    }

    /// The word of a launch.
    fn launch(&self, index: u32) -> u64 {
        self.begin + u64::from(HEADS) + u64::from(index) * u64::from(LAUNCH_WORDS)
    }

    /// How far the rings are filled now.
    pub(super) fn filled(&self, heap: &mut dyn HeapReader) -> Result<Filled, DeviceError> {
        let mut heads = [0; HEADS as usize];
        heap.read(self.begin, &mut heads)?;
        let heads = heads.chunks_exact(HEAD_WORDS as usize);
        Ok(Filled {
            places: heads
                .clone()
                .map(|head| head[ASKED].min(self.capacity))
                .collect(),
            lost: heads.map(|head| u64::from(head[LOST])).sum(),
        })
    }

    /// The launches of the table.
    pub(super) fn ended(&self, heap: &mut dyn HeapReader) -> Result<Vec<Ended>, DeviceError> {
        let mut words = std::vec![0; (self.launches * LAUNCH_WORDS) as usize];
        heap.read(self.launch(0), &mut words)?;
        let launches = words.chunks_exact(LAUNCH_WORDS as usize);
        Ok(launches
            .map(|launch| {
                let (places, name) = launch.split_at(RINGS as usize);
                let text: Vec<u8> = name[4..]
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect();
                let len = (name[0] as usize).min(text.len());
                Ended {
                    kernels: String::from_utf8_lossy(&text[..len]).into_owned(),
                    places: places.to_vec(),
                }
            })
            .collect())
    }
}

/// Notes launches that have ended, and asks the allocator within.
pub(super) fn ended<A: HostAlloc<Memory = Words>>(
    words: u64,
    launches: &str,
    heap: &mut dyn HeapAccess,
) -> Result<Mistakes, DeviceError> {
    let place = Place::read(words, heap)?;
    let now = place.filled(heap)?.places;
    let mut before = [0; RINGS as usize];
    if let Some(last) = place.launches.checked_sub(1) {
        heap.read(place.launch(last), &mut before)?;
    }
    if now != before {
        let is_beyond = place.launches >= MOST_LAUNCHES - 1;
        let index = place.launches.min(MOST_LAUNCHES - 1);
        let mut record = now;
        let name = match is_beyond {
            true => BEYOND.into(),
            false => kernels(launches),
        };
        let end = (0..=name.len().min(4 * NAME_WORDS as usize))
            .rfind(|&end| name.is_char_boundary(end))
            .unwrap_or(0);
        let mut text = name.as_bytes()[..end].to_vec();
        record.extend([end as u32, 0, 0, 0]);
        text.resize(4 * NAME_WORDS as usize, 0);
        let text = text.chunks_exact(4);
        record.extend(text.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
        heap.write(place.launch(index), &record)?;
        heap.write(place.count, &[index + 1])?;
    }
    match A::MISTAKES {
        Some(take) => take(words, launches, heap),
        None => Ok(Mistakes::default()),
    }
}

/// The names of kernels in those of entry points, which also name allocators.
fn kernels(entries: &str) -> String {
    let names = entries.split(", ");
    let names: Vec<&str> = names
        .map(|entry| entry.split_once("__").map_or(entry, |(kernel, _)| kernel))
        .collect();
    names.join(", ")
}
