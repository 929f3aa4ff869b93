//! A part of a pool that has one use.

use crate::host::BlockSize;
use std::fmt;
use std::format;
use std::string::{String, ToString};

/// What a part of a pool is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegionUse {
    /// Blocks of one size class: each takes so many bytes. Nothing else can be had from it.
    Slab(u64),
    /// Blocks of one or more parts of so many bytes, side by side.
    Units(u64),
    /// Nothing but blocks, each of one or more parts of so many bytes: there is no room between them.
    Run(u64),
    /// What the allocator keeps for itself for the time being, for blocks of so many bytes.
    Queue(u64),
    /// It is about to get another use.
    Changing,
    /// It had blocks of this size, all of which are free: any request may have it.
    Idle(BlockSize),
    /// Nothing: any request may have it.
    Free,
    /// No request can have it: tables of the allocator, what is left behind the last whole unit, memory that the heap was
    /// told not to use yet.
    Reserved,
    /// The allocator does not tell.
    Opaque,
}

/// A part of a pool that has one use: one of the allocator's own units (a chunk, a page, a segment), or several side by
/// side that nothing tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Where it begins, in bytes from the beginning of the pool.
    pub offset: u64,
    /// How large it is.
    pub bytes: u64,
    /// What it is used for.
    pub usage: RegionUse,
    /// How many of the allocator's units it is; 0 where it is no whole ones.
    pub units: u32,
    /// Places that it has for blocks, or parts, of the size that [`usage`](Self::usage) names: its capacity.
    pub places: u32,
    /// Blocks in use that begin in it; `None` if the metadata do not tell.
    pub live_blocks: Option<u32>,
    /// Their bytes in it, as the allocator rounds them; 0 if the metadata do not tell.
    pub used_bytes: u64,
}

impl Region {
    /// The same with every number of bytes so many times.
    pub(super) fn times(self, factor: u64) -> Self {
        Region {
            offset: self.offset * factor,
            bytes: self.bytes * factor,
            usage: self.usage.times(factor),
            used_bytes: self.used_bytes * factor,
            ..self
        }
    }
}

impl RegionUse {
    /// The same with blocks so many times as large.
    fn times(self, factor: u64) -> Self {
        match self {
            RegionUse::Slab(bytes) => RegionUse::Slab(bytes * factor),
            RegionUse::Units(bytes) => RegionUse::Units(bytes * factor),
            RegionUse::Run(bytes) => RegionUse::Run(bytes * factor),
            RegionUse::Queue(bytes) => RegionUse::Queue(bytes * factor),
            RegionUse::Idle(block) => RegionUse::Idle(block.times(factor)),
            other => other,
        }
    }

    /// The name of the use, without sizes.
    pub fn name(self) -> &'static str {
        match self {
            RegionUse::Slab(_) => "slab",
            RegionUse::Units(_) => "units",
            RegionUse::Run(_) => "run",
            RegionUse::Queue(_) => "queue",
            RegionUse::Changing => "changing",
            RegionUse::Idle(_) => "idle",
            RegionUse::Free => "free",
            RegionUse::Reserved => "reserved",
            RegionUse::Opaque => "opaque",
        }
    }

    /// The size of the blocks that it has, had, or is for.
    pub fn block(self) -> Option<BlockSize> {
        match self {
            RegionUse::Slab(bytes) | RegionUse::Queue(bytes) => Some(BlockSize::Bytes(bytes)),
            RegionUse::Units(bytes) | RegionUse::Run(bytes) => Some(BlockSize::Parts(bytes)),
            RegionUse::Idle(block) => Some(block),
            RegionUse::Changing | RegionUse::Free | RegionUse::Reserved | RegionUse::Opaque => None,
        }
    }

    /// Whether any request may have it.
    pub fn is_free(self) -> bool {
        matches!(self, RegionUse::Free | RegionUse::Idle(_))
    }

    /// Whether it has room for blocks of its size class alone.
    pub fn has_class(self) -> bool {
        matches!(self, RegionUse::Slab(_) | RegionUse::Units(_))
    }
}

impl fmt::Display for RegionUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = match self.block() {
            Some(block) => format!("{} {block}", self.name()),
            None => self.name().to_string(),
        };
        f.pad(&text)
    }
}

impl Region {
    /// What part of its places is in use, from 0 to 1: `None` if it has none, or the metadata do not tell.
    pub fn fill(&self) -> Option<f64> {
        let room = self.room();
        let known = self.live_blocks.is_some() && room > 0;
        known.then(|| self.used_bytes as f64 / room as f64)
    }

    /// Bytes of its places.
    pub fn room(&self) -> u64 {
        let part = match self.usage.block() {
            Some(BlockSize::Bytes(bytes) | BlockSize::Parts(bytes)) => bytes,
            None => 0,
        };
        self.places as u64 * part
    }

    /// Places that are free, where the metadata tell.
    pub fn free_places(&self) -> Option<u64> {
        let known = self.live_blocks.is_some() && self.places > 0;
        let part = self.room() / u64::from(self.places.max(1));
        known.then(|| self.room().saturating_sub(self.used_bytes) / part.max(1))
    }

    /// Whether few blocks keep it from other uses: it is in use, and less than one of [`PINNED`](Self::PINNED) parts of it
    /// is.
    pub fn is_pinned(&self) -> bool {
        self.usage.has_class()
            && self.used_bytes > 0
            && self.used_bytes * Self::PINNED < self.room()
    }

    /// A region is pinned if less than one of so many parts of it is in use.
    pub const PINNED: u64 = 8;

    /// Where it ends.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}
